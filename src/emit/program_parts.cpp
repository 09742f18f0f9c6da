// Declares types, constants and helper functions where a program first needs them. In a language without
// vector types, vectors are structures with OpenCL's alignment (CUDA's double4 is aligned to 16 bytes).

#include "emit/program_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "emit/lanes.hpp"
#include "emit/literal.hpp"
#include "ir/passes/aggregate.hpp"

namespace balm::emit {

namespace {

std::string vector_structure(program_parts& parts, ir::type t, const std::string& name) {
    const std::string scalar_name = type_name(parts.language, t.element);
    std::string members, parameters, values, same;
    for (int k = 0; k < t.lanes; ++k) {
        const std::string lane = lane_name(t.lanes, k), comma = k ? ", " : "";
        members += comma + lane;
        parameters += fmt::format("{}{} {}_", comma, scalar_name, lane);
        values += fmt::format("{0}{1}({1}_)", comma, lane);
        same += fmt::format("{}{}(all)", comma, lane);
    }
    return fmt::format(
        "struct {0} {1} {{\n    {2} {3};\n    {1}() = default;\n"
        "    {4}{1}({2} all) : {5} {{}}\n    {4}{1}({6}) : {7} {{}}\n}};\n",
        fmt::format(fmt::runtime(parts.language.say.aligned), size_of(t)), name, scalar_name, members,
        parts.language.say.member_function, same, parameters, values);
}

/// A vector that is aligned as its scalars are. A language without vector types has a structure for it, which
/// converts to the vector and is assigned one.
std::string packed_vector(program_parts& parts, ir::type packed, const std::string& name) {
    const ir::type vector(packed.element, packed.lanes);
    const std::string vector_name = type_name(parts, vector);
    if (parts.language.has.has_vectors)
        return fmt::format("typedef {} {} __attribute__((aligned({})));\n", vector_name, name,
                           alignment_of(packed));
    std::string loads, stores;
    for (int k = 0; k < packed.lanes; ++k) {
        loads += fmt::format("{}at[{}]", k ? ", " : "", k);
        stores += fmt::format(" at[{}] = v.{};", k, lane_name(packed.lanes, k));
    }
    return fmt::format(
        "struct {0} {{\n    {1} at[{2}];\n    {3}operator {4}() const {{ return {4}({5}); }}\n"
        "    {3}void operator=(const {4}& v) {{{6} }}\n}};\n",
        name, type_name(parts.language, packed.element), packed.lanes, parts.language.say.member_function,
        vector_name, loads, stores);
}

std::string structure(program_parts& parts, const trace::structure& s, const std::string& name,
                      const std::vector<std::string>& members) {
    std::size_t end = 0, strictest = 1;
    bool packed = false;
    for (std::uint32_t k = 0; k < s.member_count; ++k) {
        const std::size_t alignment = alignment_of(s.members[k].what);
        packed = packed || s.members[k].offset % alignment != 0;
        strictest = std::max(strictest, alignment);
    }
    packed = packed || s.alignment < strictest;
    std::string body;
    name_set gaps;
    for (const std::string& member : members) gaps.reserve(member);
    const auto fill_to = [&](std::size_t offset, std::size_t alignment) {
        const std::size_t natural = packed ? end : (end + alignment - 1) / alignment * alignment;
        if (offset > natural)
            body += fmt::format("    {} {}[{}];\n", type_name(parts.language, scalar::u8), gaps.unique("gap"),
                                offset - end);
    };
    for (std::uint32_t k = 0; k < s.member_count; ++k) {
        const trace::member& m = s.members[k];
        fill_to(m.offset, alignment_of(m.what));
        body += fmt::format("    {} {}{};\n", type_name(parts, in_memory(m.what)), members[k],
                            m.count > 1 ? fmt::format("[{}]", m.count) : "");
        end = m.offset + size_of(m.what) * m.count;
    }
    fill_to(s.size, s.alignment);
    std::string attributes = packed ? fmt::format("__attribute__((packed, aligned({}))) ", s.alignment)
                             : s.alignment > strictest
                                 ? fmt::format("__attribute__((aligned({}))) ", s.alignment)
                                 : "";
    if (parts.meets_text_structures && !parts.language.has.is_cpp)
        attributes += "__attribute__((may_alias)) ";  // a text accesses it as another structure type
    if (!parts.language.has.is_cpp)
        return fmt::format("typedef struct {}{{\n{}}} {};\n", attributes, body, name);
    return fmt::format("struct {}{} {{\n{}}};\n", attributes, name, body);
}

std::string value_type_name(program_parts& parts, ir::type t) {
    if (t.aggregate == 0 && !t.is_packed && (t.lanes == 1 || parts.language.has.has_vectors))
        return type_name(parts.language, t.element, t.lanes);
    if (const auto known = parts.types.find(ir::code(t)); known != parts.types.end()) return known->second;
    std::string text, name;
    if (t.aggregate != 0) {
        const trace::structure& s = ir::structure_of(t);
        name = parts.names.unique(s.name);
        std::vector<std::string>& members = parts.members[ir::code(t)];
        name_set taken(parts.names);
        for (std::uint32_t k = 0; k < s.member_count; ++k) members.push_back(taken.unique(s.members[k].name));
        text = structure(parts, s, name, members);
    } else {
        constexpr const char* words[] = {"",    "bool", "char", "uchar", "short", "ushort",
                                         "int", "uint", "long", "ulong", "float", "double"};
        name = fmt::format("balm_{}{}{}", t.is_packed ? "packed_" : "",
                           words[static_cast<std::size_t>(t.element)], t.lanes);
        text = t.is_packed ? packed_vector(parts, t, name) : vector_structure(parts, t, name);
    }
    parts.type_text += text + "\n";
    parts.types.emplace(ir::code(t), name);
    return name;
}

/// A literal that may initialise constant data, so neither a call of the language's functions nor a macro
/// that expands to one (NVIDIA's INFINITY). OpenCL C has one NaN.
std::string initializer(const dialect& language, scalar s, std::uint64_t bits) {
    const bool f32 = s == scalar::f32;
    const double x = !is_floating(s) ? 0
                     : f32           ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                     : std::bit_cast<double>(bits);
    if (std::isfinite(x)) return literal(language, s, bits).words;
    if (language.has.is_cpp)
        return fmt::format("__builtin_bit_cast({}, 0x{:x}{})", type_name(language, s), bits,
                           f32 ? "u" : "ull");
    const char* sign = std::signbit(x) ? "-" : "";
    const char* suffix = f32 ? "f" : "";
    return std::isnan(x) ? fmt::format("{}__builtin_nan{}(\"\")", sign, suffix)
                         : fmt::format("{}__builtin_huge_val{}()", sign, suffix);
}

}  // namespace

std::string program_parts::use(const helper_function& h) {
    const bool known =
        std::any_of(helpers.begin(), helpers.end(), [&](const auto& e) { return e.first == h.name; });
    if (!known) helpers.emplace_back(h.name, h.text);
    return h.name;
}

ir::type in_memory(ir::type t) {
    if (t.is_pointer()) return t;
    if (t.element == scalar::boolean) t.element = scalar::u8;
    if (t.element == scalar::f16) t.element = scalar::u16;
    return t;
}

std::string type_name(program_parts& parts, ir::type t) {
    if (!t.is_pointer()) {
        if (t.element == scalar::f64) parts.uses_f64 = true;
        return value_type_name(parts, t);
    }
    constexpr const char* spaces[] = {"", "global ", "local ", "constant ", "private "};
    const bool has_spaces = parts.language.has.has_address_spaces;
    const char* where = has_spaces ? spaces[static_cast<std::size_t>(t.where)] : "";
    const ir::type target = pointee(t);
    const bool says_const = t.where == space::constant && has_spaces;
    const char* is_const = t.is_const && !says_const ? "const " : "";
    if (target.is_pointer()) return fmt::format("{} {}{}*", type_name(parts, target), where, is_const);
    return fmt::format("{}{}{}*", where, is_const, type_name(parts, in_memory(target)));
}

std::string constant_name(program_parts& parts, const ir::constant_data& data) {
    if (const auto known = parts.constants.find(&data); known != parts.constants.end()) return known->second;
    std::string name = parts.names.unique(data.name);
    const ir::type element = in_memory(data.element);
    std::string list;
    for (std::size_t k = 0; k < data.bits.size(); ++k)
        list += fmt::format("{}{}",
                            k == 0       ? ""
                            : k % 8 == 0 ? ",\n    "
                                         : ", ",
                            initializer(parts.language, element.element, data.bits[k]));
    parts.constant_text += fmt::format("{}{} {}[{}] = {{\n    {}}};\n", parts.language.say.constant_array,
                                       type_name(parts, element), name, data.bits.size(), list);
    parts.constants.emplace(&data, name);
    return name;
}

void declare_parts_of(program_parts& parts, const ir::function& f) {
    const auto declare = [&](ir::type t) {
        if (t.aggregate != 0 && !t.is_image()) type_name(parts, t);
    };
    declare(f.result);
    for (const ir::parameter& p : f.parameters) declare(p.what);
    for (const ir::block& b : f.blocks)
        for (ir::value_id v : b) {
            const ir::instruction& i = f.code[v];
            declare(i.result);
            if (i.op == ir::opcode::constant_array) constant_name(parts, *f.constants[i.bits]);
        }
}

std::string type_word(ir::type t) {
    return std::string(to_string(t.element)) + (t.lanes > 1 ? "x" + std::to_string(t.lanes) : "");
}

}  // namespace balm::emit
