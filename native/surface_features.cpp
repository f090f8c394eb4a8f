// The kernel of headwise.core.surface_features, which documents the features.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.h"
#include "hashing.h"
#include "module.h"

namespace headwise {
namespace {

constexpr int kFeatures = 10;
constexpr uint8_t kLetter = 1, kCapital = 2, kDigit = 4;

// Whether a character beyond the lookup table counts as a letter.
bool is_letter_beyond_table(uint32_t code) {
    return (0x3040 <= code && code < 0xE000) || (0xF900 <= code && code < 0xFE00) ||
           (0x20000 <= code && code < 0x40000);
}

Result<float> count_surface_features(Array1<const uint32_t> codes, Array1<const int64_t> ends,
                                     Array1<const uint8_t> kinds) {
    check_offsets(ends, codes.size());
    const size_t texts = ends.size() - 1;
    std::vector<float> features(texts * kFeatures, 0);
    {
        nb::gil_scoped_release release;
        for (size_t text = 0; text < texts; ++text) {
            int64_t words = 0, letters = 0, capitals = 0, digits = 0, marks = 0, calls = 0, questions = 0,
                    lines = 0;
            int64_t capitalised = 0, shouted = 0;                     // words
            int64_t length = 0, letters_here = 0, capitals_here = 0;  // of the current word
            for (int64_t position = ends(text); position <= ends(text + 1); ++position) {
                const bool inside = position < ends(text + 1);
                const uint32_t code = inside ? codes(position) : 32;
                if (is_blank(code)) {
                    lines += inside && code == '\n';
                    words += length > 0;
                    shouted += capitals_here > 1 && capitals_here == letters_here;
                    length = letters_here = capitals_here = 0;
                    continue;
                }
                const uint8_t kind = code < kinds.size()            ? kinds(code)
                                     : is_letter_beyond_table(code) ? kLetter
                                                                    : 0;
                if (kind & kCapital) {
                    ++capitals;
                    capitalised += length == 0;
                    ++capitals_here;
                }
                ++length;
                if (kind & kLetter) {
                    ++letters;
                    ++letters_here;
                } else if (kind & kDigit) {
                    ++digits;
                } else {
                    ++marks;
                    calls += code == '!';
                    questions += code == '?';
                }
            }
            const double written = static_cast<double>(letters + digits);
            const auto ratio = [](int64_t part, double all) {
                return static_cast<float>(static_cast<double>(part) / std::max(all, 1.0));
            };
            float* row = features.data() + text * kFeatures;
            row[0] = static_cast<float>(std::log1p(written));
            row[1] = static_cast<float>(std::log1p(static_cast<double>(words)) - std::log1p(written));
            row[2] = ratio(capitals, static_cast<double>(letters));
            row[3] = ratio(digits, written);
            row[4] = static_cast<float>(std::log1p(static_cast<double>(marks)) -
                                        std::log1p(static_cast<double>(words)));
            row[5] = static_cast<float>(std::log1p(static_cast<double>(calls)));
            row[6] = static_cast<float>(std::log1p(static_cast<double>(questions)));
            row[7] = static_cast<float>(std::log1p(static_cast<double>(lines)));
            row[8] = ratio(capitalised, static_cast<double>(words));
            row[9] = ratio(shouted, static_cast<double>(words));
        }
    }
    return to_numpy(std::move(features), {texts, static_cast<size_t>(kFeatures)});
}

}  // namespace

void bind_surface_features(nb::module_& module) {
    module.def("count_surface_features", &count_surface_features, array("codes"), array("ends"),
               array("kinds"));
}

}  // namespace headwise
