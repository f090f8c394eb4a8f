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

// Texts with trigrams, and their signatures by band.
struct Signed {
    Hashes trigrams;
    Ends ends;
    Array2<const uint64_t> signatures;

    void check() const {
        check_offsets(ends, trigrams.size());
        require(signatures.shape(0) == ends.size() - 1, "one signature per text");
    }
    const uint64_t* begin(int64_t text) const { return trigrams.data() + ends(text); }
    const uint64_t* end(int64_t text) const { return trigrams.data() + ends(text + 1); }

    // The texts that have trigrams.
    std::vector<int64_t> texts() const {
        std::vector<int64_t> order;
        for (size_t text = 0; text + 1 < ends.size(); ++text)
            if (ends(text + 1) > ends(text)) order.push_back(static_cast<int64_t>(text));
        return order;
    }

    // Sorts texts by their buckets in a band, those of a bucket by their numbers.
    void sort(std::vector<int64_t>& order, size_t band) const {
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return std::make_pair(signatures(a, band), a) < std::make_pair(signatures(b, band), b);
        });
    }
};

double similarity_of(const Signed& first, int64_t a, const Signed& second, int64_t b) {
    return similarity_of(first.begin(a), first.end(a), second.begin(b), second.end(b));
}

// Pairs of texts that agree in a band and whose trigrams are similar enough, sorted, `[pairs, 2]`. In a
// bucket, a text is compared with the first `most` texts. Candidates are compared band by band, as all of
// them may be more than fit into memory.
Result<int64_t> similar_pairs(Hashes trigrams, Ends ends, Array2<const uint64_t> signatures, int64_t most,
                              double least) {
    const Signed texts{trigrams, ends, signatures};
    texts.check();
    require(most > 0, "a text is compared with one or more");
    std::vector<std::pair<int64_t, int64_t>> pairs;
    std::vector<int64_t> similar;
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> order = texts.texts();
        for (size_t band = 0; band < signatures.shape(1); ++band) {
            texts.sort(order, band);
            const auto bucket = [&](size_t place) { return signatures(order[place], band); };
            for (size_t begin = 0, place = 0; place < order.size(); ++place) {
                if (bucket(place) != bucket(begin)) begin = place;
                const size_t end = std::min(place, begin + most);
                for (size_t before = begin; before < end; ++before)
                    if (similarity_of(texts, order[before], texts, order[place]) >= least)
                        pairs.emplace_back(order[before], order[place]);
            }
            std::sort(pairs.begin(), pairs.end());
            pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        }
        for (const auto& [first, second] : pairs) {
            similar.push_back(first);
            similar.push_back(second);
        }
    }
    const size_t count = similar.size() / 2;
    return to_numpy(std::move(similar), {count, 2});
}

// Whether each text agrees with one of some others in a band, and has similar enough trigrams. In a bucket,
// a text is compared with the first `most` others.
Result<uint8_t> has_similar(Hashes trigrams, Ends ends, Array2<const uint64_t> signatures,
                            Hashes other_trigrams, Ends other_ends, Array2<const uint64_t> other_signatures,
                            int64_t most, double least) {
    const Signed texts{trigrams, ends, signatures};
    const Signed others{other_trigrams, other_ends, other_signatures};
    texts.check();
    others.check();
    require(signatures.shape(1) == other_signatures.shape(1), "as many bands of each text");
    require(most > 0, "a text is compared with one or more");
    std::vector<uint8_t> similar(ends.size() - 1);
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> left = texts.texts(), order = others.texts();
        for (size_t band = 0; band < signatures.shape(1); ++band) {
            others.sort(order, band);
            for (const int64_t text : left) {
                const uint64_t bucket = signatures(text, band);
                auto place = std::lower_bound(
                    order.begin(), order.end(), bucket,
                    [&](int64_t other, uint64_t b) { return other_signatures(other, band) < b; });
                for (int64_t count = 0; count < most && place != order.end(); ++count, ++place) {
                    if (other_signatures(*place, band) != bucket) break;
                    if (similarity_of(texts, text, others, *place) < least) continue;
                    similar[text] = 1;
                    break;
                }
            }
            left.erase(
                std::remove_if(left.begin(), left.end(), [&](int64_t text) { return similar[text]; }),
                left.end());
        }
    }
    return to_numpy(std::move(similar));
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
    module.def("has_similar", &has_similar, array("trigrams"), array("ends"), array("signatures"),
               array("other_trigrams"), array("other_ends"), array("other_signatures"), nb::arg("most"),
               nb::arg("least"));
}

}  // namespace headwise
