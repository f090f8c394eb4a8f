// The kernels of headwise.linear.tag_crf, which documents the features.
#include <algorithm>
#include <vector>

#include "arrays.h"
#include "hashing.h"
#include "module.h"

namespace headwise {
namespace {

constexpr int64_t kFarthest = 1000;  // words

// recipe: for each feature the parts of its template, an offset in words and an attribute each; an
// attribute below 0 ends the template.
Result<uint32_t> combine_attributes(Array1<const int64_t> words, Array1<const int64_t> ends,
                                    Array2<const uint32_t> table, Array3<const int64_t> recipe) {
    const size_t features = recipe.shape(0), parts = recipe.shape(1), attributes = table.shape(1);
    check_offsets(ends, words.size());
    require(static_cast<size_t>(ends(ends.size() - 1)) == words.size(), "each word is in a sentence");
    require(ends(0) == 0, "each word is in a sentence");
    require(table.shape(0) >= 2, "the table begins with the words before and behind a sentence");
    require(recipe.shape(2) == 2, "a part is an offset and an attribute");
    check_indices(words.data(), words.size(), table.shape(0), "an index beyond the words");
    for (size_t part = 0; part < features * parts; ++part) {
        const int64_t offset = recipe.data()[2 * part], attribute = recipe.data()[2 * part + 1];
        require(attribute < static_cast<int64_t>(attributes), "an index beyond the attributes");
        require(-kFarthest <= offset && offset <= kFarthest, "an offset of very many words");
    }
    std::vector<uint32_t> hashes(words.size() * features);
    {
        nb::gil_scoped_release release;
        uint32_t* hash = hashes.data();
        for (size_t sentence = 0; sentence + 1 < ends.size(); ++sentence) {
            const int64_t start = ends(sentence), end = ends(sentence + 1);
            for (int64_t place = start; place < end; ++place)
                for (size_t feature = 0; feature < features; ++feature) {
                    uint64_t number = (feature + 1) * kFirst;
                    for (size_t part = 0; part < parts; ++part) {
                        const int64_t at = place + recipe(feature, part, 0);
                        const int64_t attribute = recipe(feature, part, 1);
                        if (attribute < 0) break;
                        const int64_t word = at < start ? 0 : at >= end ? 1 : words(at);
                        number = (number ^ table(word, attribute)) * kSecond;
                        number ^= number >> 31;
                    }
                    *hash++ = static_cast<uint32_t>((number * kFirst) >> 32);
                }
        }
    }
    return to_numpy(std::move(hashes), {words.size(), features});
}

Result<int32_t> find_features(Array2<const uint32_t> features, Array1<const uint64_t> slots) {
    const size_t size = slots.size();
    check_slots(size);
    require(std::find(slots.data(), slots.data() + size, 0u) != slots.data() + size,
            "a table has a free slot");
    std::vector<int32_t> places(features.size());
    {
        nb::gil_scoped_release release;
        for (size_t place = 0; place < features.size(); ++place) {
            const uint64_t entry = slots(find_slot(features.data()[place], slots.data(), size));
            places[place] = static_cast<int32_t>(static_cast<int64_t>(entry & 0xFFFFFFFF) - 1);
        }
    }
    return to_numpy(std::move(places), {features.shape(0), features.shape(1)});
}

}  // namespace

void bind_tag_features(nb::module_& module) {
    module.def("combine_attributes", &combine_attributes, array("words"), array("ends"), array("table"),
               array("recipe"));
    module.def("find_features", &find_features, array("features"), array("slots"));
}

}  // namespace headwise
