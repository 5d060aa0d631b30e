// SPDX-License-Identifier: MIT
// module.h: the shared arrays of kernels, as found in the loaded object that holds the kernels.
#pragma once

#include "engine.h"
#include <string>
#include <utility>
#include <vector>

namespace rg_emu {

struct Symbol {
    uintptr_t low, high;
    std::string name;
};

// The program or a plug-in. Under emulation __shared__ is `static thread_local`, so that its arrays are exactly the
// function-local symbols of the thread-local segment. Their sizes and names come from the object's symbol table; without one (a
// stripped program) only the segment as a whole is known.
struct Module {
    std::vector<std::pair<uintptr_t, uintptr_t>> image; // address, bytes
    uintptr_t segment = 0, segment_bytes = 0;           // 0 until something in it is accessed
    std::vector<Symbol> symbol;                         // sorted, relative to the segment
    std::string path;

    bool holds(uintptr_t address) const;
    const Symbol *symbol_at(uintptr_t offset) const; // the last that starts at or before it; NULL: none
    bool find(const void *kernel);                   // reads the object that holds the kernel
    void read_symbols();
};

} // namespace rg_emu
