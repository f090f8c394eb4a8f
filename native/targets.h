// HEADWISE_VECTORS before a function compiles it for several processors; the loader picks the best that
// runs. Everything that the function calls is inlined, so that it is compiled for the same processor.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(HEADWISE_SANITIZE)
#define HEADWISE_VECTORS \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), flatten))
#else
#define HEADWISE_VECTORS
#endif
