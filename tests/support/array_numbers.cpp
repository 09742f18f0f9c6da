#include "support/array_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/ir.hpp"
#include "oracle.hpp"
#include "support/exact.hpp"

namespace balm::test {

namespace {

__extension__ using wide = __int128;
__extension__ using unsigned_wide = unsigned __int128;

int bits_of_type(scalar type) { return type == scalar::boolean ? 1 : static_cast<int>(8 * size_of(type)); }
wide least_of(scalar type) { return is_signed(type) ? -(wide{1} << (bits_of_type(type) - 1)) : 0; }
wide most_of(scalar type) { return (wide{1} << (bits_of_type(type) - (is_signed(type) ? 1 : 0))) - 1; }

real absolute(real v) { return v <= 0 ? 0 - v : v; }  // of -0 it is +0
real power_of_two(int e) { return static_cast<real>(std::ldexp(1.0L, e)); }
int exponent_of(real v) { return std::ilogb(static_cast<long double>(absolute(v))); }

/// Digits, and the exponents of the least normal and of the greatest number.
struct format {
    int digits, least, most;
};
format format_of(scalar type) {
    return type == scalar::f16   ? format{11, -14, 15}
           : type == scalar::f32 ? format{24, -126, 127}
                                 : format{53, -1022, 1023};
}

bool is_finite(real v) { return absolute(v) <= power_of_two(16000); }
bool is_negative(real v) { return std::signbit(static_cast<long double>(v)); }
bool is_exact_zero(const number& n) { return n.value == 0 && n.error == 0; }
/// Whether it may be a zero, of either sign.
bool is_about_zero(const number& n) { return n.error > 0 && absolute(n.value) <= n.error; }

real whole_part(real v) {
    const real magnitude = absolute(v);
    if (magnitude >= power_of_two(112)) return v;
    const auto whole = static_cast<real>(static_cast<wide>(magnitude));
    return v < 0 ? -whole : whole;
}
real floor_of(real v) {
    const real whole = whole_part(v);
    return whole > v ? whole - 1 : whole;
}
real ceil_of(real v) { return -floor_of(-v); }
/// To the nearest whole number, of two to the even one.
real rint_of(real v) {
    const real magnitude = absolute(v), below = floor_of(magnitude), rest = magnitude - below;
    const bool is_odd = floor_of(below / 2) * 2 != below;
    const real nearest = rest > real(0.5) || (rest == real(0.5) && is_odd) ? below + 1 : below;
    return is_negative(v) ? -nearest : nearest;
}

number whole_number(wide v) { return {static_cast<real>(v), 0, true}; }
wide integer_of(const number& n) { return static_cast<wide>(n.value); }

/// The integer with these low bits.
number modular(scalar type, wide v) {
    const wide range = wide{1} << bits_of_type(type);
    wide low = v & (range - 1);
    if (is_signed(type) && low > most_of(type)) low -= range;
    return whole_number(low);
}
/// The result of arithmetic: unsigned types wrap, signed ones must not.
number wrapped(scalar type, wide v) {
    if (v >= least_of(type) && v <= most_of(type)) return whole_number(v);
    return is_signed(type) ? number::unknown() : modular(type, v);
}
number clamped(scalar type, wide v) { return whole_number(std::clamp(v, least_of(type), most_of(type))); }

number product(scalar type, wide a, wide b) {
    if (is_signed(type)) return wrapped(type, a * b);
    const auto all = static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(b);
    return whole_number(static_cast<wide>(all & static_cast<unsigned_wide>(most_of(type))));
}

number integer_row(builtin row, scalar type, wide a, wide b) {
    const int bits = bits_of_type(type);
    const int count = static_cast<int>(b & (bits - 1));
    const auto pattern = static_cast<std::uint64_t>(a) & (~std::uint64_t{0} >> (64 - bits));
    switch (row) {
        case builtin::add: return wrapped(type, a + b);
        case builtin::sub: return wrapped(type, a - b);
        case builtin::mul: return product(type, a, b);
        case builtin::div:  // of the least number by -1: itself
            return b == 0 ? whole_number(0) : modular(type, a / b);
        case builtin::rem: return b == 0 ? whole_number(a) : whole_number(a % b);
        case builtin::shl: return modular(type, static_cast<wide>(static_cast<unsigned_wide>(a) << count));
        case builtin::shr: return whole_number(a >> count);
        case builtin::bit_and: return modular(type, a & b);
        case builtin::bit_or: return modular(type, a | b);
        case builtin::bit_xor: return modular(type, a ^ b);
        case builtin::less: return number::truth(a < b);
        case builtin::greater: return number::truth(a > b);
        case builtin::less_equal: return number::truth(a <= b);
        case builtin::greater_equal: return number::truth(a >= b);
        case builtin::equal: return number::truth(a == b);
        case builtin::not_equal: return number::truth(a != b);
        case builtin::min: return whole_number(std::min(a, b));
        case builtin::max: return whole_number(std::max(a, b));
        case builtin::neg: return wrapped(type, -a);
        case builtin::bit_not: return modular(type, ~a);
        case builtin::abs: return wrapped(type, a < 0 ? -a : a);
        case builtin::add_sat: return clamped(type, a + b);
        case builtin::sub_sat: return clamped(type, a - b);
        case builtin::hadd: return whole_number((a + b) >> 1);
        case builtin::rhadd: return whole_number((a + b + 1) >> 1);
        case builtin::mul_hi:
            return is_signed(type)
                       ? whole_number((a * b) >> bits)
                       : whole_number(static_cast<wide>(
                             (static_cast<unsigned_wide>(a) * static_cast<unsigned_wide>(b)) >> bits));
        case builtin::rotate:
            return modular(
                type, static_cast<wide>(count == 0 ? pattern : pattern << count | pattern >> (bits - count)));
        case builtin::popcount: return whole_number(std::popcount(pattern));
        case builtin::clz: return whole_number(std::countl_zero(pattern) - (64 - bits));
        case builtin::logical_not: return number::truth(a == 0);
        default: return number::unknown();
    }
}

number compared(bool holds, const number& a, const number& b) {
    const real far = absolute(a.value - b.value), error = a.error + b.error;
    return error > 0 && far <= error ? number::unknown() : number::truth(holds);
}
/// fmin and fmax: a NaN is passed over; which one of two zeros it is is left open.
number extreme(bool wants_less, const number& a, const number& b) {
    if (a.is_nan()) return b;
    if (b.is_nan()) return a;
    if (a.value == 0 && b.value == 0 &&
        (a.error > 0 || b.error > 0 || is_negative(a.value) != is_negative(b.value)))
        return number::either_zero(std::max(a.error, b.error));
    const bool first = wants_less ? a.value < b.value : a.value > b.value;
    const real value = first ? a.value : b.value;
    return {value, is_finite(value) ? std::max(a.error, b.error) : 0, true};
}

number square_root(scalar type, const number& a) {
    if (is_exact_zero(a) || a.is_nan() || a.value > power_of_two(16000)) return a;
    if (a.value + a.error < 0) return number::not_a_number();
    if (a.value - a.error < 0 || (a.error > 0 && a.value < 4 * a.error)) return number::unknown();
    real root = static_cast<real>(std::sqrt(static_cast<long double>(a.value)));
    for (int k = 0; k < 2; ++k) root = (root + a.value / root) / 2;
    return rounded(type, root, a.error / root);
}

/// A whole number, by a function that never decreases.
number whole(const number& a, real (*function)(real)) {
    if (is_exact_zero(a) || !is_finite(a.value)) return a;
    const real low = function(a.value - a.error), high = function(a.value + a.error);
    if (low != high) return number::unknown();
    return is_negative(low) != is_negative(high) ? number::either_zero(0) : number{low, 0, true};
}

/// What IEEE 754 says of infinities, NaNs and divisions by zero; `exact` without rounding.
number special(real exact, const number* in, int arity) {
    const bool is_open = std::any_of(in, in + arity, is_about_zero);
    return is_open ? number::unknown() : number{exact, 0, true};
}
bool is_special(real exact, const number* in, int arity) {
    return !is_finite(exact) ||
           std::any_of(in, in + arity, [](const number& n) { return !is_finite(n.value); });
}

number arithmetic(builtin row, scalar type, const number* in) {
    const number &a = in[0], &b = in[1];
    const auto times = [&] {
        return absolute(a.value) * b.error + absolute(b.value) * a.error + a.error * b.error;
    };
    real exact = 0, error = a.error + b.error;
    switch (row) {
        case builtin::add: exact = a.value + b.value; break;
        case builtin::sub: exact = a.value - b.value; break;
        case builtin::mul: exact = a.value * b.value; break;
        case builtin::div: exact = a.value / b.value; break;
        default: exact = a.value * b.value + in[2].value;
    }
    const int arity = row == builtin::fma ? 3 : 2;
    if (is_special(exact, in, arity)) return special(exact, in, arity);
    if (row == builtin::mul || row == builtin::fma) error = times() + (arity == 3 ? in[2].error : 0);
    if (row == builtin::div) {
        if (absolute(b.value) <= 2 * b.error) return number::unknown();
        error = (a.error + absolute(exact) * b.error) / (absolute(b.value) - b.error);
    }
    if (exact == 0 && error == 0 && std::any_of(in, in + arity, is_about_zero)) return number::either_zero(0);
    return rounded(type, exact, error);
}

number signed_as(const number& a, const number& b) {
    if (b.is_nan() || is_about_zero(b)) return number::unknown();
    const real magnitude = absolute(a.value);
    return {is_negative(b.value) ? -magnitude : magnitude, a.error, true};
}

// ---- elementary functions ----

/// What the standard says of a row on infinities and NaNs, and where it has no value.
real defined_by_standard(builtin row, scalar type, const number* in) {
    std::uint64_t given[2] = {};
    const auto arity = static_cast<std::size_t>(rule_for(row).arity);
    for (std::size_t k = 0; k < arity; ++k)
        given[k] = type == scalar::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(in[k].value))
                                       : std::bit_cast<std::uint64_t>(static_cast<double>(in[k].value));
    return static_cast<real>(oracle::evaluate(row, type, {given, arity}).wide);
}
real mpfr_value(builtin row, real a, real b) {
    const long double operands[] = {static_cast<long double>(a), static_cast<long double>(b)};
    return static_cast<real>(
        test::exact(row, {operands, static_cast<std::size_t>(rule_for(row).arity)}).value_or(std::nanl("")));
}

/// How far a row may be from `middle` where its operands are as far off as they may be. None where it is not
/// monotone and smooth there.
std::optional<real> spread_about(builtin row, const number* in, int arity, real middle) {
    const bool is_smooth = row == builtin::sin || row == builtin::cos || row == builtin::tan;
    const bool has_no_pole = row == builtin::exp || row == builtin::exp2 || row == builtin::expm1 ||
                             row == builtin::atan || row == builtin::tanh || row == builtin::hypot;
    for (int k = 0; k < arity; ++k) {
        if (is_smooth && in[k].error > real(1) / 64) return std::nullopt;
        if (!is_smooth && !has_no_pole && in[k].error > 0 && absolute(in[k].value) < 4 * in[k].error)
            return std::nullopt;
    }
    // Whether a power of a negative number is negative depends on the exponent's last bit.
    if (row == builtin::pow && in[0].value < 0 && in[1].error > 0) return std::nullopt;
    real spread = 0;
    for (int corner = 0; corner < 1 << arity; ++corner) {
        real at[2] = {};
        for (int k = 0; k < arity; ++k)
            at[k] = in[k].value + ((corner >> k & 1) != 0 ? in[k].error : -in[k].error);
        const real value = mpfr_value(row, at[0], at[1]);
        if (!is_finite(value)) return std::nullopt;
        const bool is_past_a_pole = row == builtin::tan && (corner == 0 ? value > middle : value < middle);
        if (is_past_a_pole) return std::nullopt;
        spread = std::max(spread, absolute(value - middle));
    }
    return 2 * spread;
}

number infinite(real signed_as) {
    const real infinity = number::infinity().value;
    return {signed_as < 0 ? -infinity : infinity, 0, true};
}

/// A row that need not be rounded correctly, within its bound in units of the last place.
number elementary(builtin row, scalar type, const number* in) {
    const int arity = rule_for(row).arity;
    const bool is_exact = std::all_of(in, in + arity, [](const number& n) { return n.error == 0; });
    const bool has_finite = std::all_of(in, in + arity, [](const number& n) { return is_finite(n.value); });
    if (!is_exact && !has_finite) return number::unknown();
    // Of infinities, too, a row may have a value that is rounded: atan has pi / 2.
    const real defined = is_exact ? defined_by_standard(row, type, in) : real(1);
    if (defined == 0) return number::either_zero(0);
    if (defined != defined || (!has_finite && !is_finite(defined))) return {defined, 0, true};
    const real value = has_finite ? mpfr_value(row, in[0].value, in[1 % arity].value) : defined;
    if (!is_finite(value))  // a pole; MPFR has no -infinity for rsqrt(-0)
        return is_exact ? infinite(defined) : number::unknown();
    const std::optional<real> spread = is_exact ? real(0) : spread_about(row, in, arity, value);
    if (!spread) return number::unknown();
    const format f = format_of(type);
    const real most = absolute(value) + *spread;
    if (absolute(value) - *spread >= power_of_two(f.most + 2)) return infinite(value);
    if (most >= power_of_two(f.most)) return number::unknown();
    const real unit = power_of_two(std::max(most == 0 ? f.least : exponent_of(most), f.least) - f.digits + 1);
    return {value, *spread + ir::info(row).ulp * unit, true};
}

number floating_row(builtin row, scalar type, const number* in) {
    const number &a = in[0], &b = in[1];
    switch (row) {
        case builtin::add:
        case builtin::sub:
        case builtin::mul:
        case builtin::div:
        case builtin::fma: return arithmetic(row, type, in);
        case builtin::sqrt: return square_root(type, a);
        case builtin::floor: return whole(a, floor_of);
        case builtin::ceil: return whole(a, ceil_of);
        case builtin::rint: return whole(a, rint_of);
        case builtin::trunc:
            return whole(a, [](real v) { return is_negative(v) ? ceil_of(v) : floor_of(v); });
        case builtin::copysign: return signed_as(a, b);
        case builtin::isnan: return number::truth(a.is_nan());
        case builtin::isinf: return number::truth(!a.is_nan() && !is_finite(a.value));
        case builtin::isfinite: return number::truth(is_finite(a.value));
        case builtin::signbit:
            return a.is_nan() || is_about_zero(a) ? number::unknown() : number::truth(is_negative(a.value));
        case builtin::less: return compared(a.value < b.value, a, b);
        case builtin::greater: return compared(a.value > b.value, a, b);
        case builtin::less_equal: return compared(a.value <= b.value, a, b);
        case builtin::greater_equal: return compared(a.value >= b.value, a, b);
        case builtin::equal: return compared(a.value == b.value, a, b);
        case builtin::not_equal: return compared(a.value != b.value, a, b);
        case builtin::min: return extreme(true, a, b);
        case builtin::max: return extreme(false, a, b);
        case builtin::clamp: return extreme(true, extreme(false, a, b), in[2]);
        case builtin::neg: return {-a.value, a.error, true};
        case builtin::abs: return {absolute(a.value), a.error, true};
        default: return elementary(row, type, in);
    }
}

}  // namespace

number number::either_zero(real error) { return {0, std::max(error, power_of_two(-16000)), true}; }
number number::not_a_number() { return {static_cast<real>(std::nanl("")), 0, true}; }
number number::infinity() { return {static_cast<real>(HUGE_VALL), 0, true}; }
bool number::is_finite() const { return test::is_finite(value); }

number rounded(scalar type, real value, real error) {
    const format f = format_of(type);
    const real magnitude = absolute(value) + error;
    const real most = (2 - power_of_two(1 - f.digits)) * power_of_two(f.most);
    if (!(magnitude <= most)) return number::unknown();
    if (magnitude == 0) return {value, 0, true};
    const auto step_at = [&](real v) {
        return power_of_two(std::max(exponent_of(v), f.least) - f.digits + 1);
    };
    if (error == 0 && whole_part(value / step_at(value)) == value / step_at(value)) return {value, 0, true};
    return {value, error + step_at(magnitude) / 2, true};
}

number converted(scalar to, scalar from, const number& n) {
    if (!n.is_known || to == from) return n;
    if (to == scalar::boolean) return is_about_zero(n) ? number::unknown() : number::truth(n.value != 0);
    if (is_floating(to)) return n.is_finite() ? rounded(to, n.value, n.error) : n;
    if (!is_floating(from)) return modular(to, integer_of(n));
    if (n.is_nan()) return whole_number(0);
    const real low = whole_part(n.value - n.error), high = whole_part(n.value + n.error);
    if (low != high) return number::unknown();
    if (low > static_cast<real>(most_of(to))) return whole_number(most_of(to));
    if (low < static_cast<real>(least_of(to))) return whole_number(least_of(to));
    return whole_number(static_cast<wide>(low));
}

number saturated(scalar to, scalar from, const number& n) {
    if (!n.is_known || is_floating(from)) return converted(to, from, n);
    return clamped(to, integer_of(n));
}

number reinterpreted(scalar to, scalar from, const number& n) {
    if (!n.is_known || n.error > 0 || n.is_nan()) return number::unknown();
    const auto bits_of_number = [&]() -> std::uint64_t {
        if (from == scalar::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(n.value));
        if (from == scalar::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(n.value));
        return static_cast<std::uint64_t>(integer_of(n));
    };
    const std::uint64_t bits = bits_of_number();
    if (to == scalar::f32)
        return {static_cast<real>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))), 0, true};
    if (to == scalar::f64) return {static_cast<real>(std::bit_cast<double>(bits)), 0, true};
    return modular(to, static_cast<wide>(bits));
}

number computed(builtin row, scalar type, const number* operands) {
    const int arity = rule_for(row).arity;
    for (int k = 0; k < arity; ++k)
        if (!operands[k].is_known) return number::unknown();
    if (is_floating(type)) return floating_row(row, type, operands);
    return integer_row(row, type, integer_of(operands[0]), arity > 1 ? integer_of(operands[1]) : 0);
}

scalar promoted(scalar s) {
    switch (s) {
        case scalar::boolean:
        case scalar::i8:
        case scalar::u8:
        case scalar::i16:
        case scalar::u16: return scalar::i32;
        case scalar::f16: return scalar::f32;
        default: return s;
    }
}

scalar common_type(scalar a, scalar b) {
    a = promoted(a);
    b = promoted(b);
    for (const scalar greatest : {scalar::f64, scalar::f32, scalar::u64, scalar::i64, scalar::u32})
        if (a == greatest || b == greatest) return greatest;
    return scalar::i32;
}

const std::vector<row_rule>& row_rules() {
    using enum builtin;
    using enum row_class;
    static const std::vector<row_rule> rules{{builtin::add, "+", 2, number, 10, true},
                                             {builtin::sub, "-", 2, number, 7, false},
                                             {builtin::mul, "*", 2, number, 8, true},
                                             {builtin::div, "/", 2, number, 3, false},
                                             {builtin::rem, "%", 2, integer, 3, false},
                                             {builtin::shl, "<<", 2, shift, 2, false},
                                             {builtin::shr, ">>", 2, shift, 2, false},
                                             {builtin::bit_and, "&", 2, bits, 3, false},
                                             {builtin::bit_or, "|", 2, bits, 2, false},
                                             {builtin::bit_xor, "^", 2, bits, 2, false},
                                             {builtin::less, "<", 2, compare, 3, true},
                                             {builtin::greater, ">", 2, compare, 1, false},
                                             {builtin::less_equal, "<=", 2, compare, 1, false},
                                             {builtin::greater_equal, ">=", 2, compare, 1, false},
                                             {builtin::equal, "==", 2, compare, 2, false},
                                             {builtin::not_equal, "!=", 2, compare, 1, false},
                                             {builtin::min, "min", 2, same, 3, false},
                                             {builtin::max, "max", 2, same, 3, false},
                                             {builtin::neg, "-", 1, number, 3, false},
                                             {builtin::bit_not, "~", 1, integer, 2, false},
                                             {builtin::abs, "abs", 1, same, 3, false},
                                             {builtin::add_sat, "add_sat", 2, whole, 1, false},
                                             {builtin::sub_sat, "sub_sat", 2, whole, 1, false},
                                             {builtin::hadd, "hadd", 2, whole, 1, false},
                                             {builtin::rhadd, "rhadd", 2, whole, 1, false},
                                             {builtin::mul_hi, "mul_hi", 2, whole, 1, false},
                                             {builtin::rotate, "rotate", 2, whole, 1, false},
                                             {builtin::popcount, "popcount", 1, whole, 1, false},
                                             {builtin::clz, "clz", 1, whole, 1, false},
                                             {builtin::logical_not, "!", 1, logic, 2, false},
                                             {builtin::clamp, "clamp", 3, same, 1, false},
                                             {builtin::isnan, "isnan", 1, predicate, 1, false},
                                             {builtin::isinf, "isinf", 1, predicate, 1, false},
                                             {builtin::isfinite, "isfinite", 1, predicate, 1, false},
                                             {builtin::signbit, "signbit", 1, predicate, 1, false},
                                             {builtin::ceil, "ceil", 1, floating, 1, false},
                                             {builtin::trunc, "trunc", 1, floating, 1, false},
                                             {builtin::rint, "rint", 1, floating, 1, false},
                                             {builtin::copysign, "copysign", 2, floating, 1, false},
                                             {builtin::sqrt, "sqrt", 1, floating, 2, false},
                                             {builtin::floor, "floor", 1, floating, 2, false},
                                             {builtin::fma, "fma", 3, floating, 2, false},
                                             {builtin::exp, "exp", 1, floating, 2, false},
                                             {builtin::exp2, "exp2", 1, floating, 1, false},
                                             {builtin::expm1, "expm1", 1, floating, 1, false},
                                             {builtin::log, "log", 1, floating, 2, false},
                                             {builtin::log2, "log2", 1, floating, 1, false},
                                             {builtin::log1p, "log1p", 1, floating, 1, false},
                                             {builtin::sin, "sin", 1, floating, 2, false},
                                             {builtin::cos, "cos", 1, floating, 2, false},
                                             {builtin::tan, "tan", 1, floating, 1, false},
                                             {builtin::atan, "atan", 1, floating, 1, false},
                                             {builtin::tanh, "tanh", 1, floating, 1, false},
                                             {builtin::cbrt, "cbrt", 1, floating, 1, false},
                                             {builtin::rsqrt, "rsqrt", 1, floating, 1, false},
                                             {builtin::pow, "pow", 2, floating, 2, false},
                                             {builtin::atan2, "atan2", 2, floating, 1, false},
                                             {builtin::hypot, "hypot", 2, floating, 1, false}};
    return rules;
}

const row_rule& rule_for(builtin row) {
    const auto& rules = row_rules();
    return *std::find_if(rules.begin(), rules.end(), [&](const row_rule& r) { return r.row == row; });
}

scalar operand_type(const row_rule& r, scalar first, scalar second) {
    const bool are_booleans = first == scalar::boolean && second == scalar::boolean;
    switch (r.takes) {
        case row_class::bits:
        case row_class::compare: return are_booleans ? scalar::boolean : common_type(first, second);
        case row_class::same:
        case row_class::whole:
            return first == second && first != scalar::boolean ? first : common_type(first, second);
        case row_class::shift: return promoted(first);
        case row_class::logic: return scalar::boolean;
        case row_class::predicate:
        case row_class::floating: {
            const scalar common = common_type(first, second);
            return is_floating(common) ? common : scalar::f64;
        }
        default: return common_type(first, second);
    }
}

scalar result_type(const row_rule& r, scalar operands) {
    return r.takes == row_class::compare || r.takes == row_class::predicate ? scalar::boolean : operands;
}

}  // namespace balm::test
