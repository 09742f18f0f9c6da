// Evaluates rows of builtins.def on constants, where every device agrees on the result bit for bit: integers
// as Balm defines them, floating point where IEEE 754 rounds correctly. Everything else is left to the
// device.

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>

#include "ir/ir.hpp"

namespace balm::ir {

namespace {

template <class T>
T value_of(std::uint64_t bits) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<double>(bits);
    else
        return static_cast<T>(bits);
}

template <class T>
std::uint64_t bits_of(T value) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(value);
    else if constexpr (std::same_as<T, bool>)
        return value;
    else
        return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
}

using answer = std::optional<std::uint64_t>;

template <class T>
answer compare(builtin what, T a, T b) {
    switch (what) {
        case builtin::less: return a < b;
        case builtin::greater: return a > b;
        case builtin::less_equal: return a <= b;
        case builtin::greater_equal: return a >= b;
        case builtin::equal: return a == b;
        case builtin::not_equal: return a != b;
        default: return {};
    }
}

template <std::integral T>
answer fold_integer(builtin what, T a, T b, std::uint64_t count) {
    using U = std::make_unsigned_t<T>;
    constexpr unsigned width = 8 * sizeof(T);
    const U ua = static_cast<U>(a), ub = static_cast<U>(b);
    const auto shift = static_cast<unsigned>(count % width);
    const bool by_minus_one = std::signed_integral<T> && ub == static_cast<U>(~U{0});
    switch (what) {
        case builtin::neg: return bits_of(static_cast<T>(U{0} - ua));
        case builtin::bit_not: return bits_of(static_cast<T>(~ua));
        case builtin::mul: return bits_of(static_cast<T>(static_cast<std::uint64_t>(ua) * ub));
        case builtin::div:
            return bits_of(b == 0 ? T{0} : by_minus_one ? static_cast<T>(U{0} - ua) : static_cast<T>(a / b));
        case builtin::rem: return bits_of(b == 0 ? a : by_minus_one ? T{0} : static_cast<T>(a % b));
        case builtin::add: return bits_of(static_cast<T>(ua + ub));
        case builtin::sub: return bits_of(static_cast<T>(ua - ub));
        case builtin::shl: return bits_of(static_cast<T>(ua << shift));
        case builtin::shr: return bits_of(static_cast<T>(a >> shift));
        case builtin::bit_and: return bits_of(static_cast<T>(ua & ub));
        case builtin::bit_or: return bits_of(static_cast<T>(ua | ub));
        case builtin::bit_xor: return bits_of(static_cast<T>(ua ^ ub));
        case builtin::abs: return bits_of(a < 0 ? static_cast<T>(U{0} - ua) : a);
        case builtin::min: return bits_of(a < b ? a : b);
        case builtin::max: return bits_of(a > b ? a : b);
        case builtin::popcount: return bits_of(static_cast<T>(std::popcount(ua)));
        case builtin::clz: return bits_of(static_cast<T>(std::countl_zero(ua)));
        default: return compare(what, a, b);
    }
}

/// Rounds to the nearest integer, ties to even, whatever the caller's rounding mode.
template <std::floating_point T>
T nearest_integer(T x) {
    return std::isinf(x) ? x : std::copysign(x - std::remainder(x, T{1}), x);
}

/// Whether a row returns NaN for NaN: PoCL 3.1 drops a kernel's stores for such calls of its elementary
/// functions.
bool passes_nan_on(builtin what) {
    const builtin_info& row = info(what);
    const bool rounds = what == builtin::floor || what == builtin::ceil || what == builtin::trunc ||
                        what == builtin::round || what == builtin::rint;
    return rounds || (row.arity == 1 && row.ulp > 0);
}

template <std::floating_point T>
answer fold_floating(builtin what, T a, T b, T c) {
    if (std::isnan(a) && passes_nan_on(what)) return bits_of(a + a);
    auto unless_nan = [](T result) { return std::isnan(result) ? answer{} : answer(bits_of(result)); };
    switch (what) {
        case builtin::neg: return bits_of(-a);
        case builtin::mul: return unless_nan(a * b);
        case builtin::div: return unless_nan(a / b);
        case builtin::add: return unless_nan(a + b);
        case builtin::sub: return unless_nan(a - b);
        case builtin::sqrt: return unless_nan(std::sqrt(a));
        case builtin::mad:
        case builtin::fma: return unless_nan(std::fma(a, b, c));
        case builtin::abs:
        case builtin::fabs: return unless_nan(std::fabs(a));
        case builtin::floor: return unless_nan(std::floor(a));
        case builtin::ceil: return unless_nan(std::ceil(a));
        case builtin::trunc: return unless_nan(std::trunc(a));
        case builtin::round: return unless_nan(std::round(a));
        case builtin::rint: return unless_nan(nearest_integer(a));
        default: return compare(what, a, b);
    }
}

template <class T>
answer fold_as(builtin what, std::span<const std::uint64_t> bits) {
    T x[3] = {};
    for (std::size_t k = 0; k < bits.size() && k < 3; ++k) x[k] = value_of<T>(bits[k]);
    if constexpr (std::floating_point<T>)
        return fold_floating(what, x[0], x[1], x[2]);
    else
        return fold_integer(what, x[0], x[1], bits.size() > 1 ? bits[1] : 0);
}

answer fold_boolean(builtin what, std::span<const std::uint64_t> bits) {
    const bool a = bits[0] != 0, b = bits.size() > 1 && bits[1] != 0;
    switch (what) {
        case builtin::logical_not: return !a;
        case builtin::bit_and: return a && b;
        case builtin::bit_or: return a || b;
        case builtin::bit_xor: return a != b;
        default: return compare(what, a, b);
    }
}

template <class F>
std::uint64_t with_value(scalar s, std::uint64_t bits, F&& f) {
    switch (s) {
        case scalar::boolean: return f(bits != 0);
        case scalar::i8: return f(value_of<std::int8_t>(bits));
        case scalar::u8: return f(value_of<std::uint8_t>(bits));
        case scalar::i16: return f(value_of<std::int16_t>(bits));
        case scalar::u16: return f(value_of<std::uint16_t>(bits));
        case scalar::i32: return f(value_of<std::int32_t>(bits));
        case scalar::u32: return f(value_of<std::uint32_t>(bits));
        case scalar::i64: return f(value_of<std::int64_t>(bits));
        case scalar::u64: return f(value_of<std::uint64_t>(bits));
        case scalar::f32: return f(value_of<float>(bits));
        default: return f(value_of<double>(bits));
    }
}

template <class To, class From>
std::uint64_t converted(From x) {
    if constexpr (std::same_as<To, bool>)
        return x != From{};
    else if constexpr (std::floating_point<From> && std::integral<To>) {
        constexpr int digits = std::numeric_limits<To>::digits;
        if (std::isnan(x)) return 0;
        if (x >= std::ldexp(From{1}, digits)) return bits_of(std::numeric_limits<To>::max());
        if (x <= static_cast<From>(std::numeric_limits<To>::lowest()))
            return bits_of(std::numeric_limits<To>::lowest());
        return bits_of(static_cast<To>(x));
    } else
        return bits_of(static_cast<To>(x));
}

}  // namespace

std::optional<std::uint64_t> fold(builtin what, scalar operand_type, std::span<const std::uint64_t> bits) {
    switch (operand_type) {
        case scalar::boolean: return fold_boolean(what, bits);
        case scalar::i32: return fold_as<std::int32_t>(what, bits);
        case scalar::u32: return fold_as<std::uint32_t>(what, bits);
        case scalar::i64: return fold_as<std::int64_t>(what, bits);
        case scalar::u64: return fold_as<std::uint64_t>(what, bits);
        case scalar::f32: return fold_as<float>(what, bits);
        case scalar::f64: return fold_as<double>(what, bits);
        default: return {};
    }
}

std::uint64_t fold_conversion(scalar from, scalar to, std::uint64_t bits) {
    return with_value(from, bits, [&](auto x) -> std::uint64_t {
        switch (to) {
            case scalar::boolean: return converted<bool>(x);
            case scalar::i8: return converted<std::int8_t>(x);
            case scalar::u8: return converted<std::uint8_t>(x);
            case scalar::i16: return converted<std::int16_t>(x);
            case scalar::u16: return converted<std::uint16_t>(x);
            case scalar::i32: return converted<std::int32_t>(x);
            case scalar::u32: return converted<std::uint32_t>(x);
            case scalar::i64: return converted<std::int64_t>(x);
            case scalar::u64: return converted<std::uint64_t>(x);
            case scalar::f32: return converted<float>(x);
            default: return converted<double>(x);
        }
    });
}

}  // namespace balm::ir
