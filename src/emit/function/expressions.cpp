#include "emit/function/expressions.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "emit/atomic_spelling.hpp"
#include "emit/builtin_spelling.hpp"
#include "emit/folding.hpp"
#include "emit/lanes.hpp"
#include "emit/literal.hpp"
#include "ir/passes/aggregate.hpp"

namespace balm::emit {

using ir::instruction;
using ir::opcode;
using ir::value_id;

namespace {

bool is_zero(const instruction& i) { return i.op == opcode::constant && i.bits == 0; }

}  // namespace

text expression_printer::expression(value_id v) {
    const instruction& i = at(v);
    switch (i.op) {
        case opcode::constant:
            if (i.result.element == scalar::f64) parts_.uses_f64 = true;
            return literal(parts_.language, i.result.is_pointer() ? scalar::nothing : i.result.element,
                           i.bits);
        case opcode::read_cell: return {names_[f_.operand(v, 0)], primary};
        case opcode::load: return loaded(v);
        case opcode::offset: return address(v);
        case opcode::member: return {"&" + element_of(v, 0).words, unary};
        case opcode::reinterpret:
            return {fmt::format("({}){}", type_of(i.result), operand(v, 0, unary)), unary};
        case opcode::constant_array: return {constant_name(parts_, *f_.constants[i.bits]), primary};
        case opcode::compose:
        case opcode::broadcast: return compose(v);
        case opcode::swizzle: return swizzle(v);
        case opcode::insert:
            return call(insert_function(parts_, i.result, i.bits, at(f_.operand(v, 1)).result), v);
        case opcode::lane_index: return lane_indices(v);
        case opcode::place: return place(i);
        case opcode::convert: return conversion(v);
        case opcode::select:
            return at(f_.operand(v, 0)).result.lanes > 1 ? vector_select(v) : scalar_select(v);
        case opcode::logic_and: {
            const std::string left = operand(v, 0, logical_and);
            return {left + " && " + operand(v, 1, logical_and), logical_and};
        }
        case opcode::logic_or: {
            const std::string left = operand(v, 0, logical_and);
            return {left + " || " + operand(v, 1, logical_and), logical_or};
        }
        case opcode::call:
        case opcode::evaluate: return called(v);
        case opcode::atomic: return atomic(v);
        case opcode::barrier:
        case opcode::sub_group: return sub_group(v);
        case opcode::read_image: return read_image(v);
        case opcode::write_image: return write_image(v);
        case opcode::image_size: return {parts_.language.image.size(operand(v, 0, postfix), i.bits), postfix};
        default: return row(v);
    }
}

text expression_printer::use(value_id v) {
    const instruction& i = at(v);
    if (i.op == opcode::object && i.detail == ir::one_element) return {"&" + names_[v], unary};
    return names_.has(v) ? text{names_[v], primary} : expression(v);
}
std::string expression_printer::operand(value_id v, std::size_t k, int least_precedence) {
    const text t = use(f_.operand(v, k));
    return t.precedence < least_precedence ? "(" + t.words + ")" : t.words;
}
std::string expression_printer::plain_operand(value_id v, std::size_t k, int least_precedence) {
    const instruction& i = at(f_.operand(v, k));
    const bool fits = i.op == opcode::constant && i.result.element == scalar::i64 && i.bits <= INT32_MAX;
    return fits ? std::to_string(i.bits) : operand(v, k, least_precedence);
}
std::vector<std::string> expression_printer::operands_from(value_id v, std::size_t first,
                                                           int least_precedence) {
    std::vector<std::string> list;
    for (std::size_t k = first; k < f_.operands_of(v).size(); ++k)
        list.push_back(operand(v, k, least_precedence));
    return list;
}
/// Calls the function with all operands of v.
text expression_printer::call(const std::string& function, value_id v) {
    return {function + "(" + joined(operands_from(v, 0, 0)) + ")", postfix};
}

text expression_printer::place(const instruction& i) const {
    const words& say = parts_.language.say;
    constexpr auto first_linear = static_cast<std::uint16_t>(ir::place::local_linear_id);
    const bool one_row = f_.dimensions == 1 || i.detail < first_linear;
    std::string words;
    for (char c : one_row ? say.places[i.detail] : say.linear_places[i.detail - first_linear]) {
        if (c == '$')
            words += say.axes[i.bits];
        else
            words += c;
    }
    return {words, words.find('*') == std::string::npos ? int(unary) : 11};
}

text expression_printer::called(value_id v) {
    std::string list;
    for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k) {
        list += (k ? ", " : "") + operand(v, k, 0);
        const instruction& given = at(f_.operand(v, k));
        if (given.result.is_image() && samplers_.count(given.bits)) list += ", " + samplers_.at(given.bits);
    }
    return {parts_.functions.at(f_.callees[at(v).bits].get()) + "(" + list + ")", postfix};
}

text expression_printer::atomic(value_id v) {
    const ir::type pointer = at(f_.operand(v, 0)).result;
    const auto what = static_cast<ir::atomic_op>(at(v).detail);
    const scalar element_type = pointee(pointer).element;
    const dialect& d = parts_.language;
    const atomic_spelling s = spell_atomic(d, what, element_type, pointer.where);
    for (const helper_function& h : s.helpers) parts_.use(h);
    const std::string extension = d.atomic_extension ? d.atomic_extension(what, element_type) : "";
    if (!extension.empty()) parts_.extensions.insert(extension);
    std::string words = s.name + "(&" + element(v).words;
    for (const std::string& given : operands_from(v, 2, 0)) words += ", " + given;
    return {words + ")", postfix};
}

/// A sub-group operation, or a counting barrier.
text expression_printer::sub_group(value_id v) {
    const instruction& i = at(v);
    const dialect& d = parts_.language;
    if (!d.has.has_sub_groups) throw error(fmt::format("internal: {} has no sub-group operations", d.name));
    const sync_spelling s = i.op == opcode::barrier
                                ? d.counting_barrier(d)
                                : d.sub_group(d, static_cast<ir::sub_group_op>(i.detail), i.result.element);
    for (const helper_function& h : s.helpers) parts_.use(h);
    return {substitute(s.pattern, operands_from(v, 0, 0)), postfix};
}

text expression_printer::read_image(value_id v) {
    const instruction& image = at(f_.operand(v, 0));
    const auto own_sampler = samplers_.find(image.bits);
    const std::string name = operand(v, 0, primary);
    const bool by_position = f_.parameters[image.bits].use == ir::access::in_image;
    return parts_.language.image.read(parts_, image.result, by_position, name,
                                      own_sampler == samplers_.end() ? "" : own_sampler->second,
                                      operands_from(v, 1, 0));
}
text expression_printer::write_image(value_id v) {
    const std::string name = operand(v, 0, primary);
    std::vector<std::string> position = operands_from(v, 1, 0);
    const std::string value = std::move(position.back());
    position.pop_back();
    const std::string writer = parts_.language.image.writer(parts_, at(f_.operand(v, 0)).result);
    return {fmt::format("{}({}, {}, {})", writer, name, joined(position), value), postfix};
}

// ---- pointers, loads and stores

text expression_printer::element(value_id v) {
    text words = element_of(f_.operand(v, 0), v);
    if (!is_volatile(at(v))) return words;
    const std::string pointer = type_of(at(f_.operand(v, 0)).result);
    return {fmt::format("*(volatile {})&{}", pointer, words.words), unary};
}

std::string expression_printer::address_of_access(value_id access) {
    const value_id pointer = f_.operand(access, 0);
    const text of =
        is_lane(f_, pointer) ? element_of(f_.operand(pointer, 0), 0) : element_of(pointer, access);
    const std::string& place = of.words;
    return place[0] == '*' ? place.substr(1) : "&" + place;
}

/// The element of a pointer at the index in operand 1 of `user`; if `user` is 0, the first element.
text expression_printer::element_of(value_id pointer, value_id user) {
    const bool first = user == 0 || is_zero(at(f_.operand(user, 1)));
    const auto index = [&] { return plain_operand(user, 1, 0); };
    const instruction& p = at(pointer);
    if (p.op == opcode::object && p.detail == ir::one_element)
        return first ? text{names_[pointer], primary}
                     : text{fmt::format("(&{})[{}]", names_[pointer], index()), postfix};
    if (p.op == opcode::member && !names_.has(pointer)) {
        const ir::type whole = pointee(at(f_.operand(pointer, 0)).result);
        const text base = element_of(f_.operand(pointer, 0), 0);
        const bool through = base.words[0] == '*';
        std::string path = through ? base.words.substr(1) + "->" : base.words + ".";
        if (!ir::is_structure(whole))
            return {path + lane_name(whole.lanes, static_cast<int>(p.bits)), postfix};
        path += parts_.members.at(ir::code(whole))[p.bits];
        if (ir::structure_of(whole).members[p.bits].count > 1)
            return {fmt::format("{}[{}]", path, first ? "0" : index()), postfix};
        return {first ? path : fmt::format("(&{})[{}]", path, index()), postfix};
    }
    if (p.op == opcode::offset && !names_.has(pointer) && first)
        return element_of(f_.operand(pointer, 0), is_zero(at(f_.operand(pointer, 1))) ? 0 : pointer);
    text base = use(pointer);
    if (base.precedence < (first ? unary : postfix)) base.words = "(" + base.words + ")";
    if (!first) return {fmt::format("{}[{}]", base.words, index()), postfix};
    const bool is_array = (p.op == opcode::parameter && !f_.parameters[p.bits].is_one) ||
                          p.op == opcode::object || p.op == opcode::constant_array;
    return is_array ? text{base.words + "[0]", postfix} : text{"*" + base.words, unary};
}

/// pointer + index
text expression_printer::address(value_id v) {
    if (is_zero(at(f_.operand(v, 1)))) return use(f_.operand(v, 0));
    const std::string base = operand(v, 0, add_precedence);
    return {fmt::format("{} + {}", base, plain_operand(v, 1, add_precedence + 1)), add_precedence};
}

std::string expression_printer::streaming_function(value_id v) {
    const dialect& d = parts_.language;
    const auto function = at(v).op == opcode::load ? d.streaming_load : d.streaming_store;
    const ir::type memory = pointee(at(f_.operand(v, 0)).result);
    const bool streams = accesses(at(v), ir::access_kind::streaming) && function && !memory.is_packed &&
                         size_of(memory) >= d.least_streaming_bytes;
    return streams ? parts_.use(function(parts_, in_memory(memory))) : "";
}

std::string expression_printer::streaming_store(value_id v) {
    const std::string function = streaming_function(v);
    return function.empty() ? "" : fmt::format("{}({}, {})", function, address_of_access(v), stored(v, 2));
}

text expression_printer::loaded(value_id v) {
    const ir::type value = at(v).result;
    ir::type memory = pointee(at(f_.operand(v, 0)).result);
    const std::string function = streaming_function(v);
    text words =
        function.empty() ? element(v) : text{fmt::format("{}({})", function, address_of_access(v)), postfix};
    const bool is_packed = memory.is_packed;
    memory.is_packed = false;
    if (is_packed && has().is_cpp)
        words = {fmt::format("{}({})", type_of(in_memory(memory)), words.words), postfix};
    if (value.is_pointer() || value.aggregate != 0) return words;
    if (memory.element == scalar::f16)
        return {half_conversion(parts_, value, in_memory(memory)) + "(" + words.words + ")", postfix};
    if (value.element != scalar::boolean) return words;
    if (value.lanes > 1 && !has().has_vectors)
        return {lane_wise_conversion(parts_, value, in_memory(memory)) + "(" + words.words + ")", postfix};
    return {words.words + (value.lanes > 1 ? " != (uchar)0" : " != 0"), equality};
}

std::string expression_printer::stored(value_id v, std::size_t k) {
    const ir::type given = at(f_.operand(v, k)).result;
    if (at(v).op == opcode::write_cell || given.is_pointer() || given.aggregate != 0) return operand(v, k, 0);
    ir::type memory = pointee(at(at(v).op == opcode::store ? f_.operand(v, 0) : v).result);
    memory.is_packed = false;
    if (memory.element == scalar::f16)
        return half_conversion(parts_, in_memory(memory), given) + "(" + operand(v, k, 0) + ")";
    if (given.lanes == 1 || given.element != scalar::boolean) return operand(v, k, 0);
    if (!has().has_vectors)
        return lane_wise_conversion(parts_, in_memory(memory), given) + "(" + operand(v, k, 0) + ")";
    return fmt::format("convert_{}({} & (char)1)", type_of(ir::type(scalar::u8, given.lanes)),
                       operand(v, k, unary));
}

}  // namespace balm::emit
