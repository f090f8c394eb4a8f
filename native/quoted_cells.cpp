// The kernel of headwise.data.formats.csv_records: the fields of a line with quotation marks.
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

constexpr int64_t kMostFields = 1 << 10;  // of a line with more, Python reads the fields

// Where a field lies in a line, and how many doubled quotation marks it has.
struct Field {
    int64_t first, last, doubled;
};

// Finds the fields of a line; false where a field is not plain: a quoted field that goes on in the next
// line, blanks beside a quotation mark, or anything else after a closing one.
template <typename Code>
bool find_fields(const Code* codes, int64_t size, uint32_t delimiter, std::vector<Field>& fields) {
    if (size > 0 && codes[size - 1] == '\r') --size;
    for (int64_t at = 0;; ++at) {
        if (static_cast<int64_t>(fields.size()) == kMostFields) return false;
        if (at < size && codes[at] == '"') {
            Field field{++at, 0, 0};
            for (; at < size; ++at) {
                if (codes[at] != '"') continue;
                if (at + 1 == size || codes[at + 1] != '"') break;
                ++field.doubled;
                ++at;
            }
            if (at >= size) return false;
            field.last = at++;
            if (at < size && codes[at] != delimiter) return false;
            fields.push_back(field);
        } else {
            if (at < size && codes[at] == ' ' && delimiter != ' ') {
                int64_t next = at;
                while (next < size && codes[next] == ' ') ++next;
                if (next < size && codes[next] == '"') return false;
            }
            const int64_t first = at;
            while (at < size && codes[at] != delimiter) ++at;
            fields.push_back({first, at, 0});
        }
        if (at >= size) return true;
    }
}

template <typename Code>
nb::object field_text(PyObject* line, const Code* codes, const Field& field) {
    if (field.doubled == 0) {
        PyObject* text = PyUnicode_Substring(line, field.first, field.last);
        if (text == nullptr) throw nb::python_error();
        return nb::steal(text);
    }
    std::vector<Code> text_codes;
    text_codes.reserve(static_cast<size_t>(field.last - field.first - field.doubled));
    for (int64_t at = field.first; at < field.last; ++at) {
        text_codes.push_back(codes[at]);
        if (codes[at] == '"') ++at;
    }
    const int kind = sizeof(Code) == 1   ? PyUnicode_1BYTE_KIND
                     : sizeof(Code) == 2 ? PyUnicode_2BYTE_KIND
                                         : PyUnicode_4BYTE_KIND;
    PyObject* text =
        PyUnicode_FromKindAndData(kind, text_codes.data(), static_cast<Py_ssize_t>(text_codes.size()));
    if (text == nullptr) throw nb::python_error();
    return nb::steal(text);
}

template <typename Code>
std::optional<nb::list> split(PyObject* line, int64_t size, uint32_t delimiter) {
    const Code* codes = static_cast<const Code*>(PyUnicode_DATA(line));
    std::vector<Field> fields;
    if (!find_fields(codes, size, delimiter, fields)) return std::nullopt;
    nb::list cells;
    for (const Field& field : fields) cells.append(field_text(line, codes, field));
    return cells;
}

// The fields of a line, whose quoted ones begin and end beside delimiters; none for all other lines.
std::optional<nb::list> quoted_cells(nb::str line, nb::str delimiter) {
    PyObject* text = line.ptr();
    if (PyUnicode_GET_LENGTH(delimiter.ptr()) != 1) throw nb::value_error("a delimiter is one character");
    const uint32_t mark = PyUnicode_READ_CHAR(delimiter.ptr(), 0);
    const int64_t size = PyUnicode_GET_LENGTH(text);
    switch (PyUnicode_KIND(text)) {
        case PyUnicode_1BYTE_KIND:
            return split<uint8_t>(text, size, mark);
        case PyUnicode_2BYTE_KIND:
            return split<uint16_t>(text, size, mark);
        default:
            return split<uint32_t>(text, size, mark);
    }
}

}  // namespace

void bind_quoted_cells(nb::module_& module) {
    module.def("quoted_cells", &quoted_cells, nb::arg("line"), nb::arg("delimiter"));
}

}  // namespace headwise
