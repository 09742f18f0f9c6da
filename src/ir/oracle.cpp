// Chooses the oracle's function for a row and a type, rounds its result, and measures how far a device's
// result is from it.

#include "ir/oracle.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "ir/ir.hpp"

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
        default: return std::floating_point<T>;
    }
}

/// The result of a function as a value: a wide one is rounded to T.
template <class T, class R>
value rounded(R result) {
    if constexpr (std::floating_point<R>) {
        return {bits_of(static_cast<T>(result)), static_cast<long double>(result)};
    } else {
        return {bits_of(result), static_cast<long double>(result)};
    }
}

template <balm::detail::rule Rule, int Arity, class T, class Function>
value call(Function function, std::span<const std::uint64_t> bits) {
    using balm::detail::rule;
    if constexpr (Rule == rule::shift) {
        constexpr std::uint64_t width = 8 * sizeof(T);
        return rounded<T>(function(value_of<T>(bits[0]), static_cast<int>(bits[1] % width)));
    } else if constexpr (Rule == rule::scale) {
        return rounded<T>(function(value_of<T>(bits[0]), value_of<std::int32_t>(bits[1])));
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

/// Calls `f` with the scalar's host type in a tag.
template <class F>
auto with_type(scalar s, F&& f) {
    switch (s) {
        case scalar::boolean: return f(std::type_identity<bool>{});
        case scalar::i8: return f(std::type_identity<std::int8_t>{});
        case scalar::u8: return f(std::type_identity<std::uint8_t>{});
        case scalar::i16: return f(std::type_identity<std::int16_t>{});
        case scalar::u16: return f(std::type_identity<std::uint16_t>{});
        case scalar::i32: return f(std::type_identity<std::int32_t>{});
        case scalar::u32: return f(std::type_identity<std::uint32_t>{});
        case scalar::i64: return f(std::type_identity<std::int64_t>{});
        case scalar::u64: return f(std::type_identity<std::uint64_t>{});
        case scalar::f32: return f(std::type_identity<float>{});
        default: return f(std::type_identity<double>{});
    }
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
    // Beyond the largest number all is one: the next power of two stands for it.
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

/// Of two zeros of different sign, either is the smaller (OpenCL 1.2, 7.5.1, footnote to fmin).
bool chooses_a_zero(builtin what) {
    switch (what) {
        case builtin::min:
        case builtin::max:
        case builtin::fmin:
        case builtin::fmax:
        case builtin::maxmag:
        case builtin::minmag: return true;
        default: return false;
    }
}

}  // namespace

value evaluate(builtin what, scalar type, std::span<const std::uint64_t> operands) {
    return with_type(type, [&]<class T>(std::type_identity<T>) { return evaluate_as<T>(what, operands); });
}

std::uint64_t convert(scalar from, scalar to, std::uint64_t bits) {
    return with_type(from, [&]<class From>(std::type_identity<From>) {
        return with_type(to, [&]<class To>(std::type_identity<To>) {
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
