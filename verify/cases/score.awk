# score.awk: computes the numbers of `regather score` again, from the tables of archives only.
#   awk -f score.awk -v reference=LABEL workload.tsv costs.tsv LABEL/runs.tsv LABEL/power.tsv ...
# Prints a row a machine: label, score, standard error of its logarithm, seconds, joules, total, money a job.
function sort(list, n,    i, k, held) {
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && list[k - 1] > list[k]; k--) { held = list[k]; list[k] = list[k - 1]; list[k - 1] = held }
}
BEGIN { FS = "\t" }
FNR == 1 { split("", at); names = 0; files++; label = FILENAME; sub(/\/[^\/]*$/, "", label) }
/^#/ { if (files == 2) { split(substr($0, 3), pair, ": "); head[pair[1]] = pair[2] } next }
!names { for (i = 1; i <= NF; i++) at[$i] = i; names = 1; next }
files == 1 { job[++jobs] = $at["job"]; weight[$at["job"]] = $at["weight"]; next }
files == 2 { price[$1] = $at["price"]; support[$1] = $at["support_a_year"]; residual[$1] = $at["residual"]; idle[$1] = $at["idle_W"]; cap[$1] = $at["cap_W"]; next }
"wall_s" in at {
    if (!(label in seen)) { seen[label] = 1; machine[++machines] = label }
    if ($at["kind"] == "timed" && $at["status"] == "good") time[label, $at["job"], ++runs[label, $at["job"]]] = $at["wall_s"]
    next
}
"mean_W" in at { power[label, $at["job"], $at["source"]] = $at["joules_a_run"] }
END {
    for (m = 1; m <= machines; m++)
        for (j = 1; j <= jobs; j++) {
            l = machine[m]; n = runs[l, job[j]]; mean = squares = 0
            for (i = 1; i <= n; i++) { list[i] = time[l, job[j], i]; mean += log(list[i]) / n }
            for (i = 1; i <= n; i++) squares += (log(list[i]) - mean) ^ 2
            variance[l, j] = squares / (n - 1) / n
            sort(list, n)
            median[l, j] = n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
            if ((l, job[j], "meter") in power) joules[l, j] = power[l, job[j], "meter"]
            else joules[l, j] = cap[l] * median[l, j]
        }
    hours = 8760 * head["years"]
    for (m = 1; m <= machines; m++) {
        l = machine[m]; score = v = seconds = J = 0
        for (j = 1; j <= jobs; j++) {
            w = weight[job[j]]
            score += w * log(median[reference, j] / median[l, j]); v += w * w * variance[l, j]
            seconds += w * median[l, j]; J += w * joules[l, j]
        }
        watts = head["utilisation"] * J / seconds + (1 - head["utilisation"]) * idle[l]
        total = price[l] + head["years"] * support[l] - residual[l] + watts / 1000 * hours * head["pue"] * head["electricity_a_kWh"]
        printf "%s\t%.7g\t%.7g\t%.7g\t%.7g\t%.7g\t%.7g\n", l, exp(score), sqrt(v + 0.01 ^ 2), seconds, J, total, total / (hours * head["utilisation"] * 3600 / seconds)
    }
}
