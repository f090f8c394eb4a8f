// The kernel of headwise.nn.layers.dropout: masks are functions of a key and of the place of a value, so
// that nothing is drawn in turn and no mask is stored.
#include "arrays.h"
#include "hashing.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr uint32_t kStep = 0x9E3779B9;

// A random number for each place: a bijection of 32 bits of the place under two halves of a key.
inline uint32_t random_bits(uint32_t place, uint32_t low, uint32_t high) {
    uint32_t bits = place * kStep + low;
    bits = (bits ^ bits >> 16) * 0x21F0AAAD;
    bits = ((bits ^ bits >> 15) + high) * 0x735A2D97;
    bits = (bits ^ bits >> 15) * 0x85EBCA6B;
    return bits ^ bits >> 16;
}

template <typename T>
HEADWISE_VECTORS void drop(const T* values, T* result, uint32_t size, uint32_t low, uint32_t high,
                           uint32_t least, T scale) {
    for (uint32_t place = 0; place < size; ++place)
        result[place] = random_bits(place, low, high) >= least ? values[place] * scale : T(0);
}

template <typename T>
void dropout(Array1<const T> values, Array1<T> result, uint64_t key, double probability) {
    require(result.size() == values.size(), "as many values are expected");
    require(values.size() < UINT32_MAX, "fewer values are expected");
    require(probability >= 0 && probability < 1, "a probability from 0 to below 1 is expected");
    const auto least = static_cast<uint32_t>(probability * 4294967296.0);
    const T scale = static_cast<T>(1 / (1 - probability));
    key = mix(key);  // so that keys that follow each other have nothing in common
    nb::gil_scoped_release release;
    drop(values.data(), result.data(), static_cast<uint32_t>(values.size()), static_cast<uint32_t>(key),
         static_cast<uint32_t>(key >> 32), least, scale);
}

}  // namespace

void bind_dropout(nb::module_& module) {
    module.def("dropout", &dropout<float>, array("values"), array("result"), nb::arg("key"),
               nb::arg("probability"));
    module.def("dropout", &dropout<double>, array("values"), array("result"), nb::arg("key"),
               nb::arg("probability"));
}

}  // namespace headwise
