// An exponential that the compiler turns into vectors, unlike that of the standard library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace headwise {

// exp(x), to 2 units in the last place; 0 below -87, infinity above 88.7.
inline float exponential(float x) {
    constexpr float kLog2 = 1.44269504f, kHigh = 0.693359375f, kLow = -2.12194440e-4f;
    const float bounded = std::min(std::max(x, -87.3f), 88.7f);
    const float power = std::floor(bounded * kLog2 + 0.5f);  // exp(x) = 2^power * exp(rest)
    const float rest = (bounded - power * kHigh) - power * kLow;
    float series = 1.9875691500e-4f;
    for (const float factor :
         {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
        series = series * rest + factor;
    const float value = series * rest * rest + rest + 1;
    // 2^power as two factors, as 2^128 is no float.
    const int32_t exponent = static_cast<int32_t>(power), half = exponent / 2;
    const int32_t bits[2] = {(half + 127) << 23, (exponent - half + 127) << 23};
    float factors[2];
    std::memcpy(factors, bits, sizeof bits);
    const float result = value * factors[0] * factors[1];
    return x < -87.3f ? 0 : x > 88.7f ? HUGE_VALF : result;
}

}  // namespace headwise
