// Splits a sparse matrix for headwise.linear.split_features.
#include <algorithm>

#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

// The features that several texts have, and the matrix of these alone, with new numbers; then text, feature
// and value of each entry whose feature no other entry has.
auto split_unshared(Array1<const int64_t> indptr, Array1<const int32_t> indices, Array1<const float> values,
                    size_t features) {
    check_offsets(indptr, std::min(indices.size(), values.size()));
    check_indices(indices.data(), indices.size(), features, "an index beyond the features");
    const size_t texts = indptr.size() - 1;
    std::vector<int64_t> shared, ends{0}, owners;
    std::vector<int32_t> numbers(features, -1), new_indices, places;
    std::vector<float> new_values, alone;
    {
        nb::gil_scoped_release release;
        std::vector<uint8_t> counts(features, 0);  // 2 stands for more
        for (int64_t at = indptr(0); at < indptr(texts); ++at) {
            uint8_t& count = counts[static_cast<size_t>(indices.data()[at])];
            count = static_cast<uint8_t>(std::min(count + 1, 2));
        }
        for (size_t feature = 0; feature < features; ++feature)
            if (counts[feature] == 2) {
                numbers[feature] = static_cast<int32_t>(shared.size());
                shared.push_back(static_cast<int64_t>(feature));
            }
        ends.reserve(texts + 1);
        new_indices.reserve(indices.size());
        new_values.reserve(indices.size());
        for (size_t text = 0; text < texts; ++text) {
            for (int64_t at = indptr(text); at < indptr(text + 1); ++at) {
                const int32_t feature = indices.data()[at], number = numbers[static_cast<size_t>(feature)];
                if (number >= 0) {
                    new_indices.push_back(number);
                    new_values.push_back(values.data()[at]);
                } else {
                    owners.push_back(static_cast<int64_t>(text));
                    places.push_back(feature);
                    alone.push_back(values.data()[at]);
                }
            }
            ends.push_back(static_cast<int64_t>(new_indices.size()));
        }
    }
    return nb::make_tuple(to_numpy(std::move(shared)), to_numpy(std::move(ends)),
                          to_numpy(std::move(new_indices)), to_numpy(std::move(new_values)),
                          to_numpy(std::move(owners)), to_numpy(std::move(places)),
                          to_numpy(std::move(alone)));
}

}  // namespace

void bind_split_features(nb::module_& module) {
    module.def("split_unshared", &split_unshared, array("indptr"), array("indices"), array("values"),
               nb::arg("features"));
}

}  // namespace headwise
