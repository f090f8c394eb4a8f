// Arrays that Python passes in and takes out, without copies.
//
// Arguments are strict: another dtype, number of dimensions or memory order is a TypeError, never a copy,
// as many kernels write into their arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace headwise {

namespace nb = nanobind;

template <typename T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Array3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// An argument that is an array.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

template <typename T>
using Result = nb::ndarray<nb::numpy, T>;

// A NumPy array that owns the memory of a vector.
template <typename T>
Result<T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* memory = new std::vector<T>(std::move(values));
    nb::capsule owner(memory, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return Result<T>(memory->data(), shape, owner);
}

template <typename T>
Result<T> to_numpy(std::vector<T>&& values) {
    const size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

// Offsets of parts of an array of `size` values: ascending, and never beyond it.
inline void check_offsets(const Array1<const int64_t>& offsets, size_t size) {
    if (offsets.size() == 0) throw std::invalid_argument("offsets hold at least one number");
    int64_t before = 0;
    for (size_t part = 0; part < offsets.size(); ++part) {
        if (offsets(part) < before || offsets(part) > static_cast<int64_t>(size))
            throw std::invalid_argument("offsets ascend from 0 to the number of values");
        before = offsets(part);
    }
}

// Indices of `size` values.
template <typename T>
void check_indices(const T* indices, size_t count, size_t size, const char* message) {
    bool inside = true;
    for (size_t place = 0; place < count; ++place)
        inside &= indices[place] >= 0 && static_cast<size_t>(indices[place]) < size;
    if (!inside) throw std::invalid_argument(message);
}

// A condition on an argument.
inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

}  // namespace headwise
