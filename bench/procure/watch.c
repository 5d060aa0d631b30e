// SPDX-License-Identifier: MIT
#include "measure.h"

#include "../../impl/base/core.h"

#include <dirent.h>
#include <sched.h>

const char *const rg_power_name[RG_POWERS] = {"NVML", "RAPL", "meter"};

double rg_watch_cpu_s(void) {
    cpu_set_t mine;
    char line[512];
    double ticks = 0;
    bool any = false;
    FILE *f = fopen("/proc/stat", "r");
    if (!f || sched_getaffinity(0, sizeof mine, &mine)) {
        if (f) fclose(f);
        return NAN;
    }
    while (fgets(line, sizeof line, f)) {
        int cpu;
        double user, nice, system, idle, wait, irq, soft, steal;
        if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice, &system, &idle, &wait, &irq, &soft,
                &steal) == 9 &&
            cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &mine)) {
            ticks += user + nice + system + irq + soft + steal; // steal: other guests of the host
            any |= ticks + idle > 0;
        }
    }
    fclose(f);
    return any ? ticks / (double)sysconf(_SC_CLK_TCK) : NAN;
}

static int by_cpu(const void *a, const void *b) {
    const struct rg_watched_one *x = a, *y = b;
    return (x->cpu_s < y->cpu_s) - (x->cpu_s > y->cpu_s);
}

rg_watched rg_watch_processes(void) {
    rg_watched all = {0};
    struct dirent **entry;
    const int n = scandir("/proc", &entry, NULL, NULL);
    for (int i = 0; i < n; i++) {
        const int pid = atoi(entry[i]->d_name);
        char line[1024], *past;
        struct rg_watched_one one = {.pid = pid};
        double user, system;
        free(entry[i]);
        if (pid <= 0 || pid == getpid() || !rg_line(line, sizeof line, "/proc/%d/stat", pid) || !(past = strrchr(line, ')')))
            continue;
        *past = '\0'; // a name may hold blanks and brackets; utime is the eleventh word after the state
        snprintf(one.name, sizeof one.name, "%s", strchr(line, '(') ? strchr(line, '(') + 1 : "");
        if (sscanf(past + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf", &user, &system) != 2) continue;
        one.cpu_s = (user + system) / (double)sysconf(_SC_CLK_TCK);
        all.one = rg_grow(all.one, all.n, sizeof *all.one);
        all.one[all.n++] = one;
    }
    if (n >= 0) free(entry);
    return all;
}

void rg_watch_say(const rg_watched *before, double others_s, double seconds, char text[300]) {
    rg_watched now = rg_watch_processes();
    for (int i = 0; i < now.n; i++)
        for (int k = 0; k < before->n; k++)
            if (before->one[k].pid == now.one[i].pid) now.one[i].cpu_s -= before->one[k].cpu_s;
    if (now.n) qsort(now.one, (size_t)now.n, sizeof *now.one, by_cpu);
    int at = snprintf(text, 300, "%.1f cores", others_s / seconds);
    for (int i = 0; i < now.n && i < 3 && now.one[i].cpu_s > 0.05 * seconds; i++)
        at += snprintf(text + at, 300 - (size_t)at, "%s%s (%d) %.1f", i ? ", " : ": ", now.one[i].name, now.one[i].pid,
            now.one[i].cpu_s / seconds);
    if (!strchr(text, ':')) snprintf(text + at, 300 - (size_t)at, ", by processes that have ended or are hidden here");
    free(now.one);
}

// NaN: the command fails, or its output does not begin with a number.
static double read_meter(const char *meter) {
    char text[200] = "", *end;
    FILE *f = popen(meter, "r");
    if (!f) return NAN;
    const bool said = fgets(text, sizeof text, f) != NULL;
    while (fgetc(f) != EOF)
        ;
    const double watts = strtod(text, &end);
    return pclose(f) == 0 && said && end > text && watts >= 0 && watts < 1e6 ? watts : NAN;
}

bool rg_window_can(rg_window *w, int gpus, const char *meter) {
    *w = (rg_window){.gpus = gpus, .meter = meter};
    if (!gpus)
        snprintf(w->why[RG_POWER_GPU], 160, "no GPU is used");
    else if (!isnan(rg_energy_of_gpus(gpus, w->why[RG_POWER_GPU])))
        *w->why[RG_POWER_GPU] = '\0';
    rg_energy_start(rg_device_cpu(), &w->of_cpu);
    snprintf(w->why[RG_POWER_CPU], 160, "%s", isnan(w->of_cpu.start_J) ? w->of_cpu.source : "");
    snprintf(w->why[RG_POWER_METER], 160, "%s",
        !meter                         ? "no --meter"
            : isnan(read_meter(meter)) ? "the command gave no watts"
                                       : "");
    return !*w->why[RG_POWER_GPU] || !*w->why[RG_POWER_CPU] || !*w->why[RG_POWER_METER];
}

void rg_window_begin(rg_window *w) {
    w->meter_J = 0;
    w->meter_W = *w->why[RG_POWER_METER] ? NAN : read_meter(w->meter);
    char why[160];
    w->gpus_J = w->gpus ? rg_energy_of_gpus(w->gpus, why) : NAN;
    rg_energy_start(rg_device_cpu(), &w->of_cpu);
    w->began_s = w->meter_read_s = rg_seconds();
}

// Trapezoidal rule between two readings.
void rg_window_read_meter(rg_window *w) {
    if (isnan(w->meter_W)) return;
    const double watts = read_meter(w->meter), now_s = rg_seconds();
    w->meter_J += 0.5 * (watts + w->meter_W) * (now_s - w->meter_read_s);
    w->meter_W = watts;
    w->meter_read_s = now_s;
}

void rg_window_end(rg_window *w, double joules[RG_POWERS], double *seconds) {
    double watts, s;
    char why[160];
    *seconds = rg_seconds() - w->began_s;
    joules[RG_POWER_GPU] = w->gpus ? rg_energy_of_gpus(w->gpus, why) - w->gpus_J : NAN;
    if (!(joules[RG_POWER_GPU] > 0)) // stood still, or the driver was loaded again
        joules[RG_POWER_GPU] = NAN;
    rg_energy_stop(rg_device_cpu(), &w->of_cpu, &joules[RG_POWER_CPU], &s, &watts);
    rg_window_read_meter(w);
    joules[RG_POWER_METER] = isnan(w->meter_W) ? NAN : w->meter_J;
}
