// SPDX-License-Identifier: MIT
// memory.cc: checks which memory a kernel accesses, and in which order.
//
// It implements the entry points of two instrumentations: -fsanitize=thread calls __tsan_readN/__tsan_writeN before each
// access, -fsanitize=bounds,alignment,object-size calls __ubsan_handle_* for an index or pointer that is wrong by its type
// alone. Every 4 bytes (every byte, once a region is accessed in smaller pieces) have two marks: the last writer and the last
// reader, as phase, warp, lane. An access is a race if no barrier separates it from the mark of another thread.
#include "emulation.h"
#include "module.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <pthread.h>

extern dim3 rg_block_dim;

namespace rg_emu {

namespace {

enum Kind { READ, WRITE, ATOMIC, EXCHANGE /* atomic that ignores the old value */ };
const char *const verb[] = {"read", "write", "atomic update", "atomic exchange"};

// The 64 bits of a mark: phase 32, ATOMIC, FOREIGN (also another block of this launch), warp 6, lane 6 (63: several), count 18.
enum : uint64_t { ATOMIC_BIT = 1u << 31, FOREIGN = 1u << 30, MANY = 63, COUNT_BITS = 0x3ffff };
enum : uint64_t { WARPS = MANY << 24, LANES = MANY << 18 };
enum : uintptr_t { NEAR = 1 << 16 };

struct Mark {
    uint64_t write, read;
};

struct Region {
    uintptr_t low, high;        // accessible to kernels
    uintptr_t block, block_end; // the allocation
    Mark *mark = nullptr;       // allocated at the first access
    unsigned shift = 2;         // a mark covers 1 << shift bytes
    bool shared = false;
};

std::vector<Region> buffers;
Region dynamic;
Region *recent; // of the previous access, unless that was to a static shared array

// A module and the marks of its shared arrays.
struct Statics {
    Module module;
    Region region;
    const Symbol *last; // of the previous access
    pthread_t thread;   // owner of the arrays
};
std::deque<Statics> statics;
Statics *now; // of the running kernel; NULL if its module is not found
const void *kernel_now;

// Bytes covered by marks: dynamic shared memory keeps its marks between launches, whatever size each one requests.
size_t room_of(const Region &r) { return &r == &dynamic ? r.block_end - r.low : r.high - r.low; }

void make_marks(Region &r) {
    r.mark = (Mark *)calloc((room_of(r) >> r.shift) + 2, sizeof(Mark));
    if (!r.mark) fault("no memory for the marks of a buffer of %zu bytes", (size_t)(r.high - r.low));
}

// Replaces marks for 4 bytes by marks for single bytes.
void split_marks(Region &r) {
    Mark *coarse = r.mark;
    r.shift = 0;
    make_marks(r);
    for (uintptr_t i = 0; i < room_of(r); i++) r.mark[i] = coarse[i >> 2];
    free(coarse);
}

// Whether another thread made the access in `mark`, and nothing orders it before the access by `me`.
inline bool unordered(uint64_t mark, uint64_t me, bool shared) {
    const uint32_t phase = (uint32_t)(mark >> 32);
    if (phase < (shared ? position.block : position.launch)) return false;
    if (!position.fenced && (phase < position.block || mark & FOREIGN)) return true;
    if (phase != position.phase) return false;
    if ((mark ^ me) & WARPS) return true;
    return !((mark ^ me) & COUNT_BITS) && (mark ^ me) & LANES;
}

// The mark of `me`, which keeps the other accesses recorded in `mark`.
inline uint64_t merged(uint64_t mark, uint64_t me, bool shared) {
    const uint32_t phase = (uint32_t)(mark >> 32);
    if (phase < (shared ? position.block : position.launch)) return me;
    if (phase < position.block || mark & FOREIGN) me |= FOREIGN;
    if (phase != position.phase) return me;
    if ((mark ^ me) & WARPS) return me | WARPS;
    if (!((mark ^ me) & COUNT_BITS) && (mark ^ me) & LANES) return me | LANES;
    return me;
}

const char *s(size_t n) { return n == 1 ? "" : "s"; }

// "byte 12 of the shared array tile (1024 bytes)"
std::string name_place(const Region &r, uintptr_t a) {
    char text[300];
    const Symbol *s = now && &r == &now->region ? now->module.symbol_at(a - r.low) : nullptr;
    if (s)
        snprintf(text, sizeof text, "byte %zd of the shared array %s (%zu bytes)", (ssize_t)(a - r.low - s->low),
            s->name.c_str(), (size_t)(s->high - s->low));
    else if (r.shared)
        snprintf(text, sizeof text, "byte %zd of %s shared memory (%zu bytes)", (ssize_t)(a - r.low),
            &r == &dynamic ? "dynamic" : "static", (size_t)(r.high - r.low));
    else
        snprintf(text, sizeof text, "byte %zd of a buffer in global memory (%zu bytes)", (ssize_t)(a - r.low),
            (size_t)(r.high - r.low));
    return text;
}

[[noreturn]] void race(const Region &r, uintptr_t a, Kind kind, uint64_t mark, const char *earlier) {
    char who[80] = "several threads";
    const unsigned warp = mark >> 24 & MANY, lane = mark >> 18 & MANY, t = warp * 32 + lane;
    if ((uint32_t)(mark >> 32) < position.block || mark & FOREIGN)
        snprintf(who, sizeof who, "another block");
    else if (warp != MANY && lane != MANY)
        snprintf(who, sizeof who, "thread (%u,%u,%u)", t % rg_block_dim.x, t / rg_block_dim.x % rg_block_dim.y,
            t / rg_block_dim.x / rg_block_dim.y);
    fault("race: %s of %s, %s by %s with no barrier between", verb[kind], name_place(r, a).c_str(), earlier, who);
}

[[noreturn]] void outside(const Region &r, uintptr_t a, size_t n, Kind kind) {
    fault("%s out of range: %s of %zu byte%s at %s", r.shared ? "shared index" : "global memory access", verb[kind], n, s(n),
        name_place(r, a).c_str());
}

[[noreturn]] __attribute__((noinline)) void uninitialised(const Region &r, uintptr_t a, Kind kind) {
    fault(
        "uninitialised shared memory: %s of %s, which nobody has written in this block", verb[kind], name_place(r, a).c_str());
}

// An access by the running thread to the bytes of one mark.
template <Kind kind, bool shared> inline void touch_mark(Region &r, Mark &m, uint64_t me) {
    if (kind == READ && m.read == me) return; // a later write by another thread has already been reported as a race
    const auto at = [&] { return r.low + ((uintptr_t)(&m - r.mark) << r.shift); };
    if (shared && (kind == READ || kind == ATOMIC) && m.write >> 32 < position.block) uninitialised(r, at(), kind);
    // A compare-and-swap loop starts with a plain load of data that other threads update atomically: no race in global memory.
    const bool atomics = (kind >= ATOMIC || (kind == READ && !shared)) && m.write & ATOMIC_BIT;
    if (!atomics && unordered(m.write, me, shared))
        race(r, at(), kind, m.write, m.write & ATOMIC_BIT ? "updated atomically" : "written");
    if (kind == READ) {
        m.read = merged(m.read, me, shared);
        return;
    }
    if ((kind == WRITE || shared) && unordered(m.read, me, shared)) race(r, at(), kind, m.read, "read");
    m.write = kind == WRITE ? me : merged(m.write, me, shared) | ATOMIC_BIT;
}

// An access inside r: checks for races, and for reads of shared memory that no thread of this block has written.
template <Kind kind> inline void touch(Region &r, uintptr_t a, size_t n) {
    const uintptr_t offset = a - r.low;
    if (!r.mark) make_marks(r);
    if (r.shift && (offset | n) & 3) split_marks(r);
    const uint64_t me = position.mark;
    Mark *m = r.mark + (offset >> r.shift), *end = r.mark + ((offset + n - 1) >> r.shift) + 1;
    if (r.shared)
        for (; m < end; m++) touch_mark<kind, true>(r, *m, me);
    else
        for (; m < end; m++) touch_mark<kind, false>(r, *m, me);
}

// An access to static shared memory must lie inside one array, not only in the segment.
template <Kind kind> void touch_static(Statics &in, uintptr_t a, size_t n) {
    const uintptr_t offset = a - in.region.low;
    if (!in.module.symbol.empty()) {
        if (!in.last || offset < in.last->low || offset >= in.last->high) in.last = in.module.symbol_at(offset);
        if (!in.last || offset + n > in.last->high) outside(in.region, a, n, kind);
    }
    touch<kind>(in.region, a, n);
}

bool inside(const Region &r, uintptr_t a, size_t n) { return a >= r.low && a + n <= r.high; }

// The buffer of an access; NULL for a module's own data. An address outside all allocations is reported relative to the nearest
// one, if that is close.
Region *find_buffer(uintptr_t a, size_t n, Kind kind) {
    const Region *near = nullptr;
    for (Region &r : buffers) {
        if (inside(r, a, n)) return &r;
        if (a < r.block_end && a + n > r.block) outside(r, a, n, kind);
        if (a + NEAR > r.block && a < r.block_end + NEAR) near = &r;
    }
    if (now && now->module.holds(a)) return nullptr; // constant tables and __device__ variables
    if (near) outside(*near, a, n, kind);
    fault("%s of %zu byte%s at %p, which is no memory of the device", verb[kind], n, s(n), (void *)a);
}

// An access outside the thread's own stack and outside the region of the previous access.
template <Kind kind> __attribute__((noinline)) void find_and_touch(uintptr_t a, size_t n) {
    if (now && !now->region.low) memory_launch(kernel_now); // a plug-in's segment exists once something in it has been accessed
    if (now && a - now->region.low < now->region.high - now->region.low) return touch_static<kind>(*now, a, n);
    if (a >= position.args && a + n <= position.args_end) return;
    if (a - (dynamic.block - NEAR) < dynamic.block_end - dynamic.block + 2 * NEAR) {
        if (!inside(dynamic, a, n)) outside(dynamic, a, n, kind);
        recent = &dynamic;
    } else if (a - position.all_stacks < position.all_stacks_end - position.all_stacks) {
        fault("%s of %zu byte%s in the local memory of another thread", verb[kind], n, s(n));
    } else if (Region *buffer = find_buffer(a, n, kind)) {
        recent = buffer;
    } else {
        return;
    }
    touch<kind>(*recent, a, n);
}

template <Kind kind> inline void access(uintptr_t a, size_t n) {
    if (!position.running || !position.checked || a - position.stack < STACK_BYTES) return;
    position.accesses++;
    if (recent && inside(*recent, a, n)) return touch<kind>(*recent, a, n);
    find_and_touch<kind>(a, n);
}

} // namespace

void memory_launch(const void *kernel) {
    kernel_now = kernel;
    dynamic.shared = true;
    dynamic.low = dynamic.block = position.dynamic;
    dynamic.high = position.dynamic_end;
    dynamic.block_end = position.dynamic_most;
    recent = nullptr;
    auto known = std::find_if(statics.begin(), statics.end(), [=](auto &s) { return s.module.holds((uintptr_t)kernel); });
    now = known == statics.end() ? nullptr : &*known;
    if (now && now->region.low && pthread_equal(now->thread, pthread_self())) return;
    Module found;
    if (!found.find(kernel)) return;
    if (!now) {
        found.read_symbols();
        statics.push_back({std::move(found), Region(), nullptr, {}});
        now = &statics.back();
    } else {
        now->module.segment = found.segment;
        now->module.segment_bytes = found.segment_bytes;
    }
    now->thread = pthread_self();
    now->region.shared = true;
    now->region.low = now->module.segment;
    now->region.high = now->module.segment + now->module.segment_bytes;
}

void memory_block() {
    if (position.checked) return;
    memset((void *)position.dynamic, 0xFF, position.dynamic_end - position.dynamic);
    if (now && now->region.low)
        for (const Symbol &s : now->module.symbol) memset((void *)(now->region.low + s.low), 0xFF, s.high - s.low);
}

void memory_add(const void *p, size_t bytes) {
    Region r;
    r.low = r.block = (uintptr_t)p;
    r.high = r.block_end = r.low + bytes;
    recent = nullptr;
    buffers.push_back(r);
}

void memory_remove(const void *p) {
    for (size_t i = 0; i < buffers.size(); i++)
        if (buffers[i].block == (uintptr_t)p) {
            free(buffers[i].mark);
            recent = nullptr;
            buffers.erase(buffers.begin() + (ptrdiff_t)i);
            return;
        }
}

bool memory_holds(const void *p, size_t bytes) {
    return std::any_of(buffers.begin(), buffers.end(), [=](const Region &r) { return inside(r, (uintptr_t)p, bytes); });
}

void atomic_access(const void *p, size_t bytes, bool reads) {
    if (reads)
        access<ATOMIC>((uintptr_t)p, bytes);
    else
        access<EXCHANGE>((uintptr_t)p, bytes);
}

void read_access(const void *p, size_t bytes) { access<READ>((uintptr_t)p, bytes); }

void write_access(const void *p, size_t bytes) { access<WRITE>((uintptr_t)p, bytes); }

void fence() { position.fenced = true; }

} // namespace rg_emu

double rg_emulation_accesses(void) { return (double)rg_emu::position.accesses; }

void rg_emulation_extent(const void *base, size_t bytes) {
    using namespace rg_emu;
    for (Region &r : buffers)
        if ((uintptr_t)base >= r.block && (uintptr_t)base + bytes <= r.block_end) {
            free(r.mark);
            r.mark = nullptr;
            r.shift = 2;
            r.low = (uintptr_t)base;
            r.high = r.low + bytes;
        }
}
