// SPDX-License-Identifier: MIT
// fault.cc: the text of the first fault, with kernel, block and thread.
#include "block.h"
#include "emulation.h"
#include "runtime.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace rg_emu {

namespace {

const char *place(unsigned t, char *text, size_t bytes) {
    uint3 i = engine.thread[t].index;
    snprintf(text, bytes, "thread (%u,%u,%u)", i.x, i.y, i.z);
    return text;
}

void record(const char *who, const char *what) {
    if (engine.failed) return;
    engine.failed = true;
    const char *name = engine.launch->name;
    const int length = (int)strlen(name), bare = length > 1 && name[0] == '(';
    snprintf(engine.text, sizeof engine.text, "%.*s, block (%u,%u,%u), %s: %s", length - 2 * bare, name + bare, rg_block_idx.x,
        rg_block_idx.y, rg_block_idx.z, who, what);
}

void record_at(unsigned t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void record_at(unsigned t, const char *format, ...) {
    char who[48], what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    record(place(t, who, sizeof who), what);
}

} // namespace

void explain_standstill() {
    char other[48];
    unsigned at_barrier = THREADS_MAX;
    for (unsigned t = 0; t < engine.n; t++) {
        const Thread &me = engine.thread[t];
        if (me.state == AT_BARRIER && at_barrier == THREADS_MAX) at_barrier = t;
        if (me.state != AT_MEETING) continue;
        const unsigned absent = t / 32 * 32 + (unsigned)__builtin_ctz(me.meeting->mask & ~me.meeting->arrived);
        const char *how = absent >= engine.n ? "does not exist" : engine.thread[absent].state == ENDED ? "has ended" : "";
        place(absent, other, sizeof other);
        if (*how)
            return record_at(t, "warp divergence: waits at line %d for lanes 0x%08x, of which %s %s", me.line, me.meeting->mask,
                absent >= engine.n ? "one" : other, how);
        return record_at(t, "warp divergence: waits at line %d for lanes 0x%08x, of which %s waits at line %d", me.line,
            me.meeting->mask, other, engine.thread[absent].line);
    }
    const Thread &me = engine.thread[at_barrier];
    for (unsigned t = 0; t < engine.n; t++) {
        const Thread &him = engine.thread[t];
        if (him.state == ENDED)
            return record_at(
                at_barrier, "barrier divergence: waits at line %d, but %s has ended", me.line, place(t, other, sizeof other));
        if (him.line != me.line || him.kind != me.kind)
            return record_at(at_barrier, "barrier divergence: waits at line %d, but %s at line %d", me.line,
                place(t, other, sizeof other), him.line);
    }
}

bool stream_right(const void *stream, const char *what) {
    if (!engine.stream || stream == engine.stream || engine.failed) return true;
    engine.failed = true;
    snprintf(engine.text, sizeof engine.text, "%s is queued on %s and not on the stream of the call", what,
        stream ? "another stream" : "the default stream");
    return false;
}

void fault(const char *format, ...) {
    char who[48], what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    position.running = false;
    record(place(engine.current, who, sizeof who), what);
    fiber_switch(engine.thread[engine.current].fiber, engine.scheduler, true);
    __builtin_unreachable();
}

} // namespace rg_emu

const char *rg_emulation_fault(void) { return rg_emu::engine.failed ? rg_emu::engine.text : nullptr; }

void rg_emulation_stream(const void *stream) { rg_emu::engine.stream = stream; }

void rg_emulation_reset(void) {
    rg_emu::engine.failed = false;
    cudaGetLastError();
}
