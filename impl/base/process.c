// SPDX-License-Identifier: MIT
#include "process.h"
#include "core.h"

#include <fcntl.h>
#include <sys/wait.h>

pid_t rg_child_start(const rg_child *c) {
    fflush(NULL); // otherwise parent and child would both write the buffers
    const pid_t pid = fork();
    if (pid) return pid;
    if (c->log) {
        const int from = open("/dev/null", O_RDONLY | O_CLOEXEC),
                  to = open(c->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        dup2(from, STDIN_FILENO);
        dup2(to, STDOUT_FILENO);
        dup2(to, STDERR_FILENO);
    }
    if (c->prepare) c->prepare(c->of);
    execv(c->program, rg_unconst(c->word));
    _exit(127);
}

static int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int rg_child_wait(pid_t pid, struct rusage *used) {
    int status;
    while (pid > 0)
        if (wait4(pid, &status, 0, used) == pid)
            return code_of(status);
        else if (errno != EINTR)
            break;
    return -1;
}

bool rg_child_ended(pid_t pid, int *code) {
    int status;
    if (waitpid(pid, &status, WNOHANG) != pid) return false;
    *code = code_of(status);
    return true;
}

int rg_child_run(const rg_child *c) { return rg_child_wait(rg_child_start(c), NULL); }

int rg_shell(const char *line, const char *zero) {
    const char *const word[] = {"sh", "-c", line, zero, NULL};
    return rg_child_run(&(rg_child){.program = "/bin/sh", .word = word});
}

void rg_last_line(const char *path, const char *begins, char *line, size_t bytes) {
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    *line = '\0';
    while (f && getline(&text, &room, f) > 0)
        if (*text != '\n' && !strncmp(text, begins, strlen(begins)))
            snprintf(line, bytes, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    if (f) fclose(f);
}
