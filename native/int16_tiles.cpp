// The kernel of int16_products.h for processors that multiply tiles of bytes (AMX).
//
// With 16-bit integers as `256 high + low`, the low byte without a sign, a product is four products of
// bytes. Their sums may exceed 32 bits; the whole sum does not, and it is reckoned modulo 2^32.
#include <immintrin.h>

#include "int16_products.h"

namespace headwise {
namespace {

constexpr int64_t kBlock = 64;  // rows that are rounded at once

typedef uint32_t Sums __attribute__((vector_size(64)));
typedef int32_t SignedSums __attribute__((vector_size(64)));

inline Sums load_sums(const uint32_t* from) {
    Sums sums;
    std::memcpy(&sums, from, sizeof sums);
    return sums;
}

struct alignas(64) TileShapes {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
    TileShapes() {
        for (int tile = 0; tile < 8; ++tile) bytes[tile] = kTileInputs, rows[tile] = kTileRows;
    }
};

// The sums of products of the tiles of 16 rows with those of 16 columns, [high-high, high-low, low-high,
// low-low; 16, 16].
inline void sum_tiles(const uint8_t* rows, const uint8_t* weights, int64_t steps, uint32_t* sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t step = 0; step < steps; ++step, rows += 2 * kTileBytes, weights += 2 * kTileBytes) {
        _tile_loadd(4, rows, kTileInputs);
        _tile_loadd(6, weights, kTileInputs);
        _tile_loadd(5, rows + kTileBytes, kTileInputs);
        _tile_loadd(7, weights + kTileBytes, kTileInputs);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbsud(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbuud(3, 5, 7);
    }
    _tile_stored(0, sums, kTileInputs);
    _tile_stored(1, sums + kTileRows * 16, kTileInputs);
    _tile_stored(2, sums + kTileRows * 32, kTileInputs);
    _tile_stored(3, sums + kTileRows * 48, kTileInputs);
}

// A row as tiles have it: its high bytes, and its low bytes a tile further, 64 of each at a time.
inline void split_bytes(const int16_t* row, int64_t steps, uint8_t* tiles) {
    for (int64_t step = 0; step < steps; ++step, row += kTileInputs, tiles += 2 * kTileBytes)
        for (int64_t k = 0; k < kTileInputs; ++k) {
            tiles[k] = static_cast<uint8_t>(row[k] >> 8);
            tiles[kTileBytes + k] = static_cast<uint8_t>(row[k]);
        }
}

}  // namespace

template <>
void multiply_int16<Amx>(const Int16Product& product) {
    const int64_t outputs = product.outputs, steps = (product.inputs + kTileInputs - 1) / kTileInputs;
    Buffer<CacheLine> lines(kBlock * steps * 2);
    uint8_t* tiles = lines[0].bytes;
    Buffer<int16_t> rounded(steps * kTileInputs);
    float inverses[kBlock];
    alignas(64) uint32_t sums[4][kTileRows * 16];
    const TileShapes shapes;
    _tile_loadconfig(&shapes);
    for (int64_t first = 0; first < product.count; first += kBlock) {
        const int64_t count = smaller_of(product.count - first, kBlock);
        for (int64_t row = 0; row < count; ++row) {
            inverses[row] =
                to_int16(product.rows + (first + row) * product.inputs, product.inputs, rounded);
            split_bytes(rounded, steps,
                        tiles + row / kTileRows * steps * 2 * kTileBytes + row % kTileRows * kTileInputs);
        }
        for (int64_t column = 0; column < outputs; column += 16) {
            const uint8_t* weights = product.tiles[column / 16 * steps * 2 * kTileRows].bytes;
            const float *scales = product.scales + column, *bias = product.bias + column;
            const int64_t width = smaller_of(outputs - column, 16);
            for (int64_t row = 0; row < count; row += kTileRows) {
                sum_tiles(tiles + row * steps * 2 * kTileInputs, weights, steps, sums[0]);
                float* out = product.out + (first + row) * outputs + column;
                for (int64_t r = 0; r < smaller_of(count - row, kTileRows); ++r, out += outputs) {
                    const auto part = [&](int64_t which) { return load_sums(sums[which] + r * 16); };
                    const Sums sum = (part(0) << 16) + ((part(1) + part(2)) << 8) + part(3);
                    const auto numbers = __builtin_convertvector((SignedSums)sum, Vector<float>);
                    const auto y = numbers * (inverses[row + r] * load(scales)) + load(bias);
                    if (width == 16)
                        store<float>(out, y);
                    else
                        std::memcpy(out, &y, static_cast<size_t>(width) * sizeof(float));
                }
            }
        }
    }
    _tile_release();
}

}  // namespace headwise
