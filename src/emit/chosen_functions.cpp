#include "emit/chosen_functions.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "emit/builtin_spelling.hpp"
#include "emit/ptx.hpp"

namespace balm::emit {

namespace {

using ir::instruction;
using ir::opcode;
using ir::value_id;

const instruction& operand(const ir::function& f, value_id v, std::size_t k) {
    return f.code[f.operand(v, k)];
}

/// Whether an integer division or remainder must be guarded: its divisor may be 0, or -1.
bool may_fault(const ir::function& f, value_id v) {
    if (is_floating(f.code[v].result.element)) return false;
    const instruction& divisor = operand(f, v, 1);
    if (divisor.op == opcode::place) {
        const auto which = static_cast<ir::place>(divisor.detail);
        return which < ir::place::global_size || which == ir::place::global_offset ||
               which == ir::place::local_linear_id || which == ir::place::sub_group_id;
    }
    if (divisor.op != opcode::constant) return true;
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size_of(divisor.result.element));
    return divisor.bits == 0 || (is_signed(divisor.result.element) && divisor.bits == ones);
}

/// Whether it is a product of two 64-bit numbers whose upper 32 bits are 0.
bool is_wide_product(const ir::function& f, value_id v) {
    if (f.code[v].result.lanes != 1 || f.code[v].result.element != scalar::u64) return false;
    const auto is_half = [&](value_id o) {
        if (f.code[o].op == opcode::constant) return f.code[o].bits >> 32 == 0;
        return f.code[o].op == opcode::convert && operand(f, o, 0).result.element == scalar::u32;
    };
    return is_half(f.operand(v, 0)) && is_half(f.operand(v, 1));
}

/// Whether it is the square root of an f32 that is clamped to normal numbers.
bool is_root_of_normal(const ir::function& f, value_id v) {
    const value_id of = f.operand(v, 0);
    const bool is_clamped =
        f.code[of].op == opcode::builtin && static_cast<builtin>(f.code[of].detail) == builtin::clamp;
    const ir::type type = f.code[v].result;
    if (!is_clamped || type.element != scalar::f32 || type.lanes != 1) return false;
    const instruction &low = operand(f, of, 1), &high = operand(f, of, 2);
    if (low.op != opcode::constant || high.op != opcode::constant) return false;
    const auto as_float = [](std::uint64_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    };
    return as_float(low.bits) >= 0x1p-100f && as_float(high.bits) <= 0x1p126f;
}

/// Whether a number may be a truth value, 0 or 1, that the compiler sees: it follows variables, private
/// memory and functions. True if that takes more than a few steps to say.
bool may_be_truth(const ir::function& f, value_id v, int steps = 6) {
    const instruction& i = f.code[v];
    const auto any_of = [&](std::span<const value_id> values) {
        return std::any_of(values.begin(), values.end(),
                           [&](value_id o) { return steps == 0 || may_be_truth(f, o, steps - 1); });
    };
    switch (i.op) {
        case opcode::parameter: return f.dimensions == 0;
        case opcode::constant: return !is_floating(i.result.element) && i.bits == 1;
        case opcode::load: return operand(f, v, 0).result.where == space::private_;
        case opcode::convert:
            return operand(f, v, 0).result.element == scalar::boolean || any_of(f.operands_of(v));
        case opcode::select: return any_of(f.operands_of(v).subspan(1));
        case opcode::builtin:
            switch (static_cast<builtin>(i.detail)) {
                case builtin::bit_and:
                case builtin::bit_or:
                case builtin::bit_xor:
                case builtin::mul:
                case builtin::min:
                case builtin::max: return any_of(f.operands_of(v));
                default: return false;
            }
        case opcode::read_cell:
        case opcode::call:
        case opcode::evaluate: return true;
        default: return false;
    }
}
/// Whether it is the pattern of a scalar that may be a truth value, as a floating-point number, or the
/// reverse.
bool is_pattern_of_truth(const ir::function& f, value_id v) {
    const ir::type to = f.code[v].result, from = operand(f, v, 0).result;
    return to.lanes == 1 && from.lanes == 1 && is_floating(to.element) != is_floating(from.element) &&
           may_be_truth(f, f.operand(v, 0));
}

/// Whether it is the maximum of 0 and of a minimum of i32.
bool is_maximum_of_minimum(const ir::function& f, value_id v) {
    if (f.code[v].result.element != scalar::i32) return false;
    const auto is_zero = [&](const instruction& i) { return i.op == opcode::constant && i.bits == 0; };
    const auto is_minimum = [](const instruction& i) {
        return i.op == opcode::builtin && static_cast<builtin>(i.detail) == builtin::min;
    };
    const instruction &a = operand(f, v, 0), &b = operand(f, v, 1);
    return (is_zero(a) && is_minimum(b)) || (is_minimum(a) && is_zero(b));
}
bool is_scalar(const ir::function& f, value_id v) { return f.code[v].result.lanes == 1; }

bool anywhere(const features&) { return true; }
bool with_ptx(const features& has) { return has.has_ptx; }
bool without_ptx(const features& has) { return !has.has_ptx; }

struct choice {
    builtin what;
    bool (*where)(const features&);
    bool (*applies)(const ir::function&, value_id);
    helper_function (*make)(const dialect&, builtin, scalar);
};
constexpr choice choices[] = {
    {builtin::div, anywhere, may_fault, guarded_division},
    {builtin::rem, anywhere, may_fault, guarded_division},
    {builtin::mul, with_ptx, is_wide_product,
     [](const dialect& d, builtin, scalar) { return ptx::wide_product(d); }},
    {builtin::sqrt, with_ptx, is_root_of_normal,
     [](const dialect& d, builtin, scalar) { return ptx::root_of_normal(d); }},
    {builtin::max, with_ptx, is_maximum_of_minimum,
     [](const dialect& d, builtin, scalar) { return ptx::maximum_of_minimum(d); }},
    {builtin::as_int, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::as_uint, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::as_long, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::as_ulong, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::as_float, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::as_double, with_ptx, is_pattern_of_truth, ptx::bits_of_truth},
    {builtin::rint, without_ptx, is_scalar, guarded_rint},
};

}  // namespace

std::optional<helper_function> chosen_function(const program_parts& parts, const ir::function& f,
                                               value_id v) {
    const auto what = static_cast<builtin>(f.code[v].detail);
    const scalar type = operand(f, v, 0).result.element;
    for (const choice& c : choices)
        if (c.what == what && c.where(parts.language.has) && c.applies(f, v))
            return c.make(parts.language, what, type);
    if (!parts.language.has.has_ptx) return {};
    return ptx::hidden_arithmetic(parts.language, what, type);
}

}  // namespace balm::emit
