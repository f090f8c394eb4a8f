// Forward and backward probabilities of one sentence of a linear chain (headwise.linear.tag_crf).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headwise {

// The exponentials of emissions, `[words, tags]`, scaled so that the largest of each word is 1; none is
// less than exp(-60).
template <typename T>
void exponents(const T* emissions, int64_t words, int64_t tags, T* scaled) {
    for (int64_t word = 0; word < words; ++word, emissions += tags, scaled += tags) {
        T highest = emissions[0];
        for (int64_t k = 1; k < tags; ++k) highest = std::max(highest, emissions[k]);
        for (int64_t k = 0; k < tags; ++k)
            scaled[k] = std::exp(std::max(emissions[k] - highest, static_cast<T>(-60)));
    }
}

// The forward and backward probabilities of the words; their product is the marginal of each tag. The
// expected transition counts, not yet multiplied by `moves`, are added to `counts`.
//
// chances: exponentials of the emissions, `[words, tags]`; changed in place.
// moves: exponentials of the transitions, `[tags, tags]`.
// message: `[tags]`, for the time being.
template <typename T>
void forward_backward(T* chances, const T* moves, int64_t words, int64_t tags, T* forward, T* backward,
                      T* counts, T* message) {
    for (int64_t word = 0; word < words; ++word) {
        T *here = forward + word * tags, *chance = chances + word * tags;
        if (word == 0) {
            std::copy(chance, chance + tags, here);
        } else {
            std::fill(message, message + tags, static_cast<T>(0));
            for (int64_t i = 0; i < tags; ++i) {
                const T before = here[i - tags];
                for (int64_t k = 0; k < tags; ++k) message[k] += before * moves[i * tags + k];
            }
            for (int64_t k = 0; k < tags; ++k) here[k] = message[k] * chance[k];
        }
        T total = 0;
        for (int64_t k = 0; k < tags; ++k) total += here[k];
        const T scale = 1 / total;
        for (int64_t k = 0; k < tags; ++k) here[k] *= scale;
        for (int64_t k = 0; k < tags; ++k) chance[k] *= scale;
    }
    std::fill(backward + (words - 1) * tags, backward + words * tags, static_cast<T>(1));
    for (int64_t word = words - 2; word >= 0; --word) {
        const T *next = backward + (word + 1) * tags, *chance = chances + (word + 1) * tags;
        for (int64_t k = 0; k < tags; ++k) message[k] = chance[k] * next[k];
        for (int64_t i = 0; i < tags; ++i) {
            const T before = forward[word * tags + i];
            T value = 0;
            for (int64_t k = 0; k < tags; ++k) {
                value += moves[i * tags + k] * message[k];
                counts[i * tags + k] += before * message[k];
            }
            backward[word * tags + i] = value;
        }
    }
}

}  // namespace headwise
