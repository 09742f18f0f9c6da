// Selects the oracle's function for a row and a type, rounds its result, and measures the error of a device's
// result.

#include "oracle.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "ir/with_type.hpp"

namespace balm::oracle {

namespace {

template <class T>
T value_of(std::uint64_t bits) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<double>(bits);
    else if constexpr (std::same_as<T, bool>)
        return bits != 0;
    else
        return static_cast<T>(bits);
}

template <class T>
std::uint64_t bits_of(T x) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(x);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(x);
    else if constexpr (std::same_as<T, bool>)
        return x;
    else
        return static_cast<std::make_unsigned_t<T>>(x);
}

template <class T>
inline constexpr bool is_boolean = std::same_as<T, bool>;
template <class T>
inline constexpr bool is_whole = std::integral<T> && !is_boolean<T>;

/// Whether a row of this kind takes operands of type T.
template <balm::detail::rule Rule, class T>
constexpr bool takes() {
    using balm::detail::rule;
    switch (Rule) {
        case rule::number: return !is_boolean<T>;
        case rule::integer:
        case rule::shift: return is_whole<T>;
        case rule::bits: return std::integral<T>;
        case rule::logic: return is_boolean<T>;
        case rule::compare: return true;
        case rule::same:
        case rule::to_f32:
        case rule::to_f64: return !is_boolean<T>;
        case rule::whole:
        case rule::distance: return is_whole<T>;
        case rule::upsample: return is_whole<T> && sizeof(T) < 8;
        case rule::word: return is_whole<T> && sizeof(T) == 4;
        case rule::single: return std::same_as<T, float>;
        case rule::payload: return std::unsigned_integral<T> && sizeof(T) >= 4 && !is_boolean<T>;
        case rule::bits_i32:
        case rule::bits_u32:
        case rule::bits_f32: return sizeof(T) == 4;
        case rule::bits_i64:
        case rule::bits_u64:
        case rule::bits_f64: return sizeof(T) == 8;
        default: return std::floating_point<T>;
    }
}

/// A function's result as a value: rounded to T if its type is a wider floating-point type. Rows whose result
/// has another floating-point type than the operand use exactly().
template <class T, class R>
value rounded(R result) {
    if constexpr (std::floating_point<R> && std::floating_point<T> && sizeof(R) > sizeof(T)) {
        return {bits_of(static_cast<T>(result)), static_cast<long double>(result)};
    } else {
        return {bits_of(result), static_cast<long double>(result)};
    }
}

template <class R>
value exactly(R result) {
    return {bits_of(result), static_cast<long double>(result)};
}

template <balm::detail::rule Rule, int Arity, class T, class Function>
value call(Function function, std::span<const std::uint64_t> bits) {
    using balm::detail::rule;
    if constexpr (Rule == rule::shift) {
        constexpr std::uint64_t width = 8 * sizeof(T);
        return rounded<T>(function(value_of<T>(bits[0]), static_cast<int>(bits[1] % width)));
    } else if constexpr (Rule == rule::scale) {
        return rounded<T>(function(value_of<T>(bits[0]), value_of<std::int32_t>(bits[1])));
    } else if constexpr (Rule == rule::upsample) {
        return rounded<T>(function(value_of<T>(bits[0]), value_of<std::make_unsigned_t<T>>(bits[1])));
    } else if constexpr (Rule == rule::to_f32 || Rule == rule::to_f64) {
        return exactly(function(value_of<T>(bits[0])));
    } else if constexpr (Arity == 1) {
        return rounded<T>(function(value_of<T>(bits[0])));
    } else if constexpr (Arity == 2) {
        return rounded<T>(function(value_of<T>(bits[0]), value_of<T>(bits[1])));
    } else {
        return rounded<T>(function(value_of<T>(bits[0]), value_of<T>(bits[1]), value_of<T>(bits[2])));
    }
}

[[noreturn]] void refuse(builtin what, scalar type) {
    throw error(fmt::format("internal: the oracle has no '{}' of {}", ir::info(what).name, to_string(type)));
}

template <class T>
value evaluate_as(builtin what, std::span<const std::uint64_t> bits) {
    using balm::detail::rule;
    switch (what) {
#define BALM_ROW(id, arity, rule_)                                                                \
    case builtin::id:                                                                             \
        if constexpr (takes<rule::rule_, T>())                                                    \
            return call<rule::rule_, arity, T>([](auto... x) { return oracle::id(x...); }, bits); \
        break;
#define BALM_OPERATOR(id, symbol, arity, precedence, takes) BALM_ROW(id, arity, takes)
#define BALM_BUILTIN(id, arity, takes, ...) BALM_ROW(id, arity, takes)
#include "balm/builtins.def"
#undef BALM_ROW
        case builtin::count: break;
    }
    refuse(what, scalar_of<T>);
}

template <class To, class From>
To converted(From x) {
    if constexpr (std::same_as<To, bool>) {
        return !(x == From{});
    } else if constexpr (std::floating_point<To> || !std::floating_point<From>) {
        return static_cast<To>(x);  // rounds to nearest, or wraps
    } else {
        if (std::isnan(x)) return 0;
        const long double whole = std::trunc(static_cast<long double>(x));
        if (whole < static_cast<long double>(std::numeric_limits<To>::min()))
            return std::numeric_limits<To>::min();
        if (whole >= std::ldexp(1.0L, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
        return static_cast<To>(whole);
    }
}

template <class T>
double ulp_error_as(T got, long double exact) {
    using limits = std::numeric_limits<T>;
    if (std::isnan(got) || std::isnan(exact))
        return std::isnan(got) && std::isnan(exact) ? 0 : std::numeric_limits<double>::infinity();
    // Values beyond the largest number are equivalent: the next power of two represents them.
    const long double beyond = std::ldexp(1.0L, limits::max_exponent);
    auto bounded = [&](long double x) { return std::fabs(x) > beyond ? std::copysign(beyond, x) : x; };
    const long double reference = std::isinf(static_cast<T>(exact)) ? std::copysign(beyond, exact) : exact;
    const long double result = bounded(got);
    if (result == reference) return 0;
    int exponent = limits::min_exponent - 1;  // of the subnormal numbers, and of zero
    if (reference != 0) {
        const int own = std::ilogb(reference);
        const bool is_power_of_two = std::fabs(reference) == std::ldexp(1.0L, own);
        exponent = std::max(exponent, is_power_of_two ? own - 1 : own);
    }
    return static_cast<double>(std::fabs(result - reference) /
                               std::ldexp(1.0L, exponent - limits::digits + 1));
}

bool is_nan(scalar s, std::uint64_t bits) {
    return s == scalar::f32   ? std::isnan(value_of<float>(bits))
           : s == scalar::f64 ? std::isnan(value_of<double>(bits))
                              : false;
}
bool is_zero(scalar s, std::uint64_t bits) { return (s == scalar::f32 ? bits << 33 : bits << 1) == 0; }

/// Whether the row may return either of two zeros of different sign (OpenCL 1.2, 7.5.1, footnote to fmin).
bool chooses_a_zero(builtin what) {
    switch (what) {
        case builtin::min:
        case builtin::max:
        case builtin::clamp:
        case builtin::fmin:
        case builtin::fmax:
        case builtin::maxmag:
        case builtin::minmag: return true;
        default: return false;
    }
}

/// Whether half_ and native_ rows are checked on these operands: see is_specified.
bool is_ordinary(builtin what, std::span<const float> x) {
    const float size = std::fabs(x[0]);
    auto between = [](float value, float low, float high) { return value >= low && value <= high; };
    switch (what) {
        case builtin::half_cos:
        case builtin::half_sin:
        case builtin::half_tan: return size <= 65536;
        case builtin::half_powr: return x[0] >= 0;
        case builtin::native_cos: return size <= 1.5f;
        case builtin::native_sin: return between(size, 0x1p-6f, 3);
        case builtin::native_tan: return between(size, 0x1p-6f, 1.5f);
        case builtin::native_exp:
        case builtin::native_exp2: return size <= 80;
        case builtin::native_exp10: return size <= 35;
        case builtin::native_log:
        case builtin::native_log2:
        case builtin::native_log10: return between(x[0], 0x1p-60f, 0x1p60f) && std::fabs(x[0] - 1) >= 0x1p-5f;
        case builtin::native_powr: return between(x[0], 0x1p-10f, 0x1p10f) && std::fabs(x[1]) <= 10;
        case builtin::native_rsqrt:
        case builtin::native_sqrt: return between(x[0], 0x1p-100f, 0x1p100f);
        case builtin::native_recip: return between(size, 0x1p-100f, 0x1p100f);
        case builtin::native_divide:
            return between(size, 0x1p-60f, 0x1p60f) && between(std::fabs(x[1]), 0x1p-60f, 0x1p60f);
        default: return true;
    }
}

bool is_single_specified(builtin what, std::span<const std::uint64_t> operands) {
    float x[2] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) {
        x[k] = value_of<float>(operands[k]);
        if (std::fpclassify(x[k]) == FP_SUBNORMAL) return false;
    }
    const float result = value_of<float>(evaluate(what, scalar::f32, operands).bits);
    return std::fpclassify(result) != FP_SUBNORMAL && is_ordinary(what, x);
}

/// Whether the exact result of a signed integer row is in the type's range.
template <std::signed_integral T>
bool is_in_range(builtin what, std::span<const std::uint64_t> operands) {
    using detail::int128;
    int128 x[3] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) x[k] = value_of<T>(operands[k]);
    auto fits = [](int128 exact) { return exact == detail::clamped<T>(exact); };
    switch (what) {
        case builtin::neg:
        case builtin::abs: return fits(-x[0]);
        case builtin::add: return fits(x[0] + x[1]);
        case builtin::sub: return fits(x[0] - x[1]);
        case builtin::mul: return fits(x[0] * x[1]);
        case builtin::mad_hi: return fits((x[0] * x[1] >> 8 * sizeof(T)) + x[2]);
        case builtin::mad24: return fits(x[0] * x[1] + x[2]);
        default: return true;
    }
}

}  // namespace

bool is_specified(builtin what, scalar type, std::span<const std::uint64_t> operands) {
    if (balm::detail::rule_of(what) == balm::detail::rule::single) return is_single_specified(what, operands);
    if (what == builtin::mul24 || what == builtin::mad24) {
        for (std::uint64_t bits : operands.first(2)) {
            const std::int64_t x = type == scalar::i32 ? std::int64_t{value_of<std::int32_t>(bits)}
                                                       : static_cast<std::int64_t>(bits);
            const bool fits = type == scalar::i32 ? x >= -(1 << 23) && x < 1 << 23 : x < 1 << 24;
            if (!fits) return false;
        }
    }
    return ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::signed_integral<T>)
            return is_in_range<T>(what, operands);
        else
            return true;
    });
}

value evaluate(builtin what, scalar type, std::span<const std::uint64_t> operands) {
    return ir::with_type(type,
                         [&]<class T>(std::type_identity<T>) { return evaluate_as<T>(what, operands); });
}

std::uint64_t convert(scalar from, scalar to, std::uint64_t bits) {
    return ir::with_type(from, [&]<class From>(std::type_identity<From>) {
        return ir::with_type(to, [&]<class To>(std::type_identity<To>) {
            return bits_of(converted<To>(value_of<From>(bits)));
        });
    });
}

double ulp_error(scalar type, std::uint64_t got, long double exact) {
    return type == scalar::f32 ? ulp_error_as(value_of<float>(got), exact)
                               : ulp_error_as(value_of<double>(got), exact);
}

bool accepts(builtin what, scalar result_type, std::uint64_t got, const value& expected, int ulp) {
    if (ulp < 0 || got == expected.bits) return true;
    if (!is_floating(result_type)) return false;
    if (is_nan(result_type, got) || is_nan(result_type, expected.bits))
        return is_nan(result_type, got) && is_nan(result_type, expected.bits);
    if (ulp == 0)
        return chooses_a_zero(what) && is_zero(result_type, got) && is_zero(result_type, expected.bits);
    return ulp_error(result_type, got, expected.wide) <= ulp;
}

}  // namespace balm::oracle
