// The kernels of headwise.text.text_reader, which documents them: texts are cut at white space into pieces,
// and each different piece gets an index.
#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "hashing.h"
#include "module.h"

namespace headwise {
namespace {

using Pieces = std::tuple<Result<int32_t>, Result<int64_t>, nb::list>;
using Tokens = std::tuple<Result<int32_t>, Result<int64_t>, Result<uint8_t>>;

bool is_upper(uint32_t code) { return 'A' <= code && code <= 'Z'; }

template <typename Code>
inline bool separates(Code code) {
    if constexpr (sizeof(Code) == 1) return code <= 32 ? is_blank(code) : code == 0x85 || code == 0xA0;
    return is_blank(code);
}

// A piece that is being read: its end, the state of its hash, and its last angle bracket.
struct Scan {
    int64_t end;
    uint64_t state = kFirst;
    int64_t opened = -1;  // an angle bracket that no other one follows yet
};

template <typename Code>
inline void scan_piece(const Code* codes, int64_t size, Scan& scan) {
    while (scan.end < size && !separates(codes[scan.end])) {
        const uint32_t code = codes[scan.end];
        if (code == '<') scan.opened = scan.end;
        if (code == '>') scan.opened = -1;
        scan.state = add_character(scan.state, code);
        ++scan.end;
    }
}

// Whether the tokens of a piece depend on the piece after it: it ends with an initial (`J. Rowling`), or
// with the first part of an HTML tag (`<br />`).
template <typename Code>
bool goes_on(const Code* codes, int64_t size, int64_t first, const Scan& scan) {
    if (scan.end >= size) return false;
    if (scan.opened >= 0 && scan.opened + 1 < scan.end) {
        const uint32_t next = codes[scan.opened + 1], letter = next | 0x20;
        if (next == '/' || next >= 0x80 || ('a' <= letter && letter <= 'z')) {
            int64_t position = scan.end;
            while (position < size && codes[position] != '<' && codes[position] != '>') ++position;
            if (position < size && codes[position] == '>') return true;
        }
    }
    if (scan.end - first < 2 || codes[scan.end - 1] != '.' || !is_upper(codes[scan.end - 2])) return false;
    if (codes[scan.end] != ' ' || scan.end + 1 >= size) return false;
    return is_upper(codes[scan.end + 1]) || codes[scan.end + 1] >= 0x80;
}

class PieceTable {
  public:
    explicit PieceTable(bool joins) : joins_(joins), slots_(1 << 12), offsets_{0}, token_offsets_{0} {}

    Pieces cut(nb::list texts) {
        const size_t count = texts.size(), before = offsets_.size();
        std::vector<int32_t> pieces;
        std::vector<int64_t> ends{0};
        std::vector<nb::object> fresh;
        ends.reserve(count + 1);
        for (size_t place = 0; place < count; ++place) {
            PyObject* text = nb::handle(texts[place]).ptr();
            if (!PyUnicode_Check(text)) throw nb::type_error("texts are strings");
            const int64_t size = PyUnicode_GET_LENGTH(text);
            const void* data = PyUnicode_DATA(text);
            const int kind = PyUnicode_KIND(text);
            if (kind == PyUnicode_1BYTE_KIND)
                cut_text(text, static_cast<const uint8_t*>(data), size, pieces, fresh);
            else if (kind == PyUnicode_2BYTE_KIND)
                cut_text(text, static_cast<const uint16_t*>(data), size, pieces, fresh);
            else
                cut_text(text, static_cast<const uint32_t*>(data), size, pieces, fresh);
            ends.push_back(static_cast<int64_t>(pieces.size()));
        }
        if (offsets_.size() - before != fresh.size()) throw std::logic_error("pieces were lost");
        nb::list names;
        for (nb::object& piece : fresh) names.append(std::move(piece));
        return {to_numpy(std::move(pieces)), to_numpy(std::move(ends)), std::move(names)};
    }

    void add_tokens(Array1<const int32_t> tokens, Array1<const int64_t> ends,
                    Array1<const uint8_t> general) {
        check_offsets(ends, tokens.size());
        if (general.size() + 1 != ends.size() || general_.size() + general.size() + 1 != offsets_.size())
            throw std::invalid_argument("the tokens of all new pieces are expected");
        const int64_t start = static_cast<int64_t>(tokens_.size());
        tokens_.insert(tokens_.end(), tokens.data(), tokens.data() + ends(ends.size() - 1));
        for (size_t piece = 0; piece < general.size(); ++piece) {
            token_offsets_.push_back(start + ends(piece + 1));
            general_.push_back(general(piece));
        }
    }

    Tokens tokens(Array1<const int32_t> pieces, Array1<const int64_t> ends) const {
        check_offsets(ends, pieces.size());
        std::vector<int32_t> tokens;
        std::vector<int64_t> bounds(ends.size(), 0);
        std::vector<uint8_t> general(ends.size() - 1, 0);
        tokens.reserve(pieces.size() + pieces.size() / 2);
        for (size_t text = 0; text + 1 < ends.size(); ++text) {
            for (int64_t place = ends(text); place < ends(text + 1); ++place) {
                const size_t piece = static_cast<size_t>(pieces(place));
                if (piece >= general_.size()) throw std::invalid_argument("a piece without tokens");
                general[text] |= general_[piece];
                for (int64_t at = token_offsets_[piece]; at < token_offsets_[piece + 1]; ++at)
                    tokens.push_back(tokens_[at]);
            }
            bounds[text + 1] = static_cast<int64_t>(tokens.size());
        }
        return {to_numpy(std::move(tokens)), to_numpy(std::move(bounds)), to_numpy(std::move(general))};
    }

    size_t size() const { return offsets_.size() - 1; }
    size_t characters() const { return arena_.size(); }

  private:
    struct Slot {
        uint64_t hash = 0;  // 0 is free
        int32_t piece = 0;
        uint32_t length = 0;
    };

    template <typename Code>
    void cut_text(PyObject* text, const Code* codes, int64_t size, std::vector<int32_t>& pieces,
                  std::vector<nb::object>& fresh) {
        for (int64_t position = 0;;) {
            while (position < size && separates(codes[position])) ++position;
            if (position >= size) return;
            Scan scan{position};
            scan_piece(codes, size, scan);
            while (joins_ && goes_on(codes, size, position, scan)) {
                while (separates(codes[scan.end])) {
                    scan.state = add_character(scan.state, codes[scan.end]);
                    if (++scan.end >= size) break;
                }
                scan_piece(codes, size, scan);
            }
            const uint64_t hash = std::max<uint64_t>(mix(scan.state), 1);
            pieces.push_back(find(text, codes, position, scan.end, hash, fresh));
            position = scan.end;
        }
    }

    template <typename Code>
    int32_t find(PyObject* text, const Code* codes, int64_t first, int64_t last, uint64_t hash,
                 std::vector<nb::object>& fresh) {
        const uint64_t mask = slots_.size() - 1;
        uint64_t place = hash & mask;
        for (; slots_[place].hash != 0; place = (place + 1) & mask) {
            if (slots_[place].hash != hash || slots_[place].length != static_cast<uint32_t>(last - first))
                continue;
            const int32_t piece = slots_[place].piece;
            if (std::equal(codes + first, codes + last, arena_.begin() + offsets_[piece])) return piece;
        }
        const int64_t piece = static_cast<int64_t>(offsets_.size()) - 1;
        if (piece >= INT32_MAX || last - first > UINT32_MAX)
            throw std::length_error("too many different pieces");
        PyObject* name = PyUnicode_Substring(text, first, last);
        if (name == nullptr) throw nb::python_error();
        fresh.push_back(nb::steal(name));
        arena_.insert(arena_.end(), codes + first, codes + last);
        offsets_.push_back(static_cast<int64_t>(arena_.size()));
        slots_[place] = {hash, static_cast<int32_t>(piece), static_cast<uint32_t>(last - first)};
        if (2 * offsets_.size() > slots_.size()) grow();
        return static_cast<int32_t>(piece);
    }

    void grow() {
        std::vector<Slot> slots(2 * slots_.size());
        const uint64_t mask = slots.size() - 1;
        for (const Slot& slot : slots_) {
            if (slot.hash == 0) continue;
            uint64_t place = slot.hash & mask;
            while (slots[place].hash != 0) place = (place + 1) & mask;
            slots[place] = slot;
        }
        slots_ = std::move(slots);
    }

    bool joins_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> arena_;  // the characters of all pieces
    std::vector<int64_t> offsets_;
    std::vector<int32_t> tokens_;  // of all pieces
    std::vector<int64_t> token_offsets_;
    std::vector<uint8_t> general_;
};

}  // namespace

void bind_piece_table(nb::module_& module) {
    nb::class_<PieceTable>(module, "PieceTable")
        .def(nb::init<bool>(), nb::arg("joins"))
        .def("cut", &PieceTable::cut, nb::arg("texts"))
        .def("add_tokens", &PieceTable::add_tokens, array("tokens"), array("ends"), array("general"))
        .def("tokens", &PieceTable::tokens, array("pieces"), array("ends"))
        .def_prop_ro("size", &PieceTable::size)
        .def_prop_ro("characters", &PieceTable::characters);
}

}  // namespace headwise
