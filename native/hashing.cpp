// The kernels of headwise.core.hashing, which documents them.
#include "hashing.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

using Codes = Array1<const uint32_t>;
using Ends = Array1<const int64_t>;
using Hashes = std::tuple<Result<uint32_t>, Result<int64_t>>;
using Counts = std::tuple<Result<int32_t>, Result<int32_t>, Result<int64_t>>;

// Appends the hashes of words and of their pairs, word by word.
class PairHashes {
  public:
    PairHashes(int reach, bool edges, std::vector<uint32_t>& hashes)
        : reach_(reach), edges_(edges), before_(std::max(reach, 1)), hashes_(hashes) {}

    void begin_text() {
        std::fill(before_.begin(), before_.end(), 0);
        if (edges_) before_[0] = kBegin;
    }

    void add(uint64_t word) {
        hashes_.push_back(static_cast<uint32_t>(word >> 32));
        for (int gap = 0; gap < reach_; ++gap)
            if (before_[gap] != 0) hashes_.push_back(pair_hash(before_[gap], word, gap == 0));
        for (int gap = reach_ - 1; gap > 0; --gap) before_[gap] = before_[gap - 1];
        before_[0] = word;
    }

    void end_text() {
        for (int gap = 0; edges_ && gap < reach_; ++gap)
            if (before_[gap] != 0 && before_[gap] != kBegin)
                hashes_.push_back(pair_hash(before_[gap], kEnd, gap == 0));
    }

  private:
    int reach_;
    bool edges_;
    std::vector<uint64_t> before_;  // the previous words, the last one first; 0 is none
    std::vector<uint32_t>& hashes_;
};

Result<uint64_t> word_states(Codes codes, Ends ends) {
    check_offsets(ends, codes.size());
    std::vector<uint64_t> states;
    states.reserve(ends.size());
    for (size_t word = 0; word + 1 < ends.size(); ++word) {
        uint64_t state = kFirst;
        for (int64_t place = ends(word); place < ends(word + 1); ++place)
            state = add_character(state, codes(place));
        states.push_back(mix(state));
    }
    return to_numpy(std::move(states));
}

Hashes read_hashes(Array1<const uint64_t> states, Array1<const int32_t> words, Ends ends, int reach,
                   bool edges) {
    check_offsets(ends, words.size());
    if (reach < 0) throw std::invalid_argument("reach is 0 or more");
    std::vector<uint32_t> hashes;
    std::vector<int64_t> bounds(ends.size(), 0);
    hashes.reserve((reach + 1) * words.size() + 16);
    {
        nb::gil_scoped_release release;
        PairHashes pairs(reach, edges, hashes);
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            pairs.begin_text();
            for (int64_t place = ends(text); place < ends(text + 1); ++place) {
                if (static_cast<size_t>(words(place)) >= states.size())
                    throw std::invalid_argument("a word without a state");
                pairs.add(states(words(place)));
            }
            pairs.end_text();
            bounds[text + 1] = static_cast<int64_t>(hashes.size());
        }
    }
    return {to_numpy(std::move(hashes)), to_numpy(std::move(bounds))};
}

Hashes word_hashes(Codes codes, Ends ends, int reach, bool edges) {
    check_offsets(ends, codes.size());
    if (reach < 0) throw std::invalid_argument("reach is 0 or more");
    std::vector<uint32_t> hashes;
    std::vector<int64_t> bounds(ends.size(), 0);
    {
        nb::gil_scoped_release release;
        hashes.reserve((reach + 1) * codes.size() / 4 + 16);
        PairHashes pairs(reach, edges, hashes);
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            pairs.begin_text();
            uint64_t word = kFirst;
            bool empty = true;
            for (int64_t position = ends(text); position <= ends(text + 1); ++position) {
                if (position < ends(text + 1) && codes(position) != kSeparator) {
                    word = add_character(word, codes(position));
                    empty = false;
                } else if (!empty) {
                    pairs.add(mix(word));
                    word = kFirst;
                    empty = true;
                }
            }
            pairs.end_text();
            bounds[text + 1] = static_cast<int64_t>(hashes.size());
        }
    }
    return {to_numpy(std::move(hashes)), to_numpy(std::move(bounds))};
}

Hashes character_hashes(Codes codes, Ends ends, int least, int most) {
    check_offsets(ends, codes.size());
    if (least < 1 || most < least) throw std::invalid_argument("lengths of n-grams ascend from 1");
    std::vector<uint32_t> hashes;
    std::vector<int64_t> bounds(ends.size(), 0);
    {
        nb::gil_scoped_release release;
        hashes.reserve(codes.size() * (most - least + 1) + 16);
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            for_each_run(codes.data(), ends(text), ends(text + 1), least, most,
                         [&](uint32_t hash) { hashes.push_back(hash); });
            bounds[text + 1] = static_cast<int64_t>(hashes.size());
        }
    }
    return {to_numpy(std::move(hashes)), to_numpy(std::move(bounds))};
}

Result<uint64_t> table_of(Array1<const uint32_t> keys, size_t capacity) {
    check_slots(capacity);
    if (capacity <= keys.size()) throw std::invalid_argument("the capacity exceeds the number of keys");
    std::vector<uint64_t> slots(capacity, 0);
    {
        nb::gil_scoped_release release;
        for (size_t number = 0; number < keys.size(); ++number)
            slots[find_slot(keys(number), slots.data(), capacity)] =
                static_cast<uint64_t>(keys(number)) << 32 | (number + 1);
    }
    return to_numpy(std::move(slots));
}

Counts count_features(Array1<const uint32_t> hashes, Ends bounds, Array1<const uint64_t> slots,
                      int64_t size) {
    check_offsets(bounds, hashes.size());
    check_slots(slots.size());
    std::vector<int32_t> features, counts;
    std::vector<int64_t> ends(bounds.size(), 0);
    {
        nb::gil_scoped_release release;
        std::vector<int64_t> last(size, -1);  // where a feature was counted last
        for (size_t text = 0; text + 1 < bounds.size(); ++text) {
            for (int64_t position = bounds(text); position < bounds(text + 1); ++position) {
                const uint64_t entry = slots(find_slot(hashes(position), slots.data(), slots.size()));
                if (entry == 0) continue;
                const int64_t feature = static_cast<int64_t>(entry & 0xFFFFFFFF) - 1;
                if (feature >= size) throw std::invalid_argument("the table has more keys than features");
                if (last[feature] >= ends[text]) {
                    ++counts[last[feature]];
                } else {
                    last[feature] = static_cast<int64_t>(features.size());
                    features.push_back(static_cast<int32_t>(feature));
                    counts.push_back(1);
                }
            }
            ends[text + 1] = static_cast<int64_t>(features.size());
        }
    }
    return {to_numpy(std::move(features)), to_numpy(std::move(counts)), to_numpy(std::move(ends))};
}

std::tuple<size_t, size_t> add_keys(Array1<const uint32_t> hashes, size_t start, Array1<uint64_t> slots,
                                    Array1<uint32_t> keys, size_t count) {
    check_slots(slots.size());
    nb::gil_scoped_release release;
    const size_t most = std::min(slots.size() / 2, keys.size());
    size_t position = start;
    for (; position < hashes.size(); ++position) {
        const uint32_t key = hashes(position);
        const uint64_t place = find_slot(key, slots.data(), slots.size());
        if (slots(place) != 0) continue;
        if (count >= most) break;
        keys(count++) = key;
        slots(place) = static_cast<uint64_t>(key) << 32 | count;
    }
    return {position, count};
}

std::tuple<int64_t, Result<int64_t>> keep_features(Array1<int32_t> features, Array1<int32_t> counts,
                                                   Ends ends, Array1<const int32_t> renumbered) {
    check_offsets(ends, std::min(features.size(), counts.size()));
    std::vector<int64_t> bounds(ends.size(), 0);
    int64_t place = 0;
    for (size_t text = 0; text + 1 < ends.size(); ++text) {
        for (int64_t position = ends(text); position < ends(text + 1); ++position) {
            const int32_t old = features(position);
            if (old < 0 || static_cast<size_t>(old) >= renumbered.size())
                throw std::invalid_argument("a feature has no new number");
            const int32_t feature = renumbered(old);
            if (feature >= 0) {
                features(place) = feature;
                counts(place++) = counts(position);
            }
        }
        bounds[text + 1] = place;
    }
    return {place, to_numpy(std::move(bounds))};
}

Result<float> tfidf_values(Array1<const int32_t> features, Array1<const int32_t> counts, Ends ends,
                           Array1<const float> idf) {
    check_offsets(ends, std::min(features.size(), counts.size()));
    std::vector<float> values(features.size());
    {
        nb::gil_scoped_release release;
        std::vector<double> logarithms(1024);
        for (size_t count = 0; count < logarithms.size(); ++count)
            logarithms[count] = std::log(static_cast<double>(count + 1)) + 1;
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            double total = 0;
            for (int64_t position = ends(text); position < ends(text + 1); ++position) {
                const int32_t count = counts(position), feature = features(position);
                if (feature < 0 || static_cast<size_t>(feature) >= idf.size() || count < 1)
                    throw std::invalid_argument("a feature without weight, or a count below 1");
                const double often =
                    count <= 1024 ? logarithms[count - 1] : std::log(static_cast<double>(count)) + 1;
                const double value = often * idf(feature);
                values[position] = static_cast<float>(value);
                total += value * value;
            }
            const double scale = total > 0 ? 1 / std::sqrt(total) : 0;
            for (int64_t position = ends(text); position < ends(text + 1); ++position)
                values[position] = static_cast<float>(values[position] * scale);
        }
    }
    return to_numpy(std::move(values));
}

}  // namespace

void bind_hashing(nb::module_& module) {
    module.def("word_hashes", &word_hashes, array("codes"), array("ends"), nb::arg("reach"),
               nb::arg("edges"));
    module.def("word_states", &word_states, array("codes"), array("ends"));
    module.def("read_hashes", &read_hashes, array("states"), array("words"), array("ends"),
               nb::arg("reach"), nb::arg("edges"));
    module.def("character_hashes", &character_hashes, array("codes"), array("ends"), nb::arg("least"),
               nb::arg("most"));
    module.def("table_of", &table_of, array("keys"), nb::arg("capacity"));
    module.def("count_features", &count_features, array("hashes"), array("bounds"), array("slots"),
               nb::arg("size"));
    module.def("add_keys", &add_keys, array("hashes"), nb::arg("start"), array("slots"), array("keys"),
               nb::arg("count"));
    module.def("keep_features", &keep_features, array("features"), array("counts"), array("ends"),
               array("renumbered"));
    module.def("tfidf_values", &tfidf_values, array("features"), array("counts"), array("ends"),
               array("idf"));
}

}  // namespace headwise
