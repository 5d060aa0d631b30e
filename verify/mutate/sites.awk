# SPDX-License-Identifier: MIT
# sites.awk FILE...: prints every place for one mutation, a line each: file, line, column, length, operator, the new text. Only
# code that computes: no comments, strings, descriptors, costs, refusals and lists of parameters.

function site(column, length_, operator, new) {
    printf "%s\t%d\t%d\t%d\t%s\t%s\n", FILENAME, FNR, column, length_, operator, new
}

# Every occurrence of a literal in the code of this line.
function literal(old, operator, new,    at, from) {
    for (from = 1; (at = index(substr(code, from), old)) > 0; from += at + length(old) - 2)
        site(from + at - 1, length(old), operator, new)
}

FNR == 1 { skipping = 0 }
/^static void cost\(|^RG_VARIANT|^static const rg_param|^static const char \*refuse|^static size_t scratch/ { skipping = 1 }
skipping { if ($0 ~ /^}/ || ($0 ~ /};$/ && $0 !~ /^RG_VARIANT/) || $0 ~ /^(static const char \*refuse|static size_t scratch).*}$/) skipping = 0; next }
/^ *#pragma omp (atomic|barrier|critical)/ { site(1, length($0), "drop", ""); next }
/^#|^ *\/\/|^static const int64_t|^typedef|^extern|_Static_assert|static_assert|^ *\*/ { next }

{
    code = $0
    while (match(code, /"[^"]*"/))
        code = substr(code, 1, RSTART - 1) sprintf("%" RLENGTH "s", "") substr(code, RSTART + RLENGTH)
    if ((comment = index(code, "//")) > 0)
        code = substr(code, 1, comment - 1)
    literal(" < ", "relation", " <= ");   literal(" <= ", "relation", " < ")
    literal(" > ", "relation", " >= ");   literal(" >= ", "relation", " > ")
    literal(" == ", "relation", " != ");  literal(" != ", "relation", " == ")
    literal(" + ", "arithmetic", " - ");  literal(" - ", "arithmetic", " + ")
    literal(" * ", "arithmetic", " + ");  literal(" / ", "arithmetic", " * ")
    literal(" && ", "logic", " || ");     literal(" || ", "logic", " && ")
    literal(" += ", "sum", " -= ");       literal(" += ", "sum", " = ")
    literal("fminf(", "least", "fmaxf("); literal("fmaxf(", "least", "fminf(")
    literal("__syncthreads();", "drop", ";")
    literal("__syncwarp();", "drop", ";")
    if (code ~ /^ +[a-z_][^=]*[^=!<>]= [^=].*;$/ && code !~ /^ +(const|static|float|double|int|int64_t|unsigned|uint|long|size_t|return|for|if)/)
        site(1, length($0), "drop", ";")
    for (from = 1; match(substr(code, from), /[^A-Za-z0-9_.][0-9]+[^A-Za-z0-9_.]/); from += RSTART + RLENGTH - 2) {
        number = substr(code, from + RSTART, RLENGTH - 2)
        site(from + RSTART, RLENGTH - 2, "constant", number + 1)
        if (number > 0)
            site(from + RSTART, RLENGTH - 2, "constant", number - 1)
    }
}
