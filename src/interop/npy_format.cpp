#include "interop/npy_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "balm/error.hpp"

namespace balm::interop {

namespace {

using balm::detail::element_layout;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t head_alignment = 64;  // of the elements in the file
constexpr std::size_t longest_head = std::size_t{1} << 20;
constexpr bool is_little_endian = std::endian::native == std::endian::little;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t k = bytes.size(); k-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[k]);
    return value;
}

/// Parses the header's text: a dictionary of three entries in any order. Accepts the Python literals that
/// such a header can contain: strings without escapes, True and False, tuples of integers.
class head_parser {
public:
    head_parser(const byte_source& from, std::string_view text) : from_(from), text_(text) {}

    npy_header parse() {
        std::optional<std::string> type;
        std::optional<bool> is_fortran;
        std::optional<shape> extents;
        take('{');
        while (!takes('}')) {
            const std::string_view key = take_string("the name of an entry");
            take(':');
            if (key == "descr" && !type)
                type = take_type();
            else if (key == "fortran_order" && !is_fortran)
                is_fortran = take_bool();
            else if (key == "shape" && !extents)
                extents = take_shape();
            else
                refuse(fmt::format("has the entry {}, which is unknown or repeated", shown(key)));
            if (!takes(',') && !begins_with('}')) refuse("has no comma or brace after an entry");
        }
        skip_space();
        if (!text_.empty()) refuse("continues after its closing brace");
        if (!type) refuse("has no descr");
        if (!is_fortran) refuse("has no fortran_order");
        if (!extents) refuse("has no shape");
        return {std::move(*type), *extents, *is_fortran ? npy_order::columns : npy_order::rows};
    }

private:
    [[noreturn]] void refuse(std::string_view why) const { from_.refuse(fmt::format("its header {}", why)); }

    void skip_space() {
        const std::size_t first = text_.find_first_not_of(" \t\r\n");
        text_.remove_prefix(std::min(first, text_.size()));
    }
    bool begins_with(char c) {
        skip_space();
        return text_.starts_with(c);
    }
    bool takes(char c) {
        if (!begins_with(c)) return false;
        text_.remove_prefix(1);
        return true;
    }
    void take(char c) {
        if (!takes(c)) refuse(fmt::format("has {} instead of '{}'", next_words(), c));
    }
    std::string next_words() const { return text_.empty() ? "its end" : shown(text_.substr(0, 20)); }

    std::string_view take_string(std::string_view what) {
        skip_space();
        const char quote = text_.empty() ? '\0' : text_.front();
        const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
        if (end == std::string_view::npos) refuse(fmt::format("has {} instead of {}", next_words(), what));
        const std::string_view word = text_.substr(1, end - 1);
        if (word.find('\\') != std::string_view::npos) refuse("has a string with a backslash");
        text_.remove_prefix(end + 1);
        return word;
    }
    std::string take_type() {
        if (begins_with('['))
            from_.refuse(
                "its elements are structures, which Balm does not support; save their members as separate "
                "arrays");
        return std::string(take_string("a type"));
    }
    bool take_bool() {
        skip_space();
        for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)})
            if (text_.starts_with(word)) {
                text_.remove_prefix(std::strlen(word));
                return value;
            }
        refuse(fmt::format("has {} instead of True or False", next_words()));
    }
    shape take_shape() {
        std::vector<std::size_t> sizes;
        take('(');
        while (!takes(')')) {
            skip_space();
            std::size_t size = 0;
            const auto [end, fault] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
            if (fault == std::errc::result_out_of_range || size > shape::max_elements)
                refuse("has a size above 2^62, more than any memory holds");
            if (fault != std::errc()) refuse(fmt::format("has {} instead of a size", next_words()));
            text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
            if (text_.starts_with('L')) text_.remove_prefix(1);  // a Python 2 long
            sizes.push_back(size);
            if (!takes(',') && !begins_with(')')) refuse("has no comma or parenthesis after a size");
        }
        if (sizes.empty()) return shape(1);
        if (sizes.size() > shape::max_dimensions)
            refuse(fmt::format("has {} dimensions; Balm's arrays have one to {}", sizes.size(),
                               shape::max_dimensions));
        std::size_t product = 1;
        for (const std::size_t size : sizes)
            if (size != 0 &&
                (__builtin_mul_overflow(product, size, &product) || product > shape::max_elements))
                refuse("has sizes whose product is above 2^62, more than any memory holds");
        return shape(sizes);
    }

    const byte_source& from_;
    std::string_view text_;
};

/// The parts of a type, such as "<f4".
struct number_type {
    char kind = 0;
    std::uint8_t bytes = 0;
    bool is_swapped = false;
};

/// Empty if the type is not a number.
std::optional<number_type> parse_type(std::string_view type) {
    if (type.size() < 3 || std::string_view("<>|=").find(type[0]) == std::string_view::npos) return {};
    if (std::string_view("biufc").find(type[1]) == std::string_view::npos) return {};
    unsigned bytes = 0;
    const auto [end, fault] = std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
    if (fault != std::errc() || end != type.data() + type.size() || bytes == 0 || bytes > 255) return {};
    const bool has_other_order = type[0] == (is_little_endian ? '>' : '<');
    return number_type{type[1], static_cast<std::uint8_t>(bytes), has_other_order && bytes > 1};
}

/// The name of the C++ type: "float" for 'f' and 4 bytes.
std::string host_name(char kind, unsigned bytes) {
    switch (kind) {
        case 'b': return "bool";
        case 'f': return bytes == 2 ? "balm::half" : bytes == 4 ? "float" : "double";
        case 'c': return bytes == 8 ? "std::complex<float>" : "std::complex<double>";
        default: return fmt::format("std::{}int{}_t", kind == 'u' ? "u" : "", 8 * bytes);
    }
}
bool has_host_type(const number_type& of) {
    const unsigned bytes = of.bytes;
    switch (of.kind) {
        case 'b': return bytes == 1;
        case 'f': return bytes == 2 || bytes == 4 || bytes == 8;
        case 'c': return bytes == 8 || bytes == 16;
        default: return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    }
}

number_type check_type(const byte_source& from, const npy_header& head, const element_layout& wanted) {
    const std::optional<number_type> found = parse_type(head.type);
    if (!found || !has_host_type(*found))
        from.refuse(
            fmt::format("its elements have the type {}, which Balm does not support", shown(head.type)));
    if (found->kind != wanted.kind || found->bytes != wanted.bytes)
        from.refuse(fmt::format("its elements are {} ({}), not {}; read them with that type and convert them",
                                host_name(found->kind, found->bytes), shown(head.type),
                                host_name(wanted.kind, wanted.bytes)));
    return *found;
}

/// The extents of short vectors: the last dimension of the file holds their lanes.
shape extents_of(const byte_source& from, const shape& in_file, const element_layout& wanted) {
    if (wanted.lanes == 1) return in_file;
    const int last = in_file.dimensions() - 1;
    if (in_file[last] != wanted.lanes)
        from.refuse(
            fmt::format("it has {} elements; for short vectors of {} lanes its last dimension must be {}",
                        to_string(in_file), wanted.lanes, wanted.lanes));
    std::vector<std::size_t> sizes;
    sizes.reserve(shape::max_dimensions + 1);
    for (int d = 0; d < last; ++d) sizes.push_back(in_file[d]);
    return sizes.empty() ? shape(1) : shape(sizes);
}
shape extents_in_file(const shape& of, const element_layout& element) {
    std::vector<std::size_t> sizes;
    sizes.reserve(shape::max_dimensions + 1);
    for (int d = 0; d < of.dimensions(); ++d) sizes.push_back(of[d]);
    if (element.lanes > 1) sizes.push_back(element.lanes);
    if (sizes.size() > shape::max_dimensions)
        throw usage_error(fmt::format(
            "An array of {} short vectors has {} dimensions in a .npy file; Balm writes at most {}.",
            to_string(of), sizes.size(), shape::max_dimensions));
    return shape(sizes);
}

/// Swaps the bytes of each number.
void swap_bytes(std::byte* at, std::size_t count, std::size_t bytes) {
    for (std::size_t k = 0; k < count; ++k, at += bytes) std::reverse(at, at + bytes);
}
/// Truth values are 0 or 1 in C++; files may hold other bytes.
void normalise(std::byte* at, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) at[k] = at[k] == std::byte{0} ? std::byte{0} : std::byte{1};
}

/// Calls `at(in_file, in_memory)` with the positions of every number, in file order. `box` is the extents in
/// the file; memory is row-major, and its last dimension occupies `room` numbers.
template <class At>
void for_each_number(const shape& box, npy_order order, std::size_t room, At&& at) {
    std::array<std::size_t, shape::max_dimensions> apart{}, index{};
    const int dimensions = box.dimensions();
    std::size_t step = 1;
    for (int d = dimensions; d-- > 0;) {
        apart[static_cast<std::size_t>(d)] = step;
        step *= d == dimensions - 1 ? room : box[d];
    }
    const std::size_t count = box.count();
    std::size_t place = 0;
    for (std::size_t k = 0; k < count; ++k) {
        at(k, place);
        for (int turn = 0; turn < dimensions; ++turn) {
            const int d = order == npy_order::rows ? dimensions - 1 - turn : turn;
            const auto u = static_cast<std::size_t>(d);
            place += apart[u];
            if (++index[u] < box[d]) break;
            place -= apart[u] * box[d];
            index[u] = 0;
        }
    }
}

/// Whether the file and memory have the same layout.
bool is_laid_out_alike(const shape& in_file, npy_order order, const element_layout& element) {
    int long_dimensions = 0;
    for (int d = 0; d < in_file.dimensions(); ++d) long_dimensions += in_file[d] > 1 ? 1 : 0;
    return element.lanes == element.lanes_in_memory && (order == npy_order::rows || long_dimensions <= 1);
}

}  // namespace

std::string shown(std::string_view word) {
    std::string made = "'";
    for (const char c : word.substr(0, 40)) made += c >= ' ' && c <= '~' ? c : '?';
    return made + (word.size() > 40 ? "…'" : "'");
}

npy_header read_npy_head(byte_source& from) {
    std::array<std::byte, 8> start{};
    if (from.left() < start.size()) from.refuse("it is not a .npy file");
    from.read(start);
    if (std::memcmp(start.data(), magic.data(), magic.size()) != 0) from.refuse("it is not a .npy file");
    const int version = static_cast<int>(start[6]);
    if (version < 1 || version > 3)
        from.refuse(fmt::format("it has version {}.{} of the format; Balm reads versions 1 to 3", version,
                                static_cast<int>(start[7])));
    std::array<std::byte, 4> length{};
    const std::span<std::byte> length_bytes = std::span(length).first(version == 1 ? 2 : 4);
    from.read(length_bytes);
    const std::uint64_t bytes = little_endian(length_bytes);
    if (bytes > from.left()) from.refuse("it ends inside its header");
    if (bytes > longest_head)
        from.refuse(
            fmt::format("its header of {} bytes is too long; Balm reads at most {}", bytes, longest_head));
    std::string text(bytes, '\0');
    from.read(std::as_writable_bytes(std::span(text)));
    return head_parser(from, text).parse();
}

void read_npy_array(byte_source& from, const element_layout& element, balm::detail::npy_place place) {
    const npy_header head = read_npy_head(from);
    const number_type number = check_type(from, head, element);
    const shape extents = extents_of(from, head.extents, element);
    const std::size_t numbers = head.extents.count(), number_bytes = element.bytes;
    if (numbers > from.left() / number_bytes)
        from.refuse(fmt::format(
            "it ends early: {} elements of {} bytes should follow its header, but only {} bytes do",
            to_string(head.extents), number_bytes, from.left()));
    auto* const memory = static_cast<std::byte*>(place(extents));
    const std::size_t bytes = numbers * number_bytes;
    const std::size_t parts = element.kind == 'c' ? 2 : 1;
    const auto mend = [&](std::byte* at) {
        if (number.is_swapped) swap_bytes(at, numbers * parts, number_bytes / parts);
        if (element.kind == 'b') normalise(at, numbers);
    };
    if (is_laid_out_alike(head.extents, head.order, element)) {
        from.read({memory, bytes});
        mend(memory);
        return;
    }
    std::vector<std::byte> in_file(bytes);
    from.read(in_file);
    mend(in_file.data());
    if (element.lanes != element.lanes_in_memory)
        std::memset(memory, 0, extents.count() * element.lanes_in_memory * number_bytes);
    for_each_number(
        head.extents, head.order,
        element.lanes == 1 ? head.extents[head.extents.dimensions() - 1] : element.lanes_in_memory,
        [&](std::size_t k, std::size_t at) {
            std::memcpy(memory + at * number_bytes, in_file.data() + k * number_bytes, number_bytes);
        });
}

std::string npy_head(const element_layout& element, const shape& extents, npy_order order) {
    const shape box = extents_in_file(extents, element);
    std::string sizes = fmt::format("{},", box[0]);
    for (int d = 1; d < box.dimensions(); ++d) sizes += fmt::format("{}{}", d == 1 ? " " : ", ", box[d]);
    const char endian = element.bytes == 1 ? '|' : is_little_endian ? '<' : '>';
    std::string text =
        fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}), }}", endian, element.kind,
                    element.bytes, order == npy_order::columns ? "True" : "False", sizes);
    // Version 1: the magic bytes, two bytes of version, two bytes of the text's length, and the text, which
    // ends with a line feed just ahead of the elements.
    const std::size_t ahead = magic.size() + 4;
    text.resize((ahead + text.size() + 1 + head_alignment - 1) / head_alignment * head_alignment - ahead - 1,
                ' ');
    text += '\n';
    std::string head(magic);
    head += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return head + text;
}

std::uint64_t npy_element_bytes(const element_layout& element, const shape& extents) {
    return static_cast<std::uint64_t>(extents.count()) * element.lanes * element.bytes;
}

void write_npy_elements(const element_layout& element, const shape& extents, const void* elements,
                        npy_order order, balm::detail::function_ref<void(std::span<const std::byte>)> put) {
    const shape box = extents_in_file(extents, element);
    const auto* const memory = static_cast<const std::byte*>(elements);
    const std::size_t number_bytes = element.bytes;
    if (is_laid_out_alike(box, order, element)) {
        put({memory, box.count() * number_bytes});
        return;
    }
    constexpr std::size_t piece_bytes = std::size_t{1} << 16;
    std::vector<std::byte> piece;
    piece.reserve(piece_bytes);
    for_each_number(box, order, element.lanes == 1 ? box[box.dimensions() - 1] : element.lanes_in_memory,
                    [&](std::size_t, std::size_t at) {
                        if (piece.size() + number_bytes > piece_bytes) {
                            put(piece);
                            piece.clear();
                        }
                        const std::byte* const number = memory + at * number_bytes;
                        piece.insert(piece.end(), number, number + number_bytes);
                    });
    put(piece);
}

}  // namespace balm::interop
