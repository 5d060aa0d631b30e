# SPDX-License-Identifier: MIT
# tools.sh: shell functions for the rows of verify/cases: the program, numbers read from files, and tests of them.

regather() { "$REGATHER" "$@"; }
look() { "$build/verify/cases/look" "$@"; }

# Tests an expression of awk on lines "NAME VALUE" from stdin, all numbers; prints them if it is false.
holds() { # EXPRESSION
    sed 's/,//g' > ../values
    if ! grep -qi -e nan -e inf ../values && awk $(awk '{ print "-v", $1 "=" $2 }' ../values) "BEGIN { exit !($1) }"; then return 0; fi
    echo "expected $1, found:" && cat ../values
    return 1
}

# Prints the cells of two columns of a table, a line a row, for `holds`; a name that is a number needs a PREFIX, a letter.
pairs() { # TABLE NAME VALUE [PREFIX]
    awk -F '\t' -v name="$2" -v value="$3" -v prefix="$4" '
        /^#/ { next }
        !n { for (i = 1; i <= NF; i++) if ($i == name) n = i; else if ($i == value) v = i; next }
        { print prefix $n, $v }' "$1"
}

# The Fourier shell correlation of two maps, lines "s1 VALUE" and so on; and the minimum up to a shell, as "least".
fsc() { # A B [SHELL]
    regather fsc "$1" "$2" --quiet --out fsc.tsv > ../fsc 2>&1 || { cat ../fsc && return 1; }
    pairs fsc.tsv shell fsc s | awk -v last="${3:-0}" '
        { print }
        NR == 2 || (NR > 2 && $2 < least && NR <= last + 1) { least = $2 }
        END { print "least", least }'
}

# Prints what the calls of a routine needed, from the column `needs` of a job's stages.
need() { # STAGES ROUTINE
    sed -n "s/^$2[:\t].*fp32=//p" "$1"
}

# ---- tables of steps -------------------------------------------------------------------------------------------------------

steps_fake() {
    cat > fake << 'END'
#!/bin/sh
case "$1 ${3:-}" in
"list algorithms") printf 'algo\tpaper\tsmoke\tbroken\none\tP\ts1\tone_wrong one_late\ntwo\tP\ts1\t-\n' ;;
"list variants") printf 'algo\tvariant\tspace\tneeds\tlacks\none\tgather\tgpu\tsm_50\tno GPU\n' ;;
"make "*) echo "made $2" && echo x >> "$2" ;;
"stages "*) printf '# a job\nstage\tbusy_s\nwhole\t1\n' > "$2" ;;
verify*) while [ "$1" != --out ]; do shift; done; echo x > "$2" && exit 1 ;;
report*) touch index.html ;;
*) echo version ;;
esac
END
    chmod +x fake
}
steps_head() {
    printf '# when: $preset-host\n# good: 0 1 4\nkind\tname\teach\twhen\tneeds\tproduct\tcommand\ttitle\treport\tsays\tshow\n'
}
step() { printf 'sh\t%s\t-\t-\t-\t%s\t%s\t-\t%s\t%s\t-\n' "$1" "$4" "$2" "$3" "${5:--}"; } # NAME COMMAND REPORT PRODUCT [SAYS]
steps_small() {
    steps_head
    cat << 'END' | tr '|' '\t'
let|size|-|quick-*|-|-|small|-|-|-|-
let|size|-|paper-*|-|-|large|-|-|-|-
let|algos|-|-|-|-|one two|-|-|-|-
let|brokens|-|-|-|-|one:one_wrong one:one_late|-|-|-|-
sh|each-$algo|algo=$algos|*|-|$results/$algo.$size|regather make $product|Do $algo|verify|-|-
sh|last|-|*|$results/one.$size|$results/last|regather make $product|Do both|numbers|-|-
sh|gpu|-|*-gpu|-|$results/gpu|regather make $product|On the GPU|-|-|-
sh|$broken|algo:broken=$brokens|*|-|$results/$broken|caught $algo $broken $product|Is $broken caught|-|-|-
sh|absent|-|*|-|$results/absent|echo no GPU; exit 4|Needs a GPU|-|-|-
sh|report|-|*|$results/|page|echo page of $(entries) && touch $product|Write the page|-|-|yes
END
}
steps_values() {
    cat << 'END' | tr '|' '\t'
let|pairs|-|-|-|-|100:20 200:30|-|-|-|-
sh|side $side|side=100 200|-|-|$results/side$side|regather make $product|-|-|-|-
sh|pair $side $count|side:count=$pairs|-|-|$results/pair$side.$count|regather make $product|-|-|-|-
sh|nest $side $letter|side=100 200;letter=y|-|-|-|echo nest $side $letter|-|-|-|-
END
}
table() { REGATHER_PROGRAM=./fake "$build/regather" steps "$@" --work w --set preset=quick; } # TABLE OPTION...
small() { # PRESET STEP...
    preset=$1 && shift
    REGATHER_PROGRAM=./fake "$build/regather" steps t.tsv "$@" --work w --set preset="$preset"
}

# Writes a result file of made-up rows, each "VARIANT SCOPE N NS [COLUMN=VALUE...]", ~ for a blank: N samples, NS times 1 to
# 1.01, in the order of a small permutation; 20 and more are from processes of ten each. The columns are those of f.tsv, from
# bench.
made() { # FILE ROW...; uses $SUITE, $MACHINE, $HASH, $SOURCE, and $HEAD: more lines of the head
    file=$1 && shift
    printf '%s\n' "$@" | awk -v suite="${SUITE:-regather 0.2}" -v machine="${MACHINE:-a machine}" -v hash="${HASH:-00ff}" \
        -v source="${SOURCE:-unknown}" -v head="$HEAD" -v columns="$(grep -v '^#' f.tsv | head -n 1)" '
        BEGIN {
            OFS = "\t"; rows = 0; width = split(columns, name, "\t")
            print "# format: 5\n# suite: " suite "\n# machine: " machine head
            fixed = "algo=autocorr shape=w64,h64,r8,k0 params=threads=1;isa=2 space=host mode=hot unit=ns rate_unit=multiply-adds/s status=PASS stop=interval rate=1e9"
        }
        {
            if (!NF) next
            n = $3; split("", cell); samples = ""
            for (i = 0; i < n; i++)
                samples = samples (!i ? "" : n >= 20 && i % 10 == 0 ? "|" : ";") sprintf("%.3f", $4 * (1 + 0.01 * (i * 7 % n) / n))
            words = split(fixed " variant=" $1 " scope=" $2 " n=" n " samples=" samples " source=" source " median=" \
                sprintf("%.6f", n ? $4 * (1 + 0.01 * (int((n - 1) / 2) + int(n / 2)) / 2 / n) : $4) ($2 == "job" ? " check=exit" : ""), word, " ")
            for (i = 5; i <= NF; i++) { gsub("~", " ", $i); word[++words] = $i }
            for (i = 1; i <= words; i++) { at = index(word[i], "="); cell[substr(word[i], 1, at - 1)] = substr(word[i], at + 1) }
            if (cell["algo"] == "probe") cell["source"] = ""
            else {
                input = cell["algo"] " " cell["shape"]; kernel = cell["algo"] ":" cell["variant"]
                if ($2 != "job" && !said[input]++) print "# input " input ": fnv1a " hash
                if (!said[kernel]++) print "# source " kernel ": " source
            }
            for (i = 1; i <= width; i++) row[rows] = row[rows] (i > 1 ? OFS : "") cell[name[i]]
            rows++
        }
        END { print columns; for (i = 0; i < rows; i++) print row[i] }' > "$file"
}

# ---- records ---------------------------------------------------------------------------------------------------------------

plan() { # ROW...: makes a record's plan; ~ separates cells
    printf 'kind\tname\teach\tneeds\tgpus\truns\tseconds\tclaims\tshapes\tcommand\n' > plan
    printf '%s\n' "$@" | tr '~' '\t' >> plan
}
plan_small() {
    plan 'let~small~-~-~-~-~-~-~-~w16,h16,r2,k0' \
        'bench~corr-$v~v=ordered naive~-~-~core~2~L3~$small~autocorr:$v --threads 1 --max-seconds 0.01 --rounds 2'
}
plan_tables() {
    plan 'data~image~-~-~-~core~1~-~-~echo made >> $work/image' \
        'table~numbers~-~image~-~alone~1~F9a~-~printf "# head\npart\tcpu\na\t%s\n" $(wc -l < $work/image) > $product' \
        'table~some~-~image gpus?~-~alone~1~F9d~-~printf "x\n%s\n" $(ls $work/tables | grep -c other) > $product' \
        'table~long~-~-~-~alone~1000~F9b~-~false' \
        'bench~gpus~-~-~64~gpu~1~F9c~-~gridding:gather --max-seconds 0.1'
}
record() { regather record --quiet --plan-file plan --work work --out m "$@"; }
anew() { rm -rf m.*tsv work; } # removes the record
cell() { # FILE VARIANT COLUMN: prints the cell in the row of this variant; fails if there is none
    awk -F'\t' -v variant="$2" -v column="$3" '/^#/ { next } !at { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
        $2 == variant { print $at; found = 1 } END { exit !found }' "$1"
}
report_tables() { # makes the tables of a machine, kind, one of which decides S8b
    mkdir -p machines
    printf '# table: other\na\n1\n# table: truth\nshell\tfsc\n22\t0.9995\n' > machines/kind.tables.tsv
}
ledger_of() { # OPTION...: prints the verdict on S8b for this machine, and what decided it
    regather report b.tsv --machines machines --no-figures --quiet --out p "$@" > said || return
    awk -F'\t' '!head { for (i = 1; i <= NF; i++) at[$i] = i; head = !/^#/; next }
        $at["machine"] == "kind" && $at["id"] == "S8b" { print $at["id"] "\t" $at["verdict"] "\t" $at["decided"] }' p/ledger.tsv
}

# ---- jobs and procurement --------------------------------------------------------------------------------------------------

coarsening() { # TIME: a job with this number of steps
    echo "phantom coarsening --width 32 --height 32 --time $1 --threads 1 --out {out}"
}
tiny_workload() {
    tr '|' '\t' << 'END'
job|weight|command|size|units|reference_s|min_runs|check|tolerance|input
map|0.5|reconstruct {in}/particles.star --out {out}.mrc --sym I1|small|20:images|1|5|map|0.5|phantom particles --box 16 --images 20
sums|0.5|autocorr {in}/*.png --max-offset 4 --out {out}|small|1:photos|1|5|sums|1e-5|phantom coarsening --threads 1 --width 32 --height 32 --frames 1 --time 4
END
}
unpack() { rm -rf f && mkdir f && tar xzf A.rgz -C f; }
pack() { (cd f && tar czf "../$1" --format=ustar --owner=0 --group=0 $(find . -type f | sed 's,^./,,')); } # ARCHIVE
# Computes all hashes again, as a forger would: the log's chain, and MANIFEST.
chain() {
    c=
    while read -r line; do
        text=${line% *} c=$(printf '%s%s' "$c" "${line% *}" | sha256sum | cut -d' ' -f1)
        printf '%s %.16s\n' "$text" "$c"
    done < f/log > e && mv e f/log
}
hash() {
    printf 'path\tbytes\tsha256\n' > M
    rm f/MANIFEST && (cd f && find . -type f | sed 's,^./,,' | while read -r p; do
        printf '%s\t%s\t%s\n' "$p" $(wc -c < "$p") "$(sha256sum < "$p" | cut -d' ' -f1)"
    done) >> M && mv M f/MANIFEST && pack F.rgz
}
forged() { # FILE PROGRAM [OPTION]: edits a file of A.rgz by awk, then audits it
    unpack && awk -F'\t' -v OFS='\t' "$2" "f/$1" > e && ! cmp -s e "f/$1" && mv e "f/$1" && hash &&
        regather audit F.rgz --nonce nonce-1 --quiet ${3---no-again}
}
# The same for the row of a run and its line in the log: RUN (a condition of awk), ROW, LINE (their edits).
forged_run() {
    unpack && run=$(awk -F'\t' "$1"' { n = $1 } END { print n }' f/runs.tsv) &&
        awk -F'\t' -v OFS='\t' -v run="$run" '$1 == run { '"$2"' } { print }' f/runs.tsv > e && mv e f/runs.tsv &&
        awk -v run="$run" '$2 == "run" && $3 == run { '"$3"' } { print }' f/log > e && mv e f/log && chain && hash &&
        regather audit F.rgz --no-again
}
# Delivers the archive with its times multiplied by a factor, as if they were from a quiet machine.
promised() { # FACTOR OPTION...
    unpack && awk -F'\t' -v OFS='\t' -v by="$1" 'NR > 1 { $8 *= by; if ($4 == "timed") $NF = "good" } { print }' f/runs.tsv > e &&
        mv e f/runs.tsv && pack P.rgz && shift && regather accept P.rgz "$@"
}
# On a busy machine too few runs count, which is no error of the program: exit 3 counts as the expected code.
or_busy() { # EXIT COMMAND...
    wanted=$1 && shift
    "$@"
    code=$?
    [ $code = 3 ] && code=$wanted
    return $code
}
