// Vectors of numbers: one register full where the processor has registers of HEADWISE_VECTOR_BYTES.
//
// The kernels of attention are compiled once for each set of instructions (CMakeLists.txt), and everything
// here lives in an unnamed namespace, so that no build shares code with another.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#ifndef HEADWISE_VECTOR_BYTES
#define HEADWISE_VECTOR_BYTES 16
#endif

// Without the vectors of GCC and Clang, loops stand in for them.
#if defined(__GNUC__) && !defined(HEADWISE_PLAIN_VECTORS)
#define HEADWISE_GNU_VECTORS 1
#define HEADWISE_NOINLINE __attribute__((noinline))
#else
#define HEADWISE_GNU_VECTORS 0
#define HEADWISE_NOINLINE
#include "plain_vectors.h"
#endif

namespace headwise {
namespace {

#if HEADWISE_GNU_VECTORS
template <typename T>
struct VectorTypes;

template <>
struct VectorTypes<float> {
    typedef float Numbers __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef int32_t Mask __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef uint32_t Bits __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef uint32_t Words __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
};

template <>
struct VectorTypes<double> {
    typedef double Numbers __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef int64_t Mask __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef uint64_t Bits __attribute__((vector_size(HEADWISE_VECTOR_BYTES)));
    typedef uint32_t Words __attribute__((vector_size(HEADWISE_VECTOR_BYTES / 2)));
};

// Lane by lane `yes` or `no`; the mask is the result of a comparison.
template <typename Mask, typename Numbers>
inline Numbers choose(Mask mask, Numbers yes, Numbers no) {
    return mask ? yes : no;
}

// The result of a comparison of 32-bit words, for numbers of type T.
template <typename T, typename Mask>
inline typename VectorTypes<T>::Mask mask_for(Mask mask) {
    return __builtin_convertvector(mask, typename VectorTypes<T>::Mask);
}
#endif

template <typename T>
using Vector = typename VectorTypes<T>::Numbers;

// Numbers in a vector.
template <typename T>
constexpr int64_t lanes = HEADWISE_VECTOR_BYTES / sizeof(T);

template <typename T>
inline Vector<T> load(const T* from) {
    Vector<T> x;
    std::memcpy(&x, from, sizeof x);
    return x;
}

template <typename T>
inline void store(T* to, Vector<T> x) {
    std::memcpy(to, &x, sizeof x);
}

// The same number in all lanes.
template <typename T>
inline Vector<T> splat(T number) {
    return number - Vector<T>{};
}

// 0, 1, 2 ...
template <typename T>
inline Vector<T> counting() {
    Vector<T> x;
    for (int64_t lane = 0; lane < lanes<T>; ++lane) x[lane] = static_cast<T>(lane);
    return x;
}

template <typename T>
inline Vector<T> larger(Vector<T> a, Vector<T> b) {
    return choose(a > b, a, b);
}

// The same bits as another type.
template <typename To, typename From>
inline To bits_as(From from) {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

// exp(x) where x <= 0 or little above, to 1e-7 (float) or 2e-16 (double) of it; NaN of NaN. What is below
// the least normal number becomes 0.
//
// exp(x) = 2^n exp(r) with |r| <= log(2) / 2: n by adding a number so large that the sum has no place for
// fractions, which also leaves n in its last bits; exp(r) by its series. log(2) is taken in two parts, the
// first so short that n times it is exact.
template <typename T>
inline Vector<T> exp(Vector<T> x) {
    using Bits = typename VectorTypes<T>::Bits;
    constexpr bool single = sizeof(T) == 4;
    constexpr int mantissa = single ? 23 : 52, degree = single ? 7 : 13;
    constexpr T inverse = static_cast<T>(1.4426950408889634);
    constexpr T high = static_cast<T>(single ? 0.693359375 : 6.93147180369123816490e-01);
    constexpr T low = static_cast<T>(single ? -2.12194440e-4 : 1.90821492927058770002e-10);
    const Vector<T> least = splat(static_cast<T>(single ? -87 : -708));
    const Vector<T> rounder = splat(static_cast<T>(1.5 * static_cast<double>(int64_t{1} << mantissa)));
    const Vector<T> inside = choose(x < least, least, x);
    const Vector<T> shifted = inside * inverse + rounder;
    const Vector<T> n = shifted - rounder;
    const Vector<T> r = (inside - n * high) - n * low;
    double factorials[degree + 1] = {1};
    for (int k = 1; k <= degree; ++k) factorials[k] = factorials[k - 1] * k;
    Vector<T> series = splat(static_cast<T>(1 / factorials[degree]));
    for (int k = degree - 1; k >= 0; --k) series = series * r + static_cast<T>(1 / factorials[k]);
    const Bits power = bits_as<Bits>(shifted) << mantissa;
    const Vector<T> y = bits_as<Vector<T>>(bits_as<Bits>(series) + power);
    return choose(x == x, choose(x < least, Vector<T>{}, y), x);
}

// `merge` of all lanes, in pairs of halves.
template <typename T, typename Merge>
inline T across(Vector<T> x, Merge merge) {
    T numbers[lanes<T>];
    store(numbers, x);
    for (int64_t half = lanes<T> / 2; half > 0; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane)
            numbers[lane] = merge(numbers[lane], numbers[lane + half]);
    return numbers[0];
}

template <typename T>
inline T sum_across(Vector<T> x) {
    return across<T>(x, [](T a, T b) { return a + b; });
}

template <typename T>
inline T largest_across(Vector<T> x) {
    return across<T>(x, [](T a, T b) { return a > b ? a : b; });
}

// Where lane j of two rows of a matrix comes from, when squares of `step` lanes off its diagonal change
// places; the second row's lanes are numbered on from the first's.
template <int step, bool lower>
constexpr int exchanged(int lane, int count) {
    if (lower) return lane & step ? count + lane : lane + step;
    return lane & step ? count + lane - step : lane;
}

template <typename T, int step, bool lower, int... lane>
inline Vector<T> exchange(Vector<T> x, Vector<T> y, std::integer_sequence<int, lane...>) {
    constexpr int count = sizeof...(lane);
#if !HEADWISE_GNU_VECTORS
    const auto pick = [&](int place) { return place < count ? x[place] : y[place - count]; };
    return Vector<T>{{pick(exchanged<step, lower>(lane, count))...}};
#elif defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(x, y, exchanged<step, lower>(lane, count)...);
#else
    return __builtin_shuffle(x, y, typename VectorTypes<T>::Mask{exchanged<step, lower>(lane, count)...});
#endif
}

template <typename T, int step>
inline void transpose_steps(Vector<T>* rows) {
    if constexpr (step > 0) {
        constexpr auto all = std::make_integer_sequence<int, static_cast<int>(lanes<T>)>();
#pragma GCC unroll 16
        for (int i = 0; i < lanes<T>; ++i) {
            if (i & step) continue;
            const Vector<T> x = rows[i], y = rows[i + step];
            rows[i] = exchange<T, step, false>(x, y, all);
            rows[i + step] = exchange<T, step, true>(x, y, all);
        }
        transpose_steps<T, step / 2>(rows);
    }
}

// out[j, i] = from[i, j] * factor for the first `lanes` i and j, where rows begin `step` apart. Where
// `from` has fewer rows, its last stands for those that are missing; of `out`, no more than `out_rows` are
// written.
template <typename T>
inline void transpose(const T* from, int64_t from_step, int64_t from_rows, T* out, int64_t out_step,
                      int64_t out_rows, T factor) {
    Vector<T> rows[lanes<T>];
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes<T>; ++i)
        rows[i] = load(from + (i < from_rows ? i : from_rows - 1) * from_step) * factor;
    transpose_steps<T, static_cast<int>(lanes<T> / 2)>(rows);
#pragma GCC unroll 16
    for (int64_t j = 0; j < lanes<T>; ++j)
        if (j < out_rows) store(out + j * out_step, rows[j]);
}

// Has the memory around a number brought to the caches.
template <typename T>
inline void prefetch(const T* number) {
#if HEADWISE_GNU_VECTORS
    __builtin_prefetch(number);
#else
    (void)number;
#endif
}

inline int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger_of(int64_t a, int64_t b) { return a > b ? a : b; }

// Scratch memory, all 0.
template <typename T>
class Buffer {
  public:
    explicit Buffer(int64_t size) : data_(new T[size]()) {}
    ~Buffer() { delete[] data_; }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    operator T*() { return data_; }

  private:
    T* data_;
};

}  // namespace
}  // namespace headwise
