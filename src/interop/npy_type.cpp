#include "interop/npy_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>

namespace balm::interop {

namespace {

using balm::detail::element_layout;
using balm::detail::npy_layout;
using balm::detail::npy_member;
using balm::detail::npy_structure;

constexpr bool is_little_endian = std::endian::native == std::endian::little;
constexpr int deepest_nesting = 32;  // of structures
constexpr char structure_kind = '[';

struct field_in_file;
/// A type of a file.
struct type_in_file {
    char kind = 0;  // NumPy's letter, or structure_kind
    std::size_t bytes = 0;
    bool is_swapped = false;
    std::string text;
    std::vector<field_in_file> fields;
};
struct field_in_file {
    std::string name;
    std::size_t offset = 0;
    type_in_file type;
    std::vector<std::size_t> extents;
};

/// The types that a file may have, by NumPy's letter, and the bytes of each unit that the number after it
/// counts: of '<U3' twelve. Only those of Balm's elements have a size of numbers.
struct kind_of_type {
    char letter;
    std::size_t unit_bytes;
    std::string_view sizes;  // the sizes that a C++ type has; the names of others are not known here
};
constexpr kind_of_type kinds[] = {
    {'b', 1, " 1 "},    {'i', 1, " 1 2 4 8 "}, {'u', 1, " 1 2 4 8 "}, {'f', 1, " 2 4 8 "},
    {'c', 1, " 8 16 "}, {'S', 1, ""},          {'a', 1, ""},          {'U', 4, ""},
    {'V', 1, ""},       {'M', 1, ""},          {'m', 1, ""},
};
const kind_of_type* kind_with(char letter) {
    const auto* const found = std::find_if(std::begin(kinds), std::end(kinds),
                                           [&](const kind_of_type& each) { return each.letter == letter; });
    return found == std::end(kinds) ? nullptr : found;
}

/// A type that is a word: "<f4", "f4", "?". Without a kind if NumPy's objects or an unknown word.
type_in_file type_of_word(std::string_view word) {
    type_in_file made;
    made.text = word;
    std::string_view rest = word;
    bool has_other_order = false;
    if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) {
        has_other_order = rest.front() == (is_little_endian ? '>' : '<');
        rest.remove_prefix(1);
    }
    if (rest == "?") rest = "b1";
    if (rest.empty()) return made;
    const kind_of_type* const kind = kind_with(rest.front());
    std::size_t units = 0;
    const auto [end, fault] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), units);
    const bool has_unit_of_time = rest.front() == 'M' || rest.front() == 'm';  // "<M8[ns]"
    if (kind == nullptr || fault != std::errc() || (end != rest.data() + rest.size() && !has_unit_of_time) ||
        units > shape::max_elements / kind->unit_bytes)
        return made;
    made.kind = kind->letter;
    made.bytes = units * kind->unit_bytes;
    made.is_swapped = has_other_order && made.bytes > 1;
    return made;
}

type_in_file take_type(literal_reader& reader, int depth);

/// ('name', type), ('name', type, (2, 3)), and a pair of a title and a name instead of the name. Padding is a
/// field without a name.
field_in_file take_field(literal_reader& reader, int depth) {
    constexpr std::string_view what = "the name of a field";
    field_in_file made;
    reader.take('(');
    if (reader.takes('(')) {
        reader.take_string("the title of a field");
        reader.take(',');
        made.name = reader.take_string(what);
        reader.take(')');
    } else {
        made.name = reader.take_string(what);
    }
    reader.take(',');
    made.type = take_type(reader, depth + 1);
    if (reader.takes(',') && reader.begins_with('(')) {
        made.extents = reader.take_sizes();
        reader.takes(',');
    }
    reader.take(')');
    return made;
}

type_in_file take_type(literal_reader& reader, int depth) {
    if (!reader.begins_with(structure_kind)) return type_of_word(reader.take_string("a type"));
    if (depth > deepest_nesting)
        reader.refuse(fmt::format("has structures within structures, deeper than {}", deepest_nesting));
    type_in_file made;
    made.kind = structure_kind;
    reader.take(structure_kind);
    while (!reader.takes(']')) {
        field_in_file field = take_field(reader, depth);
        if (field.type.kind == 0)
            reader.from().refuse(fmt::format("its field {} has the type {}, which Balm does not support",
                                             shown(field.name), shown(field.type.text)));
        field.offset = made.bytes;
        std::size_t bytes = field.type.bytes;
        bool is_large = false;
        for (const std::size_t size : field.extents) is_large |= __builtin_mul_overflow(bytes, size, &bytes);
        is_large |= __builtin_add_overflow(made.bytes, bytes, &made.bytes);
        if (is_large || made.bytes > shape::max_elements)
            reader.refuse("has structures of more than 2^62 bytes, more than any memory holds");
        made.fields.push_back(std::move(field));
        if (!reader.takes(',') && !reader.begins_with(']'))
            reader.refuse("has no comma or bracket after a field");
    }
    return made;
}

/// The name of the C++ type: "float" for 'f' and 4 bytes.
std::string host_name(char kind, std::size_t bytes) {
    switch (kind) {
        case 'b': return "bool";
        case 'f': return bytes == 2 ? "balm::half" : bytes == 4 ? "float" : "double";
        case 'c': return bytes == 8 ? "std::complex<float>" : "std::complex<double>";
        default: return fmt::format("std::{}int{}_t", kind == 'u' ? "u" : "", 8 * bytes);
    }
}
bool has_host_type(const type_in_file& of) {
    const kind_of_type* const kind = kind_with(of.kind);
    return kind != nullptr && kind->sizes.find(fmt::format(" {} ", of.bytes)) != std::string_view::npos;
}

std::string names_of(const std::vector<field_in_file>& fields) {
    constexpr std::size_t most_named = 10;
    std::string names;
    std::size_t named = 0;
    for (const field_in_file& each : fields) {
        if (each.name.empty()) continue;
        if (named == most_named) return names + " and more";
        names += (named++ == 0 ? "" : ", ") + shown(each.name);
    }
    return names;
}

/// Names the type in messages, should it be refused.
class type_source final : public byte_source {
public:
    type_source() : byte_source("The type", 0) {}

private:
    void next(std::span<std::byte>) override {}
};

/// Where numbers or structures lie.
struct positions {
    std::size_t in_file = 0, in_memory = 0;
};

/// Matches a file's type with the layout in memory.
class matcher {
public:
    explicit matcher(const byte_source& from) : from_(from) {}

    npy_element_copy match(const type_in_file& found, const npy_layout& wanted) {
        made_.file_bytes = found.bytes;
        if (wanted.structure != nullptr) {
            made_.memory_bytes = wanted.structure->bytes;
            check_structure("its elements are", found, *wanted.structure);
            add_structure(found, *wanted.structure, {}, "");
        } else {
            made_.memory_bytes = wanted.number.bytes;
            check_number("its elements are", "read them with that type and convert them", found,
                         wanted.number);
            element_layout one_lane = wanted.number;  // lanes are a dimension of the array
            one_lane.lanes = one_lane.lanes_in_memory = 1;
            add_numbers(found, one_lane, 1, {});
        }
        return std::move(made_);
    }

private:
    /// `whose`: "its elements are", "its field 'x' is".
    void check_number(std::string_view whose, std::string_view advice, const type_in_file& found,
                      const element_layout& wanted) const {
        if (found.kind == structure_kind)
            from_.refuse(
                fmt::format("{} structures with the fields {}, not {}; read them as a structure that "
                            "BALM_STRUCT declares",
                            whose, names_of(found.fields), host_name(wanted.kind, wanted.bytes)));
        if (!has_host_type(found))
            from_.refuse(
                fmt::format("{} of the type {}, which Balm does not support", whose, shown(found.text)));
        if (found.kind != wanted.kind || found.bytes != wanted.bytes)
            from_.refuse(fmt::format("{} {} ({}), not {}; {}", whose, host_name(found.kind, found.bytes),
                                     shown(found.text), host_name(wanted.kind, wanted.bytes), advice));
    }
    void check_structure(std::string_view whose, const type_in_file& found,
                         const npy_structure& wanted) const {
        if (found.kind == structure_kind) return;
        const std::string type =
            has_host_type(found)
                ? fmt::format("{} ({})", host_name(found.kind, found.bytes), shown(found.text))
                : fmt::format("of the type {}", shown(found.text));
        from_.refuse(fmt::format("{} {}, not structures such as {}", whose, type, wanted.name));
    }

    void add_structure(const type_in_file& found, const npy_structure& wanted, positions at,
                       const std::string& path) {
        for (const npy_member& member : wanted.members) {
            const std::string name = path + member.name;
            const auto field =
                std::find_if(found.fields.begin(), found.fields.end(),
                             [&](const field_in_file& each) { return each.name == member.name; });
            if (field == found.fields.end())
                from_.refuse(fmt::format("its structures have no field {} for {}; they have {}", shown(name),
                                         wanted.name,
                                         found.fields.empty() ? "none" : names_of(found.fields)));
            add_member(*field, member, {at.in_file + field->offset, at.in_memory + member.offset}, name);
        }
    }

    void add_member(const field_in_file& field, const npy_member& member, positions at,
                    const std::string& name) {
        const std::string whose = fmt::format("its field {} is", shown(name));
        const npy_layout& what = member.what;
        if (what.structure != nullptr)
            check_structure(whose, field.type, *what.structure);
        else
            check_number(whose, "declare the member with that type", field.type, what.number);
        std::vector<std::size_t> extents = member.extents;
        if (what.structure == nullptr && what.number.lanes > 1) extents.push_back(what.number.lanes);
        if (field.extents != extents)
            from_.refuse(fmt::format("{} a sub-array of the shape {}, but the member's is {}", whose,
                                     tuple_text(field.extents), tuple_text(extents)));
        std::size_t count = 1;
        for (const std::size_t size : member.extents) count *= size;
        if (what.structure == nullptr) return add_numbers(field.type, what.number, count, at);
        for (std::size_t k = 0; k < count; ++k) {
            add_structure(field.type, *what.structure, at, name + ".");
            at.in_file += field.type.bytes;
            at.in_memory += what.structure->bytes;
        }
    }

    /// `count` numbers or short vectors.
    void add_numbers(const type_in_file& found, const element_layout& wanted, std::size_t count,
                     positions at) {
        const std::size_t parts = wanted.kind == 'c' ? 2 : 1;
        const bool has_room = wanted.lanes != wanted.lanes_in_memory;
        const std::size_t groups = has_room ? count : 1;
        const std::size_t numbers = has_room ? wanted.lanes : count * wanted.lanes;
        for (std::size_t k = 0; k < groups; ++k) {
            add({at.in_file, at.in_memory, numbers * parts, wanted.bytes / parts, found.is_swapped,
                 wanted.kind == 'b'});
            at.in_file += std::size_t{wanted.lanes} * wanted.bytes;
            at.in_memory += std::size_t{wanted.lanes_in_memory} * wanted.bytes;
        }
    }

    void add(const npy_run& run) {
        if (!made_.runs.empty()) {
            npy_run& last = made_.runs.back();
            npy_run next = last;  // what follows it immediately
            next.in_file += last.bytes();
            next.in_memory += last.bytes();
            next.count = run.count;
            if (next == run) {
                last.count += run.count;
                return;
            }
        }
        made_.runs.push_back(run);
    }

    const byte_source& from_;
    npy_element_copy made_;
};

std::string structure_text(const npy_structure& of);
std::string word_of(const element_layout& number) {
    const char order = number.bytes == 1 ? '|' : is_little_endian ? '<' : '>';
    return fmt::format("'{}{}{}'", order, number.kind, number.bytes);
}
/// A field of the member, and its size in the file.
std::pair<std::string, std::size_t> field_text(const npy_member& member) {
    const npy_layout& what = member.what;
    std::vector<std::size_t> extents = member.extents;
    if (what.structure == nullptr && what.number.lanes > 1) extents.push_back(what.number.lanes);
    std::size_t bytes = what.structure != nullptr ? what.structure->bytes : what.number.bytes;
    for (const std::size_t size : extents) bytes *= size;
    return {fmt::format("('{}', {}{})", member.name,
                        what.structure != nullptr ? structure_text(*what.structure) : word_of(what.number),
                        extents.empty() ? "" : ", " + tuple_text(extents)),
            bytes};
}
/// The members as they lie in memory, with padding as NumPy writes it.
std::string structure_text(const npy_structure& of) {
    std::string made;
    std::size_t end = 0;
    const auto pad_to = [&](std::size_t offset) {
        if (offset > end) made += fmt::format("{}('', '|V{}')", made.empty() ? "" : ", ", offset - end);
    };
    std::vector<const npy_member*> by_offset;
    for (const npy_member& each : of.members) by_offset.push_back(&each);
    std::stable_sort(by_offset.begin(), by_offset.end(),
                     [](const npy_member* a, const npy_member* b) { return a->offset < b->offset; });
    for (const npy_member* const each : by_offset) {
        pad_to(each->offset);
        const auto [text, bytes] = field_text(*each);
        made += (made.empty() ? "" : ", ") + text;
        end = each->offset + bytes;
    }
    pad_to(of.bytes);
    return '[' + made + ']';
}

}  // namespace

bool npy_element_copy::is_dense() const {
    std::size_t covered = 0;
    for (const npy_run& each : runs) covered += each.in_file == each.in_memory ? each.bytes() : 0;
    return file_bytes == memory_bytes && covered == memory_bytes;
}

bool npy_element_copy::needs_mending() const {
    return std::any_of(runs.begin(), runs.end(),
                       [](const npy_run& each) { return each.is_swapped || each.is_truth; });
}

void npy_element_copy::to_memory(const std::byte* in_file, std::byte* in_memory) const {
    for (const npy_run& each : runs)
        std::memcpy(in_memory + each.in_memory, in_file + each.in_file, each.bytes());
}

void npy_element_copy::mend(std::byte* in_memory) const {
    for (const npy_run& each : runs) {
        std::byte* const at = in_memory + each.in_memory;
        if (each.is_swapped)
            for (std::size_t k = 0; k < each.count; ++k)
                std::reverse(at + k * each.number_bytes, at + (k + 1) * each.number_bytes);
        if (each.is_truth)  // 0 or 1 in C++; files may hold other bytes
            std::transform(at, at + each.count, at, [](std::byte b) { return std::byte(b != std::byte{0}); });
    }
}

void npy_element_copy::to_file(const std::byte* in_memory, std::byte* in_file) const {
    for (const npy_run& each : runs)
        std::memcpy(in_file + each.in_file, in_memory + each.in_memory, each.bytes());
}

std::string take_npy_type(literal_reader& reader) {
    if (!reader.begins_with(structure_kind)) return std::string(reader.take_string("a type"));
    const std::string_view before = reader.rest();
    take_type(reader, 0);
    return std::string(before.substr(0, before.size() - reader.rest().size()));
}

npy_element_copy npy_copy_of(const byte_source& from, const std::string& text, const npy_layout& wanted) {
    literal_reader reader(from, text);
    const type_in_file found = text.starts_with(structure_kind) ? take_type(reader, 0) : type_of_word(text);
    return matcher(from).match(found, wanted);
}

npy_element_copy npy_copy_of(const npy_layout& of) {
    std::string text = npy_type_text(of);
    if (of.structure == nullptr) text = text.substr(1, text.size() - 2);  // without quotation marks
    return npy_copy_of(type_source(), text, of);
}

std::string npy_type_text(const npy_layout& of) {
    return of.structure != nullptr ? structure_text(*of.structure) : word_of(of.number);
}

}  // namespace balm::interop
