#include "interop/npy_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "balm/error.hpp"
#include "interop/npy_type.hpp"

namespace balm::interop {

namespace {

using balm::detail::element_layout;
using balm::detail::npy_layout;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t head_alignment = 64;  // of the elements in the file
constexpr std::size_t longest_head = std::size_t{1} << 20;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t k = bytes.size(); k-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[k]);
    return value;
}

shape take_extents(literal_reader& reader) {
    const std::vector<std::size_t> sizes = reader.take_sizes();
    if (sizes.size() > shape::max_dimensions)
        reader.refuse(fmt::format("has {} dimensions; Balm's arrays have one to {}", sizes.size(),
                                  shape::max_dimensions));
    return sizes.empty() ? shape(1) : shape(sizes);
}

/// Parses the header's text: a dictionary of three entries in any order.
npy_header parse_head(const byte_source& from, std::string_view text) {
    literal_reader reader(from, text);
    std::optional<std::string> type;
    std::optional<bool> is_fortran;
    std::optional<shape> extents;
    reader.take('{');
    while (!reader.takes('}')) {
        const std::string_view key = reader.take_string("the name of an entry");
        reader.take(':');
        if (key == "descr" && !type)
            type = take_npy_type(reader);
        else if (key == "fortran_order" && !is_fortran)
            is_fortran = reader.take_bool();
        else if (key == "shape" && !extents)
            extents = take_extents(reader);
        else
            reader.refuse(fmt::format("has the entry {}, which is unknown or repeated", shown(key)));
        if (!reader.takes(',') && !reader.begins_with('}'))
            reader.refuse("has no comma or brace after an entry");
    }
    reader.begins_with('\0');  // skips spaces
    if (!reader.rest().empty()) reader.refuse("continues after its closing brace");
    if (!type) reader.refuse("has no descr");
    if (!is_fortran) reader.refuse("has no fortran_order");
    if (!extents) reader.refuse("has no shape");
    return {std::move(*type), *extents, *is_fortran ? npy_order::columns : npy_order::rows};
}

/// Words for what begins otherwise than a .npy file.
[[noreturn]] void refuse_start(const byte_source& from, std::span<const std::byte> start) {
    const std::string_view letters(reinterpret_cast<const char*>(start.data()), start.size());
    for (const std::string_view mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xc2\x93NUMPY"})
        if (letters.starts_with(mark))
            from.refuse(
                "it begins as text with a byte-order mark or in UTF-8; a .npy file must be copied byte by "
                "byte, "
                "not as text");
    from.refuse("it is not a .npy file");
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

/// Calls `at(in_file, in_memory)` with the positions of every element, in file order. `box` is the extents in
/// the file; memory is row-major, and its last dimension occupies `room` elements.
template <class At>
void for_each_element(const shape& box, npy_order order, std::size_t room, At&& at) {
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

/// The room of the last dimension of the file's array in memory.
std::size_t last_room(const shape& box, const element_layout& element) {
    return element.lanes == 1 ? box[box.dimensions() - 1] : element.lanes_in_memory;
}

}  // namespace

npy_header read_npy_head(byte_source& from) {
    std::array<std::byte, 8> start{};
    from.has(start.size());
    const std::span<std::byte> found =
        std::span(start).first(std::min<std::uint64_t>(start.size(), from.left()));
    from.read(found);
    if (found.size() < start.size() || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
        refuse_start(from, found);
    const int version = static_cast<int>(start[6]);
    if (version < 1 || version > 3)
        from.refuse(fmt::format("it has version {}.{} of the format; Balm reads versions 1 to 3", version,
                                static_cast<int>(start[7])));
    std::array<std::byte, 4> length{};
    const std::span<std::byte> length_bytes = std::span(length).first(version == 1 ? 2 : 4);
    from.read(length_bytes);
    const std::uint64_t bytes = little_endian(length_bytes);
    if (bytes > longest_head)
        from.refuse(
            fmt::format("its header of {} bytes is too long; Balm reads at most {}", bytes, longest_head));
    if (!from.has(bytes)) from.refuse("it ends inside its header");
    std::string text(bytes, '\0');
    from.read(std::as_writable_bytes(std::span(text)));
    return parse_head(from, text);
}

void read_npy_array(byte_source& from, const npy_layout& layout, balm::detail::npy_place place) {
    const npy_header head = read_npy_head(from);
    const npy_element_copy element = npy_copy_of(from, head.type, layout);
    const shape extents = extents_of(from, head.extents, layout.number);
    const std::size_t count = head.extents.count();
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, element.file_bytes, &bytes) || !from.has(bytes))
        from.refuse(fmt::format(
            "it ends early: {} elements of {} bytes should follow its header, but only {} bytes do",
            to_string(head.extents), element.file_bytes, from.left()));
    auto* const memory = static_cast<std::byte*>(place(extents));
    if (is_laid_out_alike(head.extents, head.order, layout.number) && element.is_dense()) {
        from.read({memory, bytes});
        if (element.needs_mending())
            for (std::size_t k = 0; k < count; ++k) element.mend(memory + k * element.memory_bytes);
        return;
    }
    std::vector<std::byte> in_file(bytes);
    from.read(in_file);
    if (layout.number.lanes != layout.number.lanes_in_memory || !element.is_dense())
        std::memset(memory, 0, extents.count() * layout.number.lanes_in_memory * element.memory_bytes);
    for_each_element(head.extents, head.order, last_room(head.extents, layout.number),
                     [&](std::size_t k, std::size_t at) {
                         std::byte* const to = memory + at * element.memory_bytes;
                         element.to_memory(in_file.data() + k * element.file_bytes, to);
                         element.mend(to);
                     });
}

std::string npy_head(const npy_layout& layout, const shape& extents, npy_order order) {
    const shape box = extents_in_file(extents, layout.number);
    std::string sizes = fmt::format("{},", box[0]);
    for (int d = 1; d < box.dimensions(); ++d) sizes += fmt::format("{}{}", d == 1 ? " " : ", ", box[d]);
    std::string text =
        fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({}), }}", npy_type_text(layout),
                    order == npy_order::columns ? "True" : "False", sizes);
    // The magic bytes, two bytes of version, the text's length, and the text, which ends with a line feed
    // just ahead of the elements. As NumPy: version 1 has a length of two bytes and text in Latin-1, versions
    // 2 and 3 have four bytes, and version 3 text in UTF-8.
    const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
    const auto padded = [&](std::size_t ahead) {
        return (ahead + text.size() + 1 + head_alignment - 1) / head_alignment * head_alignment - ahead;
    };
    const std::size_t short_ahead = magic.size() + 4, long_ahead = magic.size() + 6;
    const char version = !is_ascii ? '\x03' : padded(short_ahead) > 0xffff ? '\x02' : '\x01';
    const std::size_t length = padded(version == 1 ? short_ahead : long_ahead);
    text.resize(length - 1, ' ');
    std::string head(magic);
    head += {version, '\x00'};
    for (int k = 0; k < (version == 1 ? 2 : 4); ++k) head += static_cast<char>(length >> (8 * k) & 0xff);
    return head + text + '\n';
}

std::uint64_t npy_element_bytes(const npy_layout& layout, const shape& extents) {
    const std::size_t bytes = layout.structure != nullptr ? layout.structure->bytes : layout.number.bytes;
    return static_cast<std::uint64_t>(extents.count()) * layout.number.lanes * bytes;
}

void write_npy_elements(const npy_layout& layout, const shape& extents, const void* elements, npy_order order,
                        balm::detail::function_ref<void(std::span<const std::byte>)> put) {
    const shape box = extents_in_file(extents, layout.number);
    const npy_element_copy element = npy_copy_of(layout);
    const auto* const memory = static_cast<const std::byte*>(elements);
    if (is_laid_out_alike(box, order, layout.number) && element.is_dense()) {
        put({memory, box.count() * element.memory_bytes});
        return;
    }
    constexpr std::size_t piece_bytes = std::size_t{1} << 16;
    std::vector<std::byte> piece;
    piece.reserve(std::max(piece_bytes, element.file_bytes));
    for_each_element(box, order, last_room(box, layout.number), [&](std::size_t, std::size_t at) {
        if (piece.size() + element.file_bytes > piece.capacity()) {
            put(piece);
            piece.clear();
        }
        piece.resize(piece.size() + element.file_bytes);  // with zeros, which padding keeps
        element.to_file(memory + at * element.memory_bytes, piece.data() + piece.size() - element.file_bytes);
    });
    put(piece);
}

}  // namespace balm::interop
