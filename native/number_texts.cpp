// The kernels of headwise.models.prediction_file: numbers as text, and records of tables.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

constexpr int kDigits = 6;
// The powers of ten that a double holds exactly.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr double kLeast = 1e-16;       // smaller numbers need powers beyond these
constexpr size_t kLongestNumber = 32;  // characters

char* write_exactly(char* text, double value) {
    char* exact = PyOS_double_to_string(value, 'g', kDigits, 0, nullptr);
    if (exact == nullptr) throw nb::python_error();
    const size_t size = std::strlen(exact);
    std::memcpy(text, exact, size);
    PyMem_Free(exact);
    return text + size;
}

// Writes a number as the format `.6g` of Python does; returns the place after it.
char* write_number(char* text, double value) {
    if (!(value >= kLeast && value < 1e6)) return write_exactly(text, value);
    // The exponent of the first digit; the logarithm of two numbers of one binary exponent differs by less
    // than one, so that at most one step is missing.
    int binary;
    std::frexp(value, &binary);
    int exponent = static_cast<int>(std::floor((binary - 1) * 0.30102999566398120));
    double scaled = value * kPowers[kDigits - 1 - exponent];
    if (scaled >= 1e6 && exponent < kDigits - 1) scaled = value * kPowers[kDigits - 1 - ++exponent];
    const double floor = std::floor(scaled), rest = scaled - floor;
    // The product is off by a rounding error: near a half or a power of ten, the exact way decides.
    if (std::fabs(rest - 0.5) < 1e-6 || scaled < 1e5 + 1 || scaled > 1e6 - 1)
        return write_exactly(text, value);
    uint32_t digits = static_cast<uint32_t>(floor) + (rest > 0.5);
    char shown[kDigits];
    for (int place = kDigits - 1; place >= 0; --place, digits /= 10)
        shown[place] = static_cast<char>('0' + digits % 10);
    int size = kDigits;
    while (size > 1 && shown[size - 1] == '0') --size;
    const auto append = [&](const char* from, int count) {
        std::memcpy(text, from, static_cast<size_t>(count));
        text += count;
    };
    if (exponent < -4) {
        *text++ = shown[0];
        if (size > 1) {
            *text++ = '.';
            append(shown + 1, size - 1);
        }
        *text++ = 'e';
        *text++ = '-';
        *text++ = static_cast<char>('0' + -exponent / 10);
        *text++ = static_cast<char>('0' + -exponent % 10);
    } else if (exponent < 0) {
        append("0.000", 1 - exponent);
        append(shown, size);
    } else {
        const int before_point = exponent + 1;
        append(shown, before_point);
        if (size > before_point) {
            *text++ = '.';
            append(shown + before_point, size - before_point);
        }
    }
    return text;
}

// Texts behind each other.
class Buffer {
  public:
    void append(const char* text, size_t size) {
        std::memcpy(room(size), text, size);
        used_ += size;
    }
    void append(const std::string& text) { append(text.data(), text.size()); }
    void append(nb::handle text) {
        Py_ssize_t size;
        const char* characters = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (characters == nullptr) throw nb::python_error();
        append(characters, static_cast<size_t>(size));
    }
    // A cell of a csv file, in quotation marks if it holds a comma, a quotation mark or a line end.
    void append_quoted(nb::handle cell) {
        Py_ssize_t size;
        const char* text = PyUnicode_AsUTF8AndSize(cell.ptr(), &size);
        if (text == nullptr) throw nb::python_error();
        bool special = false;
        for (Py_ssize_t place = 0; place < size; ++place)
            special |=
                text[place] == ',' || text[place] == '"' || text[place] == '\n' || text[place] == '\r';
        if (!special) return append(text, static_cast<size_t>(size));
        char* target = room(2 * static_cast<size_t>(size) + 2);
        char* const first = target;
        *target++ = '"';
        for (const char *place = text, *last = text + size; place < last;) {
            const void* mark = std::memchr(place, '"', static_cast<size_t>(last - place));
            const char* end = mark == nullptr ? last : static_cast<const char*>(mark) + 1;
            std::memcpy(target, place, static_cast<size_t>(end - place));
            target += end - place;
            if (mark != nullptr) *target++ = '"';
            place = end;
        }
        *target++ = '"';
        used_ += static_cast<size_t>(target - first);
    }
    void append_number(double value) {
        char* text = room(kLongestNumber);
        used_ += static_cast<size_t>(write_number(text, value) - text);
    }
    nb::str text() const { return nb::str(characters_.data(), used_); }
    void clear() { used_ = 0; }

  private:
    char* room(size_t size) {
        if (characters_.size() < used_ + size) characters_.resize(2 * (used_ + size));
        return characters_.data() + used_;
    }

    std::vector<char> characters_;
    size_t used_ = 0;
};

void check_columns(Array2<const double> rows, const std::vector<std::string>& before) {
    if (before.size() != rows.shape(1)) throw std::invalid_argument("each column has one text before it");
}

void append_row(Buffer& buffer, Array2<const double> rows, size_t row,
                const std::vector<std::string>& before) {
    for (size_t column = 0; column < before.size(); ++column) {
        buffer.append(before[column]);
        buffer.append_number(rows(row, column));
    }
}

// The numbers of each row with 6 significant digits, each behind the text that precedes its column.
nb::list number_texts(Array2<const double> rows, const std::vector<std::string>& before) {
    check_columns(rows, before);
    nb::list texts;
    Buffer buffer;
    for (size_t row = 0; row < rows.shape(0); ++row) {
        buffer.clear();
        append_row(buffer, rows, row, before);
        texts.append(buffer.text());
    }
    return texts;
}

// Records of a prediction file in one text: the cells of each row, each followed by the delimiter and, if
// `quoted`, in quotation marks where csv needs them; the text of the row; its numbers as in `number_texts`;
// the end of a record.
nb::str record_texts(nb::list cells, const std::string& delimiter, bool quoted, nb::list texts,
                     Array2<const double> rows, const std::vector<std::string>& before,
                     const std::string& end) {
    check_columns(rows, before);
    if (cells.size() != rows.shape(0) || texts.size() != rows.shape(0))
        throw std::invalid_argument("each row has cells and a text");
    Buffer buffer;
    for (size_t row = 0; row < rows.shape(0); ++row) {
        for (nb::handle cell : nb::cast<nb::list>(cells[row])) {
            if (quoted)
                buffer.append_quoted(cell);
            else
                buffer.append(cell);
            buffer.append(delimiter);
        }
        buffer.append(nb::object(texts[row]));
        append_row(buffer, rows, row, before);
        buffer.append(end);
    }
    return buffer.text();
}

}  // namespace

void bind_number_texts(nb::module_& module) {
    module.def("number_texts", &number_texts, array("rows"), nb::arg("before"));
    module.def("record_texts", &record_texts, nb::arg("cells"), nb::arg("delimiter"), nb::arg("quoted"),
               nb::arg("texts"), array("rows"), nb::arg("before"), nb::arg("end"));
}

}  // namespace headwise
