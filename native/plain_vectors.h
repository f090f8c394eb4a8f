// Vectors of numbers for compilers other than GCC and Clang; see vectors.h.
#pragma once

#include <cstdint>

namespace headwise {
namespace {

template <typename N, int64_t n>
struct PlainVector {
    N numbers[n];

    N& operator[](int64_t lane) { return numbers[lane]; }
    N operator[](int64_t lane) const { return numbers[lane]; }
};

// Each lane by a function of the lanes of two vectors.
template <typename Result, typename N, int64_t n, typename Function>
inline PlainVector<Result, n> lane_by_lane(PlainVector<N, n> a, PlainVector<N, n> b, Function function) {
    PlainVector<Result, n> result;
    for (int64_t lane = 0; lane < n; ++lane) result[lane] = static_cast<Result>(function(a[lane], b[lane]));
    return result;
}

template <typename N, int64_t n>
inline PlainVector<N, n> all_lanes(N number) {
    PlainVector<N, n> result;
    for (int64_t lane = 0; lane < n; ++lane) result[lane] = number;
    return result;
}

#define HEADWISE_OPERATOR(sign, Result)                                                         \
    template <typename N, int64_t n>                                                            \
    inline PlainVector<Result, n> operator sign(PlainVector<N, n> a, PlainVector<N, n> b) {     \
        return lane_by_lane<Result>(a, b, [](N first, N second) { return first sign second; }); \
    }                                                                                           \
    template <typename N, int64_t n>                                                            \
    inline PlainVector<Result, n> operator sign(PlainVector<N, n> a, N b) {                     \
        return a sign all_lanes<N, n>(b);                                                       \
    }                                                                                           \
    template <typename N, int64_t n>                                                            \
    inline PlainVector<Result, n> operator sign(N a, PlainVector<N, n> b) {                     \
        return all_lanes<N, n>(a) sign b;                                                       \
    }
HEADWISE_OPERATOR(+, N)
HEADWISE_OPERATOR(-, N)
HEADWISE_OPERATOR(*, N)
HEADWISE_OPERATOR(^, N)
HEADWISE_OPERATOR(&, N)
HEADWISE_OPERATOR(<, bool)
HEADWISE_OPERATOR(>, bool)
HEADWISE_OPERATOR(<=, bool)
HEADWISE_OPERATOR(>=, bool)
HEADWISE_OPERATOR(==, bool)
#undef HEADWISE_OPERATOR

template <typename N, int64_t n>
inline PlainVector<N, n> operator-(PlainVector<N, n> a) {
    return N{0} - a;
}
template <typename N, int64_t n>
inline PlainVector<N, n> operator<<(PlainVector<N, n> a, int bits) {
    return lane_by_lane<N>(a, a, [bits](N number, N) { return number << bits; });
}
template <typename N, int64_t n>
inline PlainVector<N, n> operator>>(PlainVector<N, n> a, int bits) {
    return lane_by_lane<N>(a, a, [bits](N number, N) { return number >> bits; });
}
template <typename N, int64_t n>
inline void operator+=(PlainVector<N, n>& a, PlainVector<N, n> b) {
    a = a + b;
}
template <typename N, int64_t n>
inline void operator-=(PlainVector<N, n>& a, PlainVector<N, n> b) {
    a = a - b;
}
template <typename N, int64_t n>
inline void operator*=(PlainVector<N, n>& a, PlainVector<N, n> b) {
    a = a * b;
}

template <typename N, int64_t n>
inline PlainVector<N, n> choose(PlainVector<bool, n> mask, PlainVector<N, n> yes, PlainVector<N, n> no) {
    PlainVector<N, n> result;
    for (int64_t lane = 0; lane < n; ++lane) result[lane] = mask[lane] ? yes[lane] : no[lane];
    return result;
}

template <typename T, typename Mask>
inline Mask mask_for(Mask mask) {
    return mask;
}

template <typename T>
struct VectorTypes;

template <>
struct VectorTypes<float> {
    static constexpr int64_t lanes = HEADWISE_VECTOR_BYTES / 4;
    using Numbers = PlainVector<float, lanes>;
    using Mask = PlainVector<bool, lanes>;
    using Bits = PlainVector<uint32_t, lanes>;
    using Words = PlainVector<uint32_t, lanes>;
};

template <>
struct VectorTypes<double> {
    static constexpr int64_t lanes = HEADWISE_VECTOR_BYTES / 8;
    using Numbers = PlainVector<double, lanes>;
    using Mask = PlainVector<bool, lanes>;
    using Bits = PlainVector<uint64_t, lanes>;
    using Words = PlainVector<uint32_t, lanes>;
};

}  // namespace
}  // namespace headwise
