# published.awk: compares numbers in a table of a paper's text with reference/published: awk -f published.awk PUBLISHED.tsv
# TEXT, with, in the environment, START and STOP, the texts before and after the table; KEYS, the first cells of its lines,
# separated by '|'; IDS, one a cell from the one numbered FIRST, "%" the key, "-" to skip a cell; SEPARATOR of cells. Prints "N
# numbers" that agree; exit 1 if one differs.
# The last number of a text, "18,1172" (a comma in the scan) read as 181172; a lone I is the scan's 1. "": none.
function number(text,    last) {
    last = text ~ /I/ ? 1 : ""
    while (match(text, /[0-9][0-9.,]*/)) {
        last = substr(text, RSTART, RLENGTH)
        gsub(/,/, "", last)
        text = substr(text, RSTART + RLENGTH)
    }
    return last
}
function same(a, b,    off) { off = a - b; return a != "" && b != "" && (off < 0 ? -off : off) <= 1e-9 * a }
# Compares a cell, "9.89+-0.00", with the row of this id.
function check(id, cell,    part, n) {
    n = split(cell, part, "\302\261")
    if (same(number(part[1]), value[id]) && (n < 2 || (error[id] != "" && same(number(part[2]), error[id])))) return 1
    print id ": the paper prints \"" cell "\", reference/published has " value[id] " +- " error[id]
    exit wrong = 1
}
FNR == NR && !/^#/ {
    n = split($0, cell, "\t")
    if (!columns) for (columns = i = 1; i <= n; i++) at[cell[i]] = i
    value[cell[at["id"]]] = cell[at["value"]]
    error[cell[at["id"]]] = cell[at["error"]]
}
FNR != NR { text = text $0 "\n" }
END {
    if (wrong) exit 1
    # The last start that is followed by the stop, because the text refers to tables, too.
    start = ENVIRON["START"]; stop = ENVIRON["STOP"]; separator = "[" ENVIRON["SEPARATOR"] "]"
    while ((at_start = index(text, start)) && index(rest = substr(text, at_start + length(start)), stop)) text = table = rest
    if (table == "") { print "no \"" start "\" before \"" stop "\""; exit 1 }
    n_lines = split(substr(table, 1, index(table, stop) - 1), line, "\n")
    n_keys = split(ENVIRON["KEYS"], key, "|")
    n_ids = split(ENVIRON["IDS"], id, " ")
    for (l = 1; l <= n_lines; l++) {
        split(line[l], cell, separator)
        for (k = 1; k <= n_keys; k++)
            for (i = 1; cell[1] == key[k] && i <= n_ids; i++) {
                name = id[i]
                gsub(/%/, key[k], name)
                if (name != "-") right += check(name, cell[ENVIRON["FIRST"] + i])
            }
    }
    print right + 0 " numbers"
}
