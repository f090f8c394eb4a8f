// Masks of dropout as functions of a key and of the place of a value (headwise.nn.layers.dropout), so that
// nothing is drawn in turn and no mask is stored.
#pragma once

#include <cstdint>

#include "arrays.h"
#include "hashing.h"

namespace headwise {

template <typename T>
struct DropoutMask {
    uint32_t low, high, least;
    T scale;

    DropoutMask(uint64_t key, double probability) {
        require(probability >= 0 && probability < 1, "a probability from 0 to below 1 is expected");
        key = mix(key);  // so that keys that follow each other have nothing in common
        low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
        least = static_cast<uint32_t>(probability * 4294967296.0);
        scale = static_cast<T>(1 / (1 - probability));
    }

    // The factor of the value at a place: 0 or `scale`.
    T operator()(uint32_t place) const {
        // A random number for each place: a bijection of 32 bits of the place under two halves of a key.
        uint32_t bits = place * 0x9E3779B9 + low;
        bits = (bits ^ bits >> 16) * 0x21F0AAAD;
        bits = ((bits ^ bits >> 15) + high) * 0x735A2D97;
        bits = (bits ^ bits >> 15) * 0x85EBCA6B;
        return (bits ^ bits >> 16) >= least ? scale : T(0);
    }
};

}  // namespace headwise
