#!/bin/sh
# SPDX-License-Identifier: MIT
# octave.sh OUT.tar.xz: GNU Octave without windows as it is installed here (Debian: octave-cli), with its libraries, the C library and
# its loader among them, to be carried to a machine that has none. There: tar xf OUT.tar.xz -C DIR; PATH=DIR/octave/bin:$PATH.
# Nothing of that machine is used but its kernel, so that an older or newer C library there does not matter. Exit 4: no Octave here.
out=${1:?usage: octave.sh OUT.tar.xz}
cli=$(command -v octave-cli) || { echo "octave.sh: octave-cli is not installed here: apt install octave" >&2 && exit 4; }
work=$(mktemp -d) && trap 'rm -r "$work"' EXIT || exit 2
to=$work/octave
says() { "$cli" --norc --quiet --eval "disp($1)" 2> /dev/null; } # some builds complain at their end
home=$(says OCTAVE_HOME) version=$(says OCTAVE_VERSION)
mkdir -p "$to/bin" "$to/lib" "$to/share/octave/$version" || exit 2
cp "$(readlink -f "$cli")" "$to/bin/octave-cli" || exit 2
# Names that the loader asks for, whatever they are links to; ld-linux stands in its own line without an arrow.
ldd "$cli" | awk '$2 == "=>" { print $3 } $1 ~ /^\/.*ld-linux/ { print $1 }' | sort -u |
    while read -r library; do cp -L "$library" "$to/lib/" || exit 2; done || exit 2
cp -rL "$home/share/octave/$version/m" "$home/share/octave/$version/etc" "$to/share/octave/$version/" || exit 2
cat > "$to/bin/octave" << 'EOF'
#!/bin/sh
here=$(dirname "$(dirname "$(readlink -f "$0")")")
OCTAVE_HOME=$here OCTAVE_EXEC_HOME=$here
export OCTAVE_HOME OCTAVE_EXEC_HOME
[ "$1" != --no-gui ] || shift # octave-cli has none and does not know the word
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/octave-cli" "$@"
EOF
chmod +x "$to/bin/octave"
tar -C "$work" -cf - octave | xz -T0 -6 > "$out" && ls -l "$out"
