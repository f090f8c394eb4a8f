// 32-bit hashes of words, word pairs and character n-grams, and the hash tables from them to feature
// indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace headwise {

constexpr uint64_t kFirst = 0x9E3779B97F4A7C15, kSecond = 0xBF58476D1CE4E5B9, kThird = 0x94D049BB133111EB;
constexpr uint64_t kBegin = 0xD6E8FEB86659FD93, kEnd = 0xA0761D6478BD642F;
constexpr uint32_t kSeparator = 0x1F;

// Every bit of the result depends on every bit of the number (the finalizer of SplitMix64).
inline uint64_t mix(uint64_t number) {
    number = (number ^ (number >> 30)) * kSecond;
    number = (number ^ (number >> 27)) * kThird;
    return number ^ (number >> 31);
}

// The state of a word's hash after one more character; it begins as kFirst and ends with `mix`.
inline uint64_t add_character(uint64_t state, uint32_t code) {
    state = (state ^ code) * kSecond;
    return state ^ (state >> 29);
}

// The hash of two words; `near` if they are neighbours.
inline uint32_t pair_hash(uint64_t before, uint64_t word, bool near) {
    return static_cast<uint32_t>(mix(before * (near ? kFirst : kThird) + word) >> 32);
}

// Whether `str.isspace` holds.
inline bool is_blank(uint32_t code) {
    if (code < 0x80) return code == 32 || (9 <= code && code <= 13) || (28 <= code && code <= 31);
    if (code < 0x1680) return code == 0x85 || code == 0xA0;
    return code == 0x1680 || (0x2000 <= code && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
           code == 0x202F || code == 0x205F || code == 0x3000;
}

// Calls `use` with the hash of each character n-gram, n from `least` to `most`, of the words between white
// space from `position` to `end`, padded with a blank on either side.
template <typename Use>
void for_each_run(const uint32_t* codes, int64_t position, int64_t end, int least, int most, Use use) {
    while (position < end) {
        if (is_blank(codes[position])) {
            ++position;
            continue;
        }
        const int64_t first = position;
        while (position < end && !is_blank(codes[position])) ++position;
        const int64_t size = position - first + 2;
        for (int64_t begin = 0; begin < size; ++begin) {
            uint64_t run = kThird;
            const int64_t longest = std::min<int64_t>(most, size - begin);
            for (int64_t length = 1; length <= longest; ++length) {
                const int64_t at = begin + length - 1;
                run = add_character(run, 0 < at && at < size - 1 ? codes[first + at - 1] : 32);
                if (length >= least || (begin == 0 && length == size))
                    use(static_cast<uint32_t>(mix(run + length) >> 32));
            }
        }
    }
}

// Checks the size of a hash table, see `find_slot`.
inline void check_slots(size_t size) {
    if (size == 0 || (size & (size - 1)) != 0)
        throw std::invalid_argument("a table's size is a power of two");
}

// An open-addressing hash table; an entry is `key << 32 | index + 1`, 0 is free. The size is a power of
// two. Returns the slot of the key, or the free slot where it would go.
inline uint64_t find_slot(uint32_t key, const uint64_t* slots, uint64_t size) {
    const uint64_t mask = size - 1;
    uint64_t place = ((key * kFirst) >> 20) & mask;
    while (slots[place] != 0 && static_cast<uint32_t>(slots[place] >> 32) != key)
        place = (place + 1) & mask;
    return place;
}

}  // namespace headwise
