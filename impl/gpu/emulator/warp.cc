// SPDX-License-Identifier: MIT
// warp.cc: warp-wide operations. Each lane deposits its value; once all lanes of the mask have done so, each reads the others'.
#include "block.h"
#include <cstring>

namespace rg_emu {

void leave_meeting(Thread &thread) {
    Meeting *m = thread.meeting;
    thread.meeting = nullptr;
    if (m && !--m->readers) {
        m->next = engine.spare;
        engine.spare = m;
    }
}

static Meeting *call_meeting(Exchange kind, unsigned mask, int line) {
    Meeting *m = engine.spare;
    if (m) {
        engine.spare = m->next;
    } else {
        m = new Meeting;
        m->made = engine.made;
        engine.made = m;
    }
    m->kind = kind;
    m->mask = mask;
    m->line = line;
    m->arrived = 0;
    m->readers = (unsigned)__builtin_popcount(mask);
    m->next = nullptr;
    return m;
}

void forget_meetings() {
    for (Warp &w : engine.warp) w.open = nullptr;
    engine.spare = nullptr;
    for (Meeting *m = engine.made; m; m = m->made) {
        m->next = engine.spare;
        engine.spare = m;
    }
}

const Value *exchange(Exchange kind, unsigned mask, int line, const void *value, size_t bytes) {
    const unsigned t = engine.current, w = t / 32, bit = 1u << t % 32;
    Thread &me = engine.thread[t];
    Warp &warp = engine.warp[w];
    if (!(mask & bit)) fault("line %d: the mask 0x%08x of a warp-wide operation leaves out the lane that calls it", line, mask);
    leave_meeting(me);
    Meeting **slot = &warp.open;
    while (*slot && ((*slot)->kind != kind || (*slot)->mask != mask || (*slot)->line != line || (*slot)->arrived & bit))
        slot = &(*slot)->next;
    if (!*slot) *slot = call_meeting(kind, mask, line);
    Meeting *m = *slot;
    memcpy(m->value[t % 32].bytes, value, bytes);
    m->arrived |= bit;
    me.meeting = m;
    me.line = line;
    if (m->arrived != mask) {
        me.state = AT_MEETING;
        wait();
        return m->value;
    }
    *slot = m->next;
    warp.phase++;
    for (unsigned left = mask & ~bit; left; left &= left - 1)
        engine.thread[w * 32 + (unsigned)__builtin_ctz(left)].state = READY;
    mark_position(t);
    return m->value;
}

void shuffle(unsigned mask, const void *value, size_t bytes, unsigned from, void *result, int line) {
    const Value *all = exchange(SHUFFLE, mask, line, value, bytes);
    if (!(mask >> from & 1)) fault("line %d: a shuffle reads lane %u, which is not in the mask 0x%08x", line, from, mask);
    memcpy(result, all[from].bytes, bytes);
}

// Lane l holds bytes 4(l%4).. and 16+4(l%4).. of A's rows l/4 and l/4+8, and the same bytes of B's column l/4 (PTX,
// mma.m16n8k32).
void multiply_u8(int d[4], const unsigned a[4], const unsigned b[2], int line) {
    struct Fragments {
        unsigned a[4], b[2];
    } mine;
    memcpy(mine.a, a, sizeof mine.a);
    memcpy(mine.b, b, sizeof mine.b);
    const Value *all = exchange(MATRIX, ~0u, line, &mine, sizeof mine);
    const unsigned row = lane() / 4 * 4, column = lane() % 4 * 8;
    for (unsigned i = 0; i < 4; i++) {
        unsigned sum = (unsigned)d[i];
        for (unsigned part = 0; part < 4; part++) {
            const unsigned char *left = all[row + part].bytes + i / 2 * 4, *right = all[column + i % 2 * 4 + part].bytes + 16;
            for (unsigned k = 0; k < 4; k++) sum += (unsigned)left[k] * right[k] + (unsigned)left[8 + k] * right[4 + k];
        }
        d[i] = (int)sum;
    }
}

unsigned lane() { return engine.current % 32; }

} // namespace rg_emu
