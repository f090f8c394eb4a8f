// What this processor and its system can do, for kernels that are compiled once for each set of
// instructions.
#pragma once

#ifdef HEADWISE_X86_BUILDS
#include <cpuid.h>

namespace headwise {

// The compilers' own `__builtin_cpu_supports` knows nothing where Zig links.
struct Processor {
    bool avx2 = false;    // x86-64-v3
    bool avx512 = false;  // x86-64-v4
    bool vnni = false;    // AVX-512 VNNI
    bool tiles = false;   // AMX-INT8, which Linux has to allow yet
};

inline Processor find_processor() {
    const auto has = [](unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; };
    constexpr unsigned kFma = 1u << 12, kMovbe = 1u << 22, kXsave = 1u << 27, kAvx = 1u << 28;  // leaf 1
    constexpr unsigned kBmi = 1u << 3, kAvx2 = 1u << 5, kBmi2 = 1u << 8;                        // leaf 7
    constexpr unsigned kAvx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // F, DQ, CD, BW, VL
    constexpr unsigned kLzcnt = 1u << 5;                                                // leaf 0x80000001
    Processor processor;
    unsigned a, b, c, d, basic, more, ignored;
    if (!__get_cpuid(1, &a, &b, &basic, &d) || !has(basic, kFma | kMovbe | kXsave | kAvx)) return processor;
    if (!__get_cpuid(0x80000001, &a, &b, &more, &d) || !has(more, kLzcnt)) return processor;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return processor;
    unsigned states;  // of registers that the system saves
    __asm__("xgetbv" : "=a"(states), "=d"(ignored) : "c"(0));
    processor.avx2 = has(b, kBmi | kAvx2 | kBmi2) && has(states, 6);
    processor.avx512 = processor.avx2 && has(b, kAvx512) && has(states, 0xe6);
    processor.vnni = processor.avx512 && has(c, 1u << 11);
    processor.tiles = processor.vnni && has(d, 3u << 24);
    return processor;
}

inline const Processor& this_processor() {
    static const Processor processor = find_processor();
    return processor;
}

}  // namespace headwise
#endif
