#!/bin/sh
# SPDX-License-Identifier: MIT
# cases.sh BUILD TABLE [CASE]: runs every row of a table of commands as a user types them, in order, in one folder, where files
# of earlier rows remain; with CASE the setup rows and those whose name contains it. Columns, "-" if empty:
#   section   a word; "setup" makes files for the others, "define" a function for the rows that follow
#   case      the property that is tested
#   needs     programs in PATH (A|B: one of them), names that `regather doctor` lists as found, files of ../shared, builds
#             that are not-ASan or not-MPI, modules as python:NAME: the row is skipped without one
#   exit      the exit code; 2 also asserts that stderr has one line, or none if the command redirects it
#   prints    texts that stdout and stderr must contain, separated by \n; !TEXT must not occur; \t is a tab
#   command   for sh, with the functions of tools.sh
# No row may leave an unfinished file, or one named none*, the output of jobs that must not write any.
# Ends with "N passed, N failed, N skipped"; exit 1 if a row failed.
cases=$(readlink -f "$0") root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: cases.sh BUILD TABLE [CASE]}" && pwd) && table=$(readlink -f "$2") && only=$3 && [ -r "$table" ] || exit 2
REGATHER=$build/regather shared=$(readlink -f "$root/../shared") tab=$(printf '\t')
REGATHER_PAGE=no LC_ALL=C
export REGATHER REGATHER_PAGE LC_ALL
. "$root/verify/cases/tools.sh"
dir=$(mktemp -d /tmp/regather-cases-XXXXXX) && mkdir "$dir/run" || exit 2
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
cd "$dir/run" || exit 2

# Whether everything that a row needs is available.
has() {
    for thing in $1; do
        case $thing in
        -) ;;
        not-ASan) ! grep -q fsanitize=address "$build/flags" || return ;;
        not-MPI) grep -q -e -DHAVE_MPI=0 "$build/flags" || return ;;
        python:*) python3 -c "import ${thing#*:}" 2> /dev/null || return ;;
        */*) [ -r "$shared/$thing" ] || return ;;
        *'|'*) # any of them
            for one in $(echo "$thing" | tr '|' ' '); do command -v "$one" > /dev/null && continue 2; done
            return 1
            ;;
        *)
            command -v "$thing" > /dev/null && continue
            [ -e ../doctor ] || regather doctor > ../doctor 2> /dev/null
            grep -q "^  $thing  *found" ../doctor || return
            ;;
        esac
    done
}

# Prints the fault of a row that ended with code $1; nothing if it is right.
wrong() {
    [ -n "$command" ] || echo "expected six cells"
    [ "$1" = "$exit" ] || echo "expected exit $exit, found $1"
    [ "$1" != 2 ] || [ "$(wc -l < ../said)" -le 1 ] || echo "expected one line on stderr"
    for file in none* *.regather-part; do
        [ ! -e "$file" ] || { echo "expected no file $file" && rm -rf "$file"; }
    done
    [ "$prints" != - ] || return
    output=$(cat ../out ../said | tr '\0' ' ')
    printf '%s\n' "$prints" | sed 's/\\n/\n/g; s/\\t/\t/g' | while IFS= read -r text; do
        case $text in
        !*) case $output in *"${text#!}"*) echo "expected no \"${text#!}\"" ;; esac ;;
        *) case $output in *"$text"*) ;; *) echo "expected \"$text\"" ;; esac ;;
        esac
    done
}

passed=0 failed=0 skipped=0 head=
while IFS=$tab read -r section name needs exit prints command <&3; do
    case $section in '#'*) continue ;; define) eval "$command" && continue ;; esac
    if [ -z "$head" ]; then
        head="$section $name $needs $exit $prints $command"
        [ "$head" = "section case needs exit prints command" ] || { echo "$table: expected its six columns, found $head" && exit 2; }
        continue
    fi
    case $section:$name in setup:* | *:*"$only"*) ;; *) continue ;; esac
    has "$needs" || { skipped=$((skipped + 1)) && echo "skipped: $name: no $needs here" && continue; }
    (eval "$command") > ../out 2> ../said < /dev/null
    found=$(wrong $?)
    [ -n "$found" ] || { passed=$((passed + 1)) && continue; }
    failed=$((failed + 1))
    printf '%s: %s\n%s\nof: %s\n' "$section" "$name" "$found" "$command"
    cat ../out ../said | tr '\0' ' ' | head -c 1500
done 3< "$table"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
