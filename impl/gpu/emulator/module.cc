// SPDX-License-Identifier: MIT
// module.cc: finds the loaded object that holds a kernel and reads its shared arrays.
#include "module.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rg_emu {

namespace {

std::string short_name(const char *mangled) {
    int status = 1;
    char *full = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status ? mangled : full;
    free(full);
    const size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

void read_table(Module &m, const unsigned char *file, size_t bytes) {
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    if (bytes < sizeof *head || head->e_shoff + (size_t)head->e_shnum * sizeof(ElfW(Shdr)) > bytes) return;
    const ElfW(Shdr) *section = (const ElfW(Shdr) *)(file + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB || section[i].sh_offset + section[i].sh_size > bytes) continue;
        const char *names = (const char *)file + section[section[i].sh_link].sh_offset;
        const ElfW(Sym) *s = (const ElfW(Sym) *)(file + section[i].sh_offset), *end = s + section[i].sh_size / sizeof *s;
        for (; s < end; s++)
            if (ELF64_ST_TYPE(s->st_info) == STT_TLS && s->st_size && !strncmp(names + s->st_name, "_ZZ", 3))
                m.symbol.push_back({s->st_value, s->st_value + s->st_size, short_name(names + s->st_name)});
    }
    std::sort(m.symbol.begin(), m.symbol.end(), [](const Symbol &a, const Symbol &b) { return a.low < b.low; });
}

// For dl_iterate_phdr: stops at the object that holds the address.
struct Search {
    Module *module;
    uintptr_t address;
};

int fill_module(dl_phdr_info *info, size_t, void *out) {
    const Search &search = *(const Search *)out;
    Module &m = *search.module;
    m = Module();
    m.path = info->dlpi_name;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &p = info->dlpi_phdr[i];
        if (p.p_type == PT_LOAD) m.image.push_back({info->dlpi_addr + p.p_vaddr, p.p_memsz});
        if (p.p_type == PT_TLS && info->dlpi_tls_data) {
            m.segment = (uintptr_t)info->dlpi_tls_data;
            m.segment_bytes = p.p_memsz;
        }
    }
    return m.holds(search.address);
}

} // namespace

bool Module::holds(uintptr_t address) const {
    return std::any_of(image.begin(), image.end(), [=](auto &i) { return address - i.first < i.second; });
}

const Symbol *Module::symbol_at(uintptr_t offset) const {
    auto s = std::upper_bound(symbol.begin(), symbol.end(), offset, [](uintptr_t o, const Symbol &x) { return o < x.low; });
    return s == symbol.begin() ? nullptr : &s[-1];
}

bool Module::find(const void *kernel) {
    Search search = {this, (uintptr_t)kernel};
    return dl_iterate_phdr(fill_module, &search) != 0;
}

void Module::read_symbols() {
    const int file = open(path.empty() ? "/proc/self/exe" : path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (file < 0) return;
    if (!fstat(file, &facts)) {
        const size_t bytes = (size_t)facts.st_size;
        void *map = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (map != MAP_FAILED) {
            read_table(*this, (const unsigned char *)map, bytes);
            munmap(map, bytes);
        }
    }
    close(file);
}

} // namespace rg_emu
