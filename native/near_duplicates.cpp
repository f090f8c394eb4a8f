// The kernels of headwise.data.splits.duplicates, which documents the method.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

using Hashes = Array1<const uint64_t>;
using Ends = Array1<const int64_t>;

// The distinct trigrams of each text of `least` words or more, sorted, and their offsets.
std::tuple<Result<uint64_t>, Result<int64_t>> trigram_hashes(Array1<const uint32_t> words, Ends ends,
                                                             Hashes factors, int64_t least) {
    check_offsets(ends, words.size());
    require(factors.size() > 0 && least >= static_cast<int64_t>(factors.size()),
            "a text has one n-gram or more");
    std::vector<uint64_t> hashes;
    std::vector<int64_t> bounds(ends.size(), 0);
    {
        nb::gil_scoped_release release;
        const int64_t size = static_cast<int64_t>(factors.size());
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            const int64_t first = static_cast<int64_t>(hashes.size());
            if (ends(text + 1) - ends(text) >= least)
                for (int64_t place = ends(text); place + size <= ends(text + 1); ++place) {
                    uint64_t hash = 0;
                    for (int64_t word = 0; word < size; ++word) hash += words(place + word) * factors(word);
                    hashes.push_back(hash);
                }
            std::sort(hashes.begin() + first, hashes.end());
            hashes.erase(std::unique(hashes.begin() + first, hashes.end()), hashes.end());
            bounds[text + 1] = static_cast<int64_t>(hashes.size());
        }
    }
    return {to_numpy(std::move(hashes)), to_numpy(std::move(bounds))};
}

// least[h] = the least of factors[h] * trigram + offsets[h] over the trigrams of a text.
HEADWISE_VECTORS void least_hashes(const uint64_t* trigrams, int64_t count, const Hashes& factors,
                                   const Hashes& offsets, uint64_t* least) {
    const size_t size = factors.size();
    const uint64_t *factor = factors.data(), *offset = offsets.data();
    std::fill(least, least + size, std::numeric_limits<uint64_t>::max());
    for (int64_t place = 0; place < count; ++place)
        for (size_t h = 0; h < size; ++h)
            least[h] = std::min(least[h], trigrams[place] * factor[h] + offset[h]);
}

Result<uint64_t> minhash_bands(Hashes trigrams, Ends ends, Hashes factors, Hashes offsets,
                               Hashes band_factors) {
    check_offsets(ends, trigrams.size());
    const size_t rows = band_factors.size(), texts = ends.size() - 1;
    require(offsets.size() == factors.size(), "one offset per factor");
    require(rows > 0 && factors.size() % rows == 0, "bands of as many hashes each");
    const size_t bands = factors.size() / rows;
    std::vector<uint64_t> signatures(texts * bands);
    {
        nb::gil_scoped_release release;
        std::vector<uint64_t> least(factors.size());
        for (size_t text = 0; text < texts; ++text) {
            least_hashes(trigrams.data() + ends(text), ends(text + 1) - ends(text), factors, offsets,
                         least.data());
            for (size_t band = 0; band < bands; ++band)
                for (size_t row = 0; row < rows; ++row)
                    signatures[text * bands + band] += least[band * rows + row] * band_factors(row);
        }
    }
    return to_numpy(std::move(signatures), {texts, bands});
}

// The Jaccard similarity of two sorted sets.
double similarity_of(const uint64_t* first, const uint64_t* first_end, const uint64_t* second,
                     const uint64_t* second_end) {
    const int64_t total = (first_end - first) + (second_end - second);
    int64_t both = 0;
    while (first != first_end && second != second_end) {
        const uint64_t a = *first, b = *second;
        both += a == b;
        first += a <= b;
        second += b <= a;
    }
    return total == 0 ? 0 : static_cast<double>(both) / static_cast<double>(total - both);
}

double jaccard(Hashes first, Hashes second) {
    nb::gil_scoped_release release;
    return similarity_of(first.data(), first.data() + first.size(), second.data(),
                         second.data() + second.size());
}

// Pairs of texts that agree in a band and whose trigrams are similar enough, sorted, `[pairs, 2]`. In a
// bucket, a text is compared with the first `most` texts.
Result<int64_t> similar_pairs(Hashes trigrams, Ends ends, Array2<const uint64_t> signatures, int64_t most,
                              double least) {
    using Pair = std::pair<int64_t, int64_t>;
    check_offsets(ends, trigrams.size());
    const size_t texts = ends.size() - 1, bands = signatures.shape(1);
    require(signatures.shape(0) == texts, "one signature per text");
    require(most > 0, "a text is compared with one or more");
    std::vector<int64_t> similar;
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> order;
        for (size_t text = 0; text < texts; ++text)
            if (ends(text + 1) > ends(text)) order.push_back(static_cast<int64_t>(text));
        std::vector<Pair> pairs;
        for (size_t band = 0; band < bands; ++band) {
            const auto bucket = [&](int64_t text) { return signatures(text, band); };
            std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                return std::make_pair(bucket(a), a) < std::make_pair(bucket(b), b);
            });
            for (size_t begin = 0, place = 0; place < order.size(); ++place) {
                if (bucket(order[place]) != bucket(order[begin])) begin = place;
                const size_t end = std::min(place, begin + most);
                for (size_t before = begin; before < end; ++before)
                    pairs.emplace_back(order[before], order[place]);
            }
        }
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        const uint64_t* values = trigrams.data();
        for (const auto& [first, second] : pairs)
            if (similarity_of(values + ends(first), values + ends(first + 1), values + ends(second),
                              values + ends(second + 1)) >= least) {
                similar.push_back(first);
                similar.push_back(second);
            }
    }
    const size_t count = similar.size() / 2;
    return to_numpy(std::move(similar), {count, 2});
}

}  // namespace

void bind_near_duplicates(nb::module_& module) {
    module.def("trigram_hashes", &trigram_hashes, array("words"), array("ends"), array("factors"),
               nb::arg("least"));
    module.def("minhash_bands", &minhash_bands, array("trigrams"), array("ends"), array("factors"),
               array("offsets"), array("band_factors"));
    module.def("jaccard", &jaccard, array("first"), array("second"));
    module.def("similar_pairs", &similar_pairs, array("trigrams"), array("ends"), array("signatures"),
               nb::arg("most"), nb::arg("least"));
}

}  // namespace headwise
