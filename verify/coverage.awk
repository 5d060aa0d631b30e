# SPDX-License-Identifier: MIT
# coverage.awk: of gcov's annotated sources (gcov -b -c -t) of many objects, one line a branch of this project's kernels: file,
# line, branch, times taken, the line's text. gcov lists the branches of every copy of a line (instances of a template, inlined
# functions, each object that includes a header) one after the other; they are folded by the conditions that the line's text
# has. What says how much a kernel costs, what it refuses and how much memory it wants is no part of its work and left out.
BEGIN { words[1] = "&&"; words[2] = "||"; words[3] = " ? "
        words[4] = "if ("; words[5] = "for ("; words[6] = "while (" }
/^ *-: *0:Source:/ {
    file = $0
    sub(/^ *-: *0:Source:/, "", file)
    sub(/^.*\/impl\//, "impl/", file)
    mine = file ~ /^impl\/(autocorr|gridding|affine|frealign)\//
    if (mine && !(file in read)) leave_out(file)
    next
}
!mine { next }
/^ *([0-9]+\*?|-|#####|=====): *[0-9]+:/ {
    flush()
    line = $0
    sub(/^[^:]*: */, "", line)
    text = line
    sub(/:.*/, "", line)
    sub(/^[0-9]+:/, "", text)
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    gsub(/\t/, " ", text)
    source[file, line] = text
    next
}
/^branch +[0-9]+ / { times[n++] = $3 == "taken" ? $4 + 0 : 0 }
/^-----/ { flush() }

# The lines of cost(), refuse(), scratch() and descriptors: from such a line to the end of its block.
function leave_out(name,    line, number, inside) {
    read[name] = 1
    while ((getline line < name) > 0) {
        number++
        if (line ~ /^(static|template|RG_HD).*(cost|refuse|scratch|steps|tolerance|bytes|work|lines_walked)[a-z0-9_]*\(/ ||
            line ~ /^RG_VARIANT/)
            inside = 1
        if (inside) out[name, number] = 1
        if (line ~ /^}/ || (inside && line ~ /}$/ && line !~ /^ /)) inside = 0
    }
    close(name)
}

function count(text, word,    n, at) {
    for (n = 0; (at = index(text, word)) > 0; n++) text = substr(text, at + length(word))
    return n
}

function flush(    k, conditions, fold) {
    if (n && !((file, line) in out)) {
        conditions = 0
        for (k in words) conditions += count(text, words[k])
        if (!conditions) { n = 0; return } # of inlined functions, whose own lines have them
        fold = conditions > 1 && n % (2 * conditions) == 0 ? 2 * conditions : 2
        for (k = 0; k < n; k++) sum[file, line, k % fold, fold] += times[k]
    }
    n = 0
}
END {
    flush()
    for (at in sum) {
        split(at, w, SUBSEP)
        printf "%s\t%s\t%d/%d\t%.0f\t%s\n", w[1], w[2], w[3], w[4], sum[at], source[w[1], w[2]]
    }
}
