// Rows of the vectors that words are composed of, and their means: for
// headwise.text.static_embeddings.word_groups and headwise.nn.embeddings.base_embedding.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

using Buckets = std::tuple<Result<int32_t>, Result<int64_t>>;

std::array<uint32_t, 256> crc_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xEDB88320u : 0);
        table[byte] = remainder;
    }
    return table;
}

// The hash buckets (CRC-32 of UTF-8) of the character n-grams, n from `least` to `most`, of words, which
// stand one after the other with their boundary marks; of a shorter word, the bucket of all of it.
Buckets ngram_buckets(Array1<const uint32_t> codes, Array1<const int64_t> ends, int least, int most,
                      uint32_t buckets) {
    check_offsets(ends, codes.size());
    if (least < 1 || most < least || buckets == 0) throw std::invalid_argument("lengths ascend from 1");
    static const std::array<uint32_t, 256> table = crc_table();
    std::vector<int32_t> rows;
    std::vector<int64_t> bounds(ends.size(), 0);
    rows.reserve(3 * codes.size());
    for (size_t word = 0; word + 1 < ends.size(); ++word) {
        const uint32_t* letters = codes.data() + ends(word);
        const int64_t size = ends(word + 1) - ends(word);
        const auto add = [&](int64_t start, int64_t length) {
            uint32_t crc = 0xFFFFFFFF;
            const auto take = [&](uint32_t byte) { crc = table[(crc ^ byte) & 255] ^ crc >> 8; };
            for (int64_t place = start; place < start + length; ++place) {
                const uint32_t code = letters[place];
                if (code < 0x80) {
                    take(code);
                    continue;
                }
                if (code < 0x800) {
                    take(0xC0 | code >> 6);
                } else {
                    if (code < 0x10000) {
                        take(0xE0 | code >> 12);
                    } else {
                        take(0xF0 | code >> 18);
                        take(0x80 | (code >> 12 & 63));
                    }
                    take(0x80 | (code >> 6 & 63));
                }
                take(0x80 | (code & 63));
            }
            rows.push_back(static_cast<int32_t>((crc ^ 0xFFFFFFFF) % buckets));
        };
        for (int length = least; length <= most; ++length)
            for (int64_t start = 0; start + length <= size; ++start) add(start, length);
        if (size < least) add(0, size);
        bounds[word + 1] = static_cast<int64_t>(rows.size());
    }
    return {to_numpy(std::move(rows)), to_numpy(std::move(bounds))};
}

HEADWISE_VECTORS
void add_means(const int8_t* values, const float* scales, const int32_t* rows, const int64_t* ends,
               size_t words, size_t size, float* means) {
    for (size_t word = 0; word < words; ++word) {
        float* mean = means + word * size;
        const float share = 1.0f / static_cast<float>(std::max<int64_t>(ends[word + 1] - ends[word], 1));
        for (int64_t place = ends[word]; place < ends[word + 1]; ++place) {
            const int8_t* row = values + rows[place] * size;
            const float factor = scales[rows[place]] * share;
            for (size_t feature = 0; feature < size; ++feature) mean[feature] += factor * row[feature];
        }
    }
}

// The means of rows of an 8-bit table, `[words, size]`; the rows of each word begin at its offset.
Result<float> mean_vectors(Array2<const int8_t> values, Array1<const float> scales,
                           Array1<const int32_t> rows, Array1<const int64_t> ends) {
    check_offsets(ends, rows.size());
    if (scales.size() != values.shape(0)) throw std::invalid_argument("each row has one scale");
    check_indices(rows.data(), rows.size(), scales.size(), "a row beyond the table");
    const size_t words = ends.size() - 1, size = values.shape(1);
    std::vector<float> means(words * size, 0);
    {
        nb::gil_scoped_release release;
        add_means(values.data(), scales.data(), rows.data(), ends.data(), words, size, means.data());
    }
    return to_numpy(std::move(means), {words, size});
}

}  // namespace

void bind_word_vectors(nb::module_& module) {
    module.def("ngram_buckets", &ngram_buckets, array("codes"), array("ends"), nb::arg("least"),
               nb::arg("most"), nb::arg("buckets"));
    module.def("mean_vectors", &mean_vectors, array("values"), array("scales"), array("rows"),
               array("ends"));
}

}  // namespace headwise
