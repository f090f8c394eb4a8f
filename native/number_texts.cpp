// The kernels of headwise.models.prediction_file: numbers as text.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

constexpr int kDigits = 6;
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMostPower = 22;  // the powers of ten that a double holds exactly

// Appends a number with 6 significant digits, as the format `.6g` of Python writes it.
void append_number(std::string& text, double value) {
    const auto append_exactly = [&] {
        char* exact = PyOS_double_to_string(value, 'g', kDigits, 0, nullptr);
        if (exact == nullptr) throw nb::python_error();
        text += exact;
        PyMem_Free(exact);
    };
    if (!(value > 0 && value < 1e6)) {
        append_exactly();
        return;
    }
    int exponent = 5;  // of the first digit
    while (exponent > kDigits - 1 - kMostPower &&
           value < (exponent >= 0 ? kPowers[exponent] : 1 / kPowers[-exponent]))
        --exponent;
    const double scaled = value * kPowers[kDigits - 1 - exponent], floor = std::floor(scaled);
    const double rest = scaled - floor;
    // The product is off by a rounding error: near a half or a power of ten, the exact way decides.
    if (std::fabs(rest - 0.5) < 1e-6 || scaled < 1e5 + 1 || scaled > 1e6 - 1) {
        append_exactly();
        return;
    }
    uint32_t digits = static_cast<uint32_t>(floor) + (rest > 0.5);
    char shown[kDigits];
    for (int place = kDigits - 1; place >= 0; --place, digits /= 10)
        shown[place] = static_cast<char>('0' + digits % 10);
    int size = kDigits;
    while (size > 1 && shown[size - 1] == '0') --size;
    if (exponent < -4) {
        text += shown[0];
        if (size > 1) text.append(1, '.').append(shown + 1, static_cast<size_t>(size - 1));
        text += "e-";
        text += static_cast<char>('0' + -exponent / 10);
        text += static_cast<char>('0' + -exponent % 10);
    } else if (exponent < 0) {
        text.append("0.")
            .append(static_cast<size_t>(-exponent - 1), '0')
            .append(shown, static_cast<size_t>(size));
    } else {
        const int whole = exponent + 1;
        text.append(shown, static_cast<size_t>(whole));
        if (size > whole) text.append(1, '.').append(shown + whole, static_cast<size_t>(size - whole));
    }
}

// The numbers of each row with 6 significant digits, each behind the text that precedes its column.
nb::list number_texts(Array2<const double> rows, const std::vector<std::string>& before) {
    if (before.size() != rows.shape(1)) throw std::invalid_argument("each column has one text before it");
    nb::list texts;
    std::string text;
    for (size_t row = 0; row < rows.shape(0); ++row) {
        text.clear();
        for (size_t column = 0; column < rows.shape(1); ++column) {
            text += before[column];
            append_number(text, rows(row, column));
        }
        texts.append(nb::str(text.data(), text.size()));
    }
    return texts;
}

}  // namespace

void bind_number_texts(nb::module_& module) {
    module.def("number_texts", &number_texts, array("rows"), nb::arg("before"));
}

}  // namespace headwise
