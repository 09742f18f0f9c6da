// Conversions and the rows of builtins.def, on scalars and on short vectors.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emit/builtin_spelling.hpp"
#include "emit/chosen_functions.hpp"
#include "emit/elementary_functions.hpp"
#include "emit/function/expressions.hpp"
#include "emit/lanes.hpp"
#include "emit/ptx.hpp"
#include "ir/lower/widen.hpp"

namespace balm::emit {

using detail::rule;
using ir::instruction;
using ir::opcode;
using ir::value_id;

text expression_printer::scalar_select(value_id v) {
    const ir::type result = at(v).result;
    // Compilers warn about (a < b) | c ? x : y.
    const std::string condition = operand(v, 0, equality), yes = operand(v, 1, ternary + 1);
    const std::string words = condition + " ? " + yes + " : " + operand(v, 2, ternary + 1);
    // C promotes the two values to int, and clz or add_sat would be those of int.
    if (is_integer(result.element) && size_of(result.element) < 4)
        return {fmt::format("({})({})", type_of(result), words), unary};
    return {words, ternary};
}

text expression_printer::conversion(value_id v) {
    const instruction& given = at(f_.operand(v, 0));
    const scalar from = given.result.element, to = at(v).result.element;
    const auto cast = [&] { return text{"(" + type_of(at(v).result) + ")" + operand(v, 0, unary), unary}; };
    if (given.result.is_pointer()) return cast();
    if (at(v).result.lanes > 1) return vector_conversion(v);
    if (to == scalar::boolean) {
        const char* zero = !is_floating(from) ? "0" : from == scalar::f32 ? "0.0f" : "0.0";
        return {operand(v, 0, relation) + " != " + zero, equality};
    }
    if (is_floating(from) && is_integer(to))
        return call(parts_.use(saturating_conversion(parts_.language, from, to)), v);
    if (has().has_ptx && ptx::hides_arithmetic(from, to) && given.op != opcode::load)
        return call(parts_.use(ptx::truncation(parts_.language, from, to)), v);
    const bool is_place = given.op == opcode::place && !names_.has(f_.operand(v, 0));
    return is_integer(to) && size_of(to) <= 4 && is_place ? narrow_place(v) : cast();
}
/// A work-item's place in 32 bits or fewer: the wide arithmetic would yield the same bits.
text expression_printer::narrow_place(value_id v) {
    std::string words = use(f_.operand(v, 0)).words;
    words.erase(0, words.find(')') + 1);  // "(long)"
    if (words[0] != '(' && words.find(' ') != std::string::npos) words = "(" + words + ")";
    return {"(" + type_of(at(v).result) + ")" + words, unary};
}

text expression_printer::row(value_id v) {
    const instruction& i = at(v);
    const auto what = static_cast<builtin>(i.detail);
    const ir::builtin_info& info = ir::info(what);
    const scalar type = at(f_.operand(v, 0)).result.element;
    if (i.result.element == scalar::f64) parts_.uses_f64 = true;
    const std::optional<helper_function> chosen = chosen_function(parts_, f_, v);
    if (has_lanes(v) && (!has().has_vectors || chosen || !has_vector_form(what, type))) return lane_wise(v);
    if (chosen) return call(parts_.use(*chosen), v);
    const bool gives_truth = info.takes == rule::compare || info.takes == rule::predicate;
    if (i.result.lanes > 1 && i.result.element == scalar::boolean && gives_truth) return lanes_of_truth(v);
    if (info.symbol && info.arity == 1) return {info.symbol + operand(v, 0, postfix), unary};
    if (info.symbol) return infix(v);
    if (i.result.lanes >= (what == builtin::step ? 2 : 8) && ir::has_own_lanes(what, type))
        return call(elementary_function(parts_, what, i.result), v);
    const builtin_spelling s = spell(parts_, what, type);
    if (s.pattern == "$0") return use(f_.operand(v, 0));
    for (const helper_function& h : s.helpers) parts_.use(h);
    return {substitute(s.pattern, operands_from(v, 0, s.is_call ? 0 : postfix)),
            s.is_call ? postfix : equality};
}

text expression_printer::infix(value_id v) {
    const ir::builtin_info& info = ir::info(static_cast<builtin>(at(v).detail));
    const instruction& count = at(f_.operand(v, 1));
    const int own = info.precedence;
    // Mixed bit operations, shifts and comparisons get parentheses that C does not ask for but readers do.
    const bool careful = own <= bitwise || own == shift;
    const bool compares = own == equality || own == relation;
    const bool is_shift = own == shift;
    const bool literals = at(f_.operand(v, 0)).op == opcode::constant && count.op == opcode::constant;
    const int least_left = careful ? int(unary) : compares ? int(shift) + 1 : own;
    const int least_right = careful ? int(unary) : compares ? int(shift) + 1 : own + 1;
    const std::string left =
        literals || is_shift ? operand(v, 0, least_left) : plain_operand(v, 0, least_left);
    std::string right = literals ? operand(v, 1, least_right) : plain_operand(v, 1, least_right);
    if (is_shift && !is_small_shift(v)) {
        const std::uint64_t last = 8 * size_of(at(v).result.element) - 1;
        const bool masks = has().masks_shift_counts;
        const bool is_scalar = at(v).result.lanes == 1;  // CUDA's operators on vectors mask the counts
        if (masks && count.op == opcode::constant) right = std::to_string(count.bits & last);
        if (!masks && is_scalar) right = fmt::format("({} & {})", right, last);
    }
    return {left + " " + info.symbol + " " + right, own};
}
bool expression_printer::is_small_shift(value_id v) const {
    const instruction& count = at(f_.operand(v, 1));
    return count.op == opcode::constant && count.bits < 8 * size_of(at(v).result.element);
}

const char* expression_printer::plain_operator(value_id v) const {
    const instruction& i = at(v);
    if (i.op != opcode::builtin || names_.has(v) || f_.operands_of(v).size() != 2) return nullptr;
    const auto what = static_cast<builtin>(i.detail);
    const ir::builtin_info& info = ir::info(what);
    if (!info.symbol || info.takes == rule::compare || chosen_function(parts_, f_, v)) return nullptr;
    const bool masks = has().masks_shift_counts;
    if (info.takes == rule::shift && !masks && !is_small_shift(v)) return nullptr;
    if (i.result.element == scalar::boolean) return nullptr;
    if (i.result.lanes > 1 && (!has().has_vectors || !has_vector_form(what, i.result.element)))
        return nullptr;
    return info.symbol;
}

// ---- short vectors. Truth values in lanes are chars in OpenCL C, 0 or -1; in memory they are bytes, 0 or 1.

/// The number of operands from k on that are neighbouring lanes of a vector, and that a vector can have.
int expression_printer::neighbouring_lanes(value_id composed, std::size_t k) const {
    const auto operands = f_.operands_of(composed).subspan(k);
    const instruction& first = at(operands[0]);
    const auto is_lane = [&](std::size_t n) {
        const instruction& i = at(operands[n]);
        return i.op == opcode::swizzle && i.result.is_scalar() && !names_.has(operands[n]) &&
               f_.operand(operands[n], 0) == f_.operand(operands[0], 0) && i.bits == first.bits + n;
    };
    std::size_t count = 0;
    while (count < operands.size() && is_lane(count)) ++count;
    return count < 2 ? 1 : static_cast<int>(std::bit_floor(count));
}

std::string expression_printer::composed_lanes(value_id v) {
    if (!has().has_vectors || at(v).result.element == scalar::boolean) return joined(operands_from(v, 0, 0));
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < f_.operands_of(v).size();) {
        const int count = neighbouring_lanes(v, k);
        if (count == 1) {
            parts.push_back(operand(v, k, 0));
        } else {
            const value_id lane = f_.operand(v, k);
            const int lanes = at(f_.operand(lane, 0)).result.lanes;
            std::uint64_t order = 0;
            for (int n = 0; n < count; ++n) order |= (at(lane).bits + static_cast<std::uint64_t>(n)) << 4 * n;
            parts.push_back(operand(lane, 0, postfix) + "." + lane_names(lanes, order, count));
        }
        k += static_cast<std::size_t>(count);
    }
    return joined(parts);
}

text expression_printer::compose(value_id v) {
    const ir::type t = at(v).result;
    const std::string list = composed_lanes(v);
    if (!has().has_vectors) return {fmt::format("{}({})", type_of(t), list), postfix};
    const bool is_truth = t.element == scalar::boolean;
    return {fmt::format("{}({})({})", is_truth ? "-" : "", type_of(t), list), is_truth ? unary : postfix};
}

text expression_printer::swizzle(value_id v) {
    const instruction& i = at(v);
    const ir::type vector = at(f_.operand(v, 0)).result;
    const int count = i.result.lanes;
    if (count > 1 && !has().has_vectors) return call(swizzle_function(parts_, vector, i.bits, count), v);
    const std::string words = operand(v, 0, postfix) + "." + lane_names(vector.lanes, i.bits, count);
    if (count == 1 && i.result.element == scalar::boolean && has().has_vectors)
        return {words + " != 0", equality};
    return {words, postfix};
}

text expression_printer::lane_indices(value_id v) {
    const int lanes = at(v).result.lanes;
    std::string list;
    for (int k = 0; k < lanes; ++k) list += (k ? ", " : "") + std::to_string(k);
    return {fmt::format("{} + ({})({})", operand(v, 0, add_precedence), type_of(at(v).result), list),
            add_precedence};
}

text expression_printer::vector_select(value_id v) {
    const ir::type result = at(v).result;
    if (!has().has_vectors) return call(lane_wise_select(parts_, result), v);
    constexpr scalar masks[] = {scalar::i8, scalar::i16, scalar::i32, scalar::i32, scalar::i64};
    const ir::type mask(masks[size_of(result.element) / 2], result.lanes);
    const std::string condition = operand(v, 0, 0), yes = operand(v, 1, 0);
    return {fmt::format("select({}, {}, convert_{}({}))", operand(v, 2, 0), yes, type_of(mask), condition),
            postfix};
}

text expression_printer::vector_conversion(value_id v) {
    const scalar from = at(f_.operand(v, 0)).result.element, to = at(v).result.element;
    const std::string result = type_of(at(v).result);
    const bool saturates = is_floating(from) && is_integer(to);
    if (!has().has_vectors || saturates || (has().has_ptx && ptx::hides_arithmetic(from, to)))
        return call(lane_wise_conversion(parts_, at(v).result, ir::type(from, at(v).result.lanes)), v);
    if (to == scalar::boolean)
        return {fmt::format("convert_{}({} != ({})0)", result, operand(v, 0, shift), type_of(from)), postfix};
    if (from == scalar::boolean)
        return {fmt::format("convert_{}({} & (char)1)", result, operand(v, 0, unary)), postfix};
    return {fmt::format("convert_{}({})", result, operand(v, 0, 0)), postfix};
}

bool expression_printer::has_lanes(value_id v) const {
    const auto operands = f_.operands_of(v);
    return std::any_of(operands.begin(), operands.end(), [&](value_id o) { return at(o).result.lanes > 1; });
}
/// Whether OpenCL C's row on vectors can be used. PoCL's functions on vectors round differently from those on
/// scalars where the standard permits it; each lane of a user's vector must have the scalar result.
bool expression_printer::has_vector_form(builtin what, scalar type) const {
    return ir::has_lanes_in_opencl(what, type) && (f_.is_widened || ir::info(what).ulp == 0);
}
/// A row lane by lane, by a helper function.
text expression_printer::lane_wise(value_id v) {
    const auto what = static_cast<builtin>(at(v).detail);
    std::vector<ir::type> types;
    for (value_id o : f_.operands_of(v)) types.emplace_back(at(o).result.element, at(v).result.lanes);
    const std::string name = lane_wise_row(parts_, what, at(v).result, types);
    const ir::builtin_info& row = ir::info(what);
    if (!row.symbol || has().has_vectors) return call(name, v);
    return row.arity == 1 ? text{row.symbol + operand(v, 0, postfix), unary} : infix(v);
}
/// A comparison returns lanes as wide as its operands; all truth values are converted to chars.
text expression_printer::lanes_of_truth(value_id v) {
    const ir::builtin_info& row = ir::info(static_cast<builtin>(at(v).detail));
    if (at(f_.operand(v, 0)).result.element == scalar::boolean && row.precedence == relation) {
        const std::string left = operand(v, 0, shift);  // true is -1 here: the order is reversed
        return {fmt::format("({} {}{} {})", left, row.symbol[0] == '<' ? '>' : '<', row.symbol + 1,
                            operand(v, 1, shift)),
                primary};
    }
    const std::string words = row.symbol ? infix(v).words : call(row.name, v).words;
    return {fmt::format("convert_{}({})", type_of(at(v).result), words), postfix};
}

}  // namespace balm::emit
