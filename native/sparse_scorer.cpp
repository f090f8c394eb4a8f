// The kernels of headwise.linear.linear_model, which documents them: the word, pair and character features
// of texts, weighted by TF-IDF, times the weights of a linear model, without a matrix in between.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "hashing.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

using Codes = Array1<const uint32_t>;
using Ends = Array1<const int64_t>;

// The features of one block: their hash table, their IDF, and the rows of their weights. They are in the
// order of their spread, so that frequent ones share cache lines.
struct Block {
    struct Feature {
        float idf = 0, weight = 0;  // the weight of the one column, if there is one
        int32_t row = 0;
    };
    std::vector<uint64_t> slots;
    std::vector<uint64_t> filter;  // a bit for the first bits of each key: most other keys end there
    std::vector<Feature> features;
    std::vector<uint32_t> counts;  // in the current text
    std::vector<float> values;     // in the first text of the current pair; empty unless pairs are scored

    static constexpr int kFilterBits = 20;

    // `rows` are the weights, `[features, columns]`; `first_row` is the block's first.
    Block(Array1<const uint32_t> keys, Array1<const float> idf, const float* rows, size_t columns,
          size_t first_row, bool pairs)
        : filter((1 << kFilterBits) / 64, 0),
          features(keys.size()),
          counts(keys.size(), 0),
          values(pairs ? keys.size() : 0, 0) {
        const size_t size = keys.size();
        if (idf.size() != size) throw std::invalid_argument("each feature has one IDF");
        std::vector<uint32_t> order(size);
        for (size_t place = 0; place < size; ++place) order[place] = static_cast<uint32_t>(place);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return idf(a) < idf(b); });
        size_t capacity = 4;
        while (capacity < 2 * size) capacity *= 2;
        slots.assign(capacity, 0);
        for (size_t place = 0; place < size; ++place) {
            const uint32_t old = order[place];
            features[place].idf = idf(old);
            features[place].row = static_cast<int32_t>(first_row + old);
            if (columns == 1 && !pairs) features[place].weight = rows[first_row + old];
            const uint32_t key = keys(old), bit = key >> (32 - kFilterBits);
            filter[bit / 64] |= uint64_t{1} << bit % 64;
            slots[find_slot(key, slots.data(), capacity)] = static_cast<uint64_t>(key) << 32 | (place + 1);
        }
    }

    bool may_have(uint32_t key) const {
        const uint32_t bit = key >> (32 - kFilterBits);
        return filter[bit / 64] >> bit % 64 & 1;
    }

    // The index of a feature; -1 for an unknown one.
    int32_t find(uint32_t key) const {
        if (!may_have(key)) return -1;
        const uint64_t entry = slots[find_slot(key, slots.data(), slots.size())];
        return static_cast<int32_t>(entry & 0xFFFFFFFF) - 1;
    }
};

// A feature of a text: its row of weights, and its value.
struct RowValue {
    size_t row;
    double value;
};

// The sums stay in registers.
template <size_t kColumns>
inline void add_few(const RowValue* features, size_t count, const float* weights, double* sums) {
    double totals[kColumns] = {};
    for (size_t place = 0; place < count; ++place) {
        const float* row = weights + features[place].row * kColumns;
        for (size_t column = 0; column < kColumns; ++column)
            totals[column] += features[place].value * row[column];
    }
    for (size_t column = 0; column < kColumns; ++column) sums[column] = totals[column];
}

// The products of the features of a text with their weights, `[columns]`, in 64 bits: large ones of both
// signs may cancel.
HEADWISE_VECTORS void sum_rows(const RowValue* features, size_t count, const float* weights, double* sums,
                               size_t columns) {
    switch (columns) {
        case 2:
            return add_few<2>(features, count, weights, sums);
        case 3:
            return add_few<3>(features, count, weights, sums);
        case 4:
            return add_few<4>(features, count, weights, sums);
        case 5:
            return add_few<5>(features, count, weights, sums);
        case 6:
            return add_few<6>(features, count, weights, sums);
        case 7:
            return add_few<7>(features, count, weights, sums);
        case 8:
            return add_few<8>(features, count, weights, sums);
        default:
            break;
    }
    std::fill(sums, sums + columns, 0.0);
    for (size_t place = 0; place < count; ++place) {
        const float* row = weights + features[place].row * columns;
        const double value = features[place].value;
        for (size_t column = 0; column < columns; ++column) sums[column] += value * row[column];
    }
}

// Rows of weights of each feature of pairs: of what both texts have, the first has more of, the second has
// more of, and the second has. Block after block, group after group (headwise.linear.pair_features).
constexpr size_t kGroups = 4;

class SparseScorer {
  public:
    SparseScorer(Array1<const uint32_t> word_keys, Array1<const float> word_idf,
                 Array1<const uint32_t> run_keys, Array1<const float> run_idf, Array2<const float> weights,
                 int reach, bool edges, int least, int most, bool pairs)
        : columns_(weights.shape(1)),
          weights_(weights.data(), weights.data() + weights.size()),
          groups_(pairs ? kGroups : 1),
          words_(word_keys, word_idf, checked(weights, word_keys, run_keys, groups_), columns_, 0, pairs),
          runs_(run_keys, run_idf, weights_.data(), columns_, groups_ * word_keys.size(), pairs),
          reach_(reach),
          edges_(edges),
          least_(least),
          most_(most),
          run_offsets_{0},
          logarithms_(1024),
          products_(columns_) {
        if (reach < 1 || least < 1 || most < least) throw std::invalid_argument("a length below 1");
        for (size_t count = 0; count < logarithms_.size(); ++count)
            logarithms_[count] = std::log(static_cast<double>(count + 1)) + 1;
    }

    void add_tokens(Codes codes, Ends ends) {
        check_offsets(ends, codes.size());
        for (size_t token = 0; token + 1 < ends.size(); ++token) {
            uint64_t state = kFirst;
            for (int64_t place = ends(token); place < ends(token + 1); ++place)
                state = add_character(state, codes(place));
            states_.push_back(mix(state));
            token_features_.push_back(words_.find(static_cast<uint32_t>(states_.back() >> 32)));
        }
    }

    void add_pieces(Codes codes, Ends ends) {
        check_offsets(ends, codes.size());
        for (size_t piece = 0; piece + 1 < ends.size(); ++piece) {
            for_each_run(codes.data(), ends(piece), ends(piece + 1), least_, most_, [&](uint32_t hash) {
                const int32_t feature = runs_.find(hash);
                if (feature >= 0) run_features_.push_back(feature);
            });
            run_offsets_.push_back(static_cast<int64_t>(run_features_.size()));
        }
        piece_counts_.resize(run_offsets_.size(), 0);
    }

    // Forgets the tokens and the pieces.
    void clear() {
        states_.clear();
        token_features_.clear();
        run_features_.clear();
        run_offsets_.assign(1, 0);
    }

    // Of texts, `[texts, columns]`.
    Result<double> scores(Array1<const int32_t> tokens, Ends token_ends, Array1<const int32_t> pieces,
                          Ends piece_ends) {
        const ReadTexts read{tokens, token_ends, pieces, piece_ends};
        check(read);
        require(groups_ == 1, "a scorer of pairs");
        const size_t texts = token_ends.size() - 1;
        std::vector<double> scores(texts * columns_, 0);
        for (size_t text = 0; text < texts; ++text)
            for (Block* block : {&words_, &runs_}) {
                if (block->features.empty()) continue;
                count_text(*block, read, text);
                add_products(*block, scores.data() + text * columns_);
            }
        return to_numpy(std::move(scores), {texts, columns_});
    }

    // Of pairs, `[pairs, columns]`: the first texts of all, then the second texts.
    Result<double> pair_scores(Array1<const int32_t> tokens, Ends token_ends, Array1<const int32_t> pieces,
                               Ends piece_ends) {
        const ReadTexts read{tokens, token_ends, pieces, piece_ends};
        check(read);
        require(groups_ == kGroups, "a scorer of single texts");
        const size_t texts = token_ends.size() - 1, pairs = texts / 2;
        require(texts % 2 == 0, "each text has a partner");
        std::vector<double> scores(pairs * columns_, 0);
        for (size_t pair = 0; pair < pairs; ++pair)
            for (Block* block : {&words_, &runs_}) {
                if (block->features.empty()) continue;
                count_text(*block, read, pair);
                take_values(*block, firsts_);
                count_text(*block, read, pairs + pair);
                take_values(*block, seconds_);
                compare(*block, scores.data() + pair * columns_);
            }
        return to_numpy(std::move(scores), {pairs, columns_});
    }

  private:
    struct ReadTexts {
        Array1<const int32_t> tokens;
        Ends token_ends;
        Array1<const int32_t> pieces;
        Ends piece_ends;
    };

    struct FeatureValue {
        int32_t feature;
        float value;
    };

    // The weights, if there are as many as features.
    static const float* checked(const Array2<const float>& weights, const Array1<const uint32_t>& words,
                                const Array1<const uint32_t>& runs, size_t groups) {
        require(weights.shape(0) == groups * (words.size() + runs.size()) && weights.shape(1) > 0,
                "each feature has one row of weights");
        return weights.data();
    }

    void check(const ReadTexts& read) const {
        check_offsets(read.token_ends, read.tokens.size());
        check_offsets(read.piece_ends, read.pieces.size());
        require(read.token_ends.size() == read.piece_ends.size(), "as many texts are expected");
        for (size_t place = 0; place < read.tokens.size(); ++place)
            require(static_cast<size_t>(read.tokens(place)) < states_.size(), "a new token");
        for (size_t place = 0; place < read.pieces.size(); ++place)
            require(read.pieces(place) >= 0 &&
                        static_cast<size_t>(read.pieces(place)) + 1 < run_offsets_.size(),
                    "a new piece");
    }

    void count_text(const Block& block, const ReadTexts& read, size_t text) {
        if (&block == &words_)
            count_words(read.tokens.data() + read.token_ends(text),
                        read.tokens.data() + read.token_ends(text + 1));
        else
            count_runs(read.pieces.data() + read.piece_ends(text),
                       read.pieces.data() + read.piece_ends(text + 1));
    }

    // The TF-IDF of a feature that is in the current text so many times.
    double value_of(const Block::Feature& feature, uint32_t times) const {
        const double often =
            times <= 1024 ? logarithms_[times - 1] : std::log(static_cast<double>(times)) + 1;
        return often * feature.idf;
    }

    // The values of the features of the current text, at length 1; forgets the features.
    void take_values(Block& block, std::vector<FeatureValue>& values) {
        values.clear();
        double total = 0;
        for (size_t place = 0; place < present_count_; ++place) {
            const int32_t index = present_[place];
            const double value = value_of(block.features[index], block.counts[index]);
            block.counts[index] = 0;
            total += value * value;
            values.push_back({index, static_cast<float>(value)});
        }
        present_count_ = 0;
        const double scale = total > 0 ? 1 / std::sqrt(total) : 0;
        for (FeatureValue& one : values) one.value = static_cast<float>(one.value * scale);
    }

    // Adds the products of what two texts share, and of what each has more of, with their weights.
    void compare(Block& block, double* row) {
        for (const FeatureValue& one : firsts_) block.values[one.feature] = one.value;
        for (const FeatureValue& one : seconds_) {
            float& first = block.values[one.feature];
            add_groups(block, one.feature, first, one.value, row);
            first = 0;
        }
        for (const FeatureValue& one : firsts_) {
            if (block.values[one.feature] == 0) continue;
            add_groups(block, one.feature, one.value, 0, row);
            block.values[one.feature] = 0;
        }
    }

    void add_groups(const Block& block, int32_t feature, float first, float second, double* row) const {
        const float more = first - second;
        const float parts[kGroups] = {std::min(first, second), std::max(more, 0.0f), std::max(-more, 0.0f),
                                      second};
        for (size_t group = 0; group < kGroups; ++group) {
            if (parts[group] == 0) continue;
            const size_t place = block.features[feature].row + group * block.features.size();
            const float* weights = weights_.data() + place * columns_;
            for (size_t column = 0; column < columns_; ++column)
                row[column] += static_cast<double>(parts[group]) * weights[column];
        }
    }

    // Without branches, which nothing could predict; `reserve` has made room.
    void count(Block& block, int32_t feature, uint32_t times) {
        uint32_t& counted = block.counts[feature];
        present_[present_count_] = feature;
        present_count_ += counted == 0;
        counted += times;
    }

    void note_pair(uint64_t before, uint64_t word, int gap) {
        const uint32_t key = pair_hash(before, word, gap == 0);
        keys_[key_count_] = key;
        key_count_ += words_.may_have(key);
    }

    static void reserve(std::vector<int32_t>& values, size_t size) {
        if (values.size() < size) values.resize(2 * size);
    }

    void count_words(const int32_t* token, const int32_t* last) {
        before_.assign(reach_, 0);
        if (edges_) before_[0] = kBegin;
        const size_t most = static_cast<size_t>(last - token) * (reach_ + 1) + reach_ + 1;
        if (keys_.size() < most) keys_.resize(2 * most);
        reserve(present_, most);
        key_count_ = 0;
        for (; token < last; ++token) {
            const uint64_t word = states_[*token];
            if (token_features_[*token] >= 0) count(words_, token_features_[*token], 1);
            for (int gap = 0; gap < reach_; ++gap)
                if (before_[gap] != 0) note_pair(before_[gap], word, gap);
            for (int gap = reach_ - 1; gap > 0; --gap) before_[gap] = before_[gap - 1];
            before_[0] = word;
        }
        for (int gap = 0; edges_ && gap < reach_; ++gap)
            if (before_[gap] != 0 && before_[gap] != kBegin) note_pair(before_[gap], kEnd, gap);
        for (size_t place = 0; place < key_count_; ++place) {
            const int32_t feature = words_.find(keys_[place]);
            if (feature >= 0) count(words_, feature, 1);
        }
    }

    void count_runs(const int32_t* piece, const int32_t* last) {
        different_.clear();
        size_t most = 1;
        for (; piece < last; ++piece)
            if (piece_counts_[*piece]++ == 0) {
                different_.push_back(*piece);
                most += static_cast<size_t>(run_offsets_[*piece + 1] - run_offsets_[*piece]);
            }
        reserve(present_, most);
        for (const int32_t one : different_) {
            for (int64_t at = run_offsets_[one]; at < run_offsets_[one + 1]; ++at)
                count(runs_, run_features_[at], piece_counts_[one]);
            piece_counts_[one] = 0;
        }
    }

    // Adds the products of the features of a text, at length 1, with their weights; forgets the features.
    void add_products(Block& block, double* row) {
        if (columns_ == 1)
            add_product(block, row);
        else
            add_columns(block, row);
        present_count_ = 0;
    }

    void add_product(Block& block, double* row) {
        double total = 0, product = 0;
        for (size_t place = 0; place < present_count_; ++place) {
            const int32_t index = present_[place];
            const Block::Feature& feature = block.features[index];
            const double value = value_of(feature, block.counts[index]);
            block.counts[index] = 0;
            total += value * value;
            product += value * feature.weight;
        }
        if (total > 0) row[0] += product / std::sqrt(total);
    }

    void add_columns(Block& block, double* row) {
        double total = 0;
        values_.resize(present_count_);
        for (size_t place = 0; place < present_count_; ++place) {
            const int32_t index = present_[place];
            const Block::Feature& feature = block.features[index];
            const double value = value_of(feature, block.counts[index]);
            block.counts[index] = 0;
            total += value * value;
            values_[place] = {static_cast<size_t>(feature.row), value};
        }
        if (total <= 0) return;
        sum_rows(values_.data(), values_.size(), weights_.data(), products_.data(), columns_);
        const double scale = 1 / std::sqrt(total);
        for (size_t column = 0; column < columns_; ++column) row[column] += products_[column] * scale;
    }

    size_t columns_;
    std::vector<float> weights_;
    size_t groups_;
    Block words_, runs_;
    int reach_;
    bool edges_;
    int least_, most_;
    std::vector<uint64_t> states_;  // of the tokens
    std::vector<int32_t> token_features_;
    std::vector<int32_t> run_features_;  // the known ones of the pieces
    std::vector<int64_t> run_offsets_;
    std::vector<double> logarithms_;
    std::vector<int32_t> present_;  // the features of the current text
    size_t present_count_ = 0;
    std::vector<double> products_;
    std::vector<RowValue> values_;  // of the current text
    std::vector<uint64_t> before_;
    std::vector<uint32_t> keys_;  // of its word pairs
    size_t key_count_ = 0;
    std::vector<uint32_t> piece_counts_;  // in the current text
    std::vector<int32_t> different_;
    std::vector<FeatureValue> firsts_, seconds_;  // of the texts of a pair
};

}  // namespace

void bind_sparse_scorer(nb::module_& module) {
    nb::class_<SparseScorer>(module, "SparseScorer")
        .def(nb::init<Array1<const uint32_t>, Array1<const float>, Array1<const uint32_t>,
                      Array1<const float>, Array2<const float>, int, bool, int, int, bool>(),
             array("word_keys"), array("word_idf"), array("run_keys"), array("run_idf"), array("weights"),
             nb::arg("reach"), nb::arg("edges"), nb::arg("least"), nb::arg("most"), nb::arg("pairs"))
        .def("add_tokens", &SparseScorer::add_tokens, array("codes"), array("ends"))
        .def("add_pieces", &SparseScorer::add_pieces, array("codes"), array("ends"))
        .def("clear", &SparseScorer::clear)
        .def("scores", &SparseScorer::scores, array("tokens"), array("token_ends"), array("pieces"),
             array("piece_ends"))
        .def("pair_scores", &SparseScorer::pair_scores, array("tokens"), array("token_ends"),
             array("pieces"), array("piece_ends"));
}

}  // namespace headwise
