#pragma once
// The host oracle: every row of builtins.def, implemented independently of the constant folder and the
// devices and in higher precision (float in double, double in long double). The reference of the tests and
// the selftest.
//
// One function per row, with the row's name. A row that must be exact (0 ulp) is computed in its own type,
// where IEEE 754 and the C library round correctly; the others return a `wide` value for ulp_error to compare
// with.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "balm/builtin.hpp"
#include "balm/types.hpp"

namespace balm::oracle {

/// A row's result: rounded to its type, as bits, and before rounding.
struct value {
    std::uint64_t bits = 0;
    long double wide = 0;
};

/// Applies a row to operands of this type, as bit patterns (f32 in the low half, integers zero-extended from
/// their width, a shift count and an i32 exponent likewise, bool 0 or 1). Throws balm::error if the row does
/// not take the type.
value evaluate(builtin, scalar type, std::span<const std::uint64_t> operands);

/// Converts a value: floating point to integer truncates, saturates and turns NaN into 0; to bool is `!= 0`;
/// integers wrap; to floating point rounds to nearest, ties to even.
std::uint64_t convert(scalar from, scalar to, std::uint64_t bits);

/// Whether a row's result on these operands is specified, so that a device's result can be checked. mul24 and
/// mad24 take 24-bit operands, the half_ functions f32 numbers in the ranges of OpenCL 1.2, section 6.12.2,
/// without subnormal operands and results (for which that section guarantees nothing). The native_ functions
/// are implementation-defined; Balm expects them to meet the bound of builtins.def in ordinary ranges: about
/// a turn of a circle, not near zeros of the function, no overflow. Signed overflow in an operator, abs,
/// mad_hi or mad24 is excluded, as in C++.
bool is_specified(builtin, scalar type, std::span<const std::uint64_t> operands);

/// The error of a floating-point result in units in the last place, as OpenCL 1.2, section 7.4 defines them.
/// 0 for NaN if NaN is correct, infinity if only one of the two is NaN. An overflow counts as the power of
/// two beyond the largest number. The sign of zero does not count.
double ulp_error(scalar, std::uint64_t got, long double exact);

/// Whether a device's result is correct: bit for bit if `ulp` is 0 (any NaN for a NaN; of two zeros, either
/// may be the smaller), else within `ulp`, ignoring the sign of a zero: OpenCL 1.2, 7.5.1 specifies it for
/// sinpi and others, but its conformance tests do not check it, and PoCL 3.1 has some wrong. A negative bound
/// accepts any result.
bool accepts(builtin, scalar result_type, std::uint64_t got, const value& expected, int ulp);

namespace detail {

template <class T>
struct wide_type;
template <>
struct wide_type<float> {
    using type = double;
};
template <>
struct wide_type<double> {
    using type = long double;
};

// ISO C++ has no 128-bit integer; both compilers have one.
__extension__ using int128 = __int128;

template <class W>
inline constexpr W pi = static_cast<W>(3.14159265358979323846264338327950288L);

template <std::integral T>
constexpr T wrapped(int128 exact) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(exact));
}
template <std::integral T>
constexpr T clamped(int128 exact) {
    constexpr int128 low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return static_cast<T>(exact < low ? low : exact > high ? high : exact);
}
/// exact / 2^n, rounded down.
constexpr int128 shifted_down(int128 exact, int n) { return exact >> n; }

}  // namespace detail

template <class T>
using wide = typename detail::wide_type<T>::type;
template <class T>
concept number = std::integral<T> || std::floating_point<T>;

// ---- operators

template <number T>
T neg(T a) {
    if constexpr (std::floating_point<T>)
        return -a;
    else
        return detail::wrapped<T>(-detail::int128{a});
}
template <std::integral T>
T bit_not(T a) {
    return detail::wrapped<T>(-detail::int128{a} - 1);
}
inline bool logical_not(bool a) { return !a; }

template <number T>
T mul(T a, T b) {
    if constexpr (std::floating_point<T>)
        return a * b;
    else
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <number T>
T div(T a, T b) {
    if constexpr (std::floating_point<T>)
        return a / b;
    else
        return b == 0 ? T{0} : detail::wrapped<T>(detail::int128{a} / b);
}
template <std::integral T>
T rem(T a, T b) {
    return b == 0 ? a : detail::wrapped<T>(detail::int128{a} % b);
}
template <number T>
T add(T a, T b) {
    if constexpr (std::floating_point<T>)
        return a + b;
    else
        return detail::wrapped<T>(detail::int128{a} + b);
}
template <number T>
T sub(T a, T b) {
    if constexpr (std::floating_point<T>)
        return a - b;
    else
        return detail::wrapped<T>(detail::int128{a} - b);
}
/// The count has been taken modulo the width.
template <std::integral T>
T shl(T a, int count) {
    for (int k = 0; k < count; ++k) a = detail::wrapped<T>(detail::int128{a} * 2);
    return a;
}
template <std::integral T>
T shr(T a, int count) {
    return static_cast<T>(detail::shifted_down(a, count));
}
template <class T>
bool less(T a, T b) {
    return a < b;
}
template <class T>
bool greater(T a, T b) {
    return a > b;
}
template <class T>
bool less_equal(T a, T b) {
    return a <= b;
}
template <class T>
bool greater_equal(T a, T b) {
    return a >= b;
}
template <class T>
bool equal(T a, T b) {
    return a == b;
}
template <class T>
bool not_equal(T a, T b) {
    return a != b;
}
template <std::integral T>
T bit_and(T a, T b) {
    return static_cast<T>(a & b);
}
template <std::integral T>
T bit_xor(T a, T b) {
    return static_cast<T>(a ^ b);
}
template <std::integral T>
T bit_or(T a, T b) {
    return static_cast<T>(a | b);
}

// ---- integers

template <std::integral T>
T popcount(T a) {
    T count = 0;
    for (auto rest = static_cast<std::make_unsigned_t<T>>(a); rest != 0; rest &= rest - 1) ++count;
    return count;
}
template <std::integral T>
T clz(T a) {
    T count = std::numeric_limits<std::make_unsigned_t<T>>::digits;
    for (auto rest = static_cast<std::make_unsigned_t<T>>(a); rest != 0; rest >>= 1) --count;
    return count;
}
template <std::integral T>
T mul_hi(T a, T b) {
    constexpr int width = 8 * sizeof(T);
    if constexpr (std::unsigned_integral<T> && sizeof(T) == 8) {
        // The product does not fit int128: correct the signed one for operands read as negative.
        const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
        const auto high = static_cast<std::uint64_t>(mul_hi(sa, sb));
        return high + (sa < 0 ? b : 0) + (sb < 0 ? a : 0);
    } else {
        return static_cast<T>(detail::shifted_down(detail::int128{a} * b, width));
    }
}
template <std::integral T>
T rotate(T a, T count) {
    using U = std::make_unsigned_t<T>;
    constexpr int width = 8 * sizeof(T);
    return static_cast<T>(std::rotl(static_cast<U>(a), static_cast<int>(static_cast<U>(count) % width)));
}
template <std::integral T>
T hadd(T a, T b) {
    return static_cast<T>(detail::shifted_down(detail::int128{a} + b, 1));
}
template <std::integral T>
T rhadd(T a, T b) {
    return static_cast<T>(detail::shifted_down(detail::int128{a} + b + 1, 1));
}
template <std::integral T>
T add_sat(T a, T b) {
    return detail::clamped<T>(detail::int128{a} + b);
}
template <std::integral T>
T sub_sat(T a, T b) {
    return detail::clamped<T>(detail::int128{a} - b);
}

template <std::integral T>
T mad_hi(T a, T b, T c) {
    return detail::wrapped<T>(detail::int128{mul_hi(a, b)} + c);
}
template <std::integral T>
T mad_sat(T a, T b, T c) {
    if constexpr (sizeof(T) == 8 && std::unsigned_integral<T>) {
        const bool fits = mul_hi(a, b) == 0 && static_cast<T>(~(a * b)) >= c;  // a * b + c <= the largest
        return fits ? a * b + c : std::numeric_limits<T>::max();
    } else {
        return detail::clamped<T>(detail::int128{a} * b + c);
    }
}
template <std::integral T>
std::make_unsigned_t<T> abs_diff(T a, T b) {
    const detail::int128 difference = detail::int128{a} - b;
    return static_cast<std::make_unsigned_t<T>>(difference < 0 ? -difference : difference);
}
/// The operands are the high and the low half.
template <std::integral T>
requires(sizeof(T) < 8) auto upsample(T high, std::make_unsigned_t<T> low) {
    using W = typename balm::detail::host_type<balm::detail::doubled(scalar_of<T>)>::type;
    return detail::wrapped<W>(detail::int128{high} * (detail::int128{1} << (8 * sizeof(T))) + low);
}
template <std::integral T>
T mul24(T a, T b) {
    return detail::wrapped<T>(detail::int128{a} * b);
}
template <std::integral T>
T mad24(T a, T b, T c) {
    return detail::wrapped<T>(detail::int128{a} * b + c);
}

// ---- bit patterns

namespace detail {

template <class To, class From>
To reinterpreted(From x) {
    return std::bit_cast<To>(x);
}
template <class T>
using bits_type =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                          std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

}  // namespace detail

template <number T>
T bitselect(T a, T b, T c) {
    using U = detail::bits_type<T>;
    const auto mask = std::bit_cast<U>(c);
    return std::bit_cast<T>(
        static_cast<U>((std::bit_cast<U>(a) & static_cast<U>(~mask)) | (std::bit_cast<U>(b) & mask)));
}
template <number T>
std::int32_t as_int(T x) {
    return detail::reinterpreted<std::int32_t>(x);
}
template <number T>
std::uint32_t as_uint(T x) {
    return detail::reinterpreted<std::uint32_t>(x);
}
template <number T>
std::int64_t as_long(T x) {
    return detail::reinterpreted<std::int64_t>(x);
}
template <number T>
std::uint64_t as_ulong(T x) {
    return detail::reinterpreted<std::uint64_t>(x);
}
template <number T>
float as_float(T x) {
    return detail::reinterpreted<float>(x);
}
template <number T>
double as_double(T x) {
    return detail::reinterpreted<double>(x);
}
/// A quiet NaN; its payload need not be the code.
template <std::unsigned_integral T>
auto nan(T) {
    return std::numeric_limits<std::conditional_t<sizeof(T) == 4, float, double>>::quiet_NaN();
}

// ---- conversions with directed rounding: to nearest, then one step back if that was the wrong side

namespace detail {

/// `long double` represents every number of Balm's types on x86-64 and arm64.
template <std::floating_point To, number From>
To rounded_up(From x) {
    const To nearest = static_cast<To>(x);
    return static_cast<long double>(nearest) < static_cast<long double>(x)
               ? std::nextafter(nearest, std::numeric_limits<To>::infinity())
               : nearest;
}
template <std::floating_point To, number From>
To rounded_down(From x) {
    const To nearest = static_cast<To>(x);
    return static_cast<long double>(nearest) > static_cast<long double>(x)
               ? std::nextafter(nearest, -std::numeric_limits<To>::infinity())
               : nearest;
}

}  // namespace detail

template <number T>
float convert_float_rtp(T x) {
    return detail::rounded_up<float>(x);
}
template <number T>
float convert_float_rtn(T x) {
    return detail::rounded_down<float>(x);
}
template <number T>
float convert_float_rtz(T x) {
    return x < T{0} ? convert_float_rtp(x) : convert_float_rtn(x);
}
template <number T>
double convert_double_rtp(T x) {
    return detail::rounded_up<double>(x);
}
template <number T>
double convert_double_rtn(T x) {
    return detail::rounded_down<double>(x);
}
template <number T>
double convert_double_rtz(T x) {
    return x < T{0} ? convert_double_rtp(x) : convert_double_rtn(x);
}

// ---- predicates

template <std::floating_point T>
bool isequal(T x, T y) {
    return !std::islessgreater(x, y) && !std::isunordered(x, y);
}
template <std::floating_point T>
bool isnotequal(T x, T y) {
    return std::islessgreater(x, y) || std::isunordered(x, y);
}
template <std::floating_point T>
bool isgreater(T x, T y) {
    return std::isgreater(x, y);
}
template <std::floating_point T>
bool isgreaterequal(T x, T y) {
    return std::isgreaterequal(x, y);
}
template <std::floating_point T>
bool isless(T x, T y) {
    return std::isless(x, y);
}
template <std::floating_point T>
bool islessequal(T x, T y) {
    return std::islessequal(x, y);
}
template <std::floating_point T>
bool islessgreater(T x, T y) {
    return std::islessgreater(x, y);
}
template <std::floating_point T>
bool isordered(T x, T y) {
    return !std::isunordered(x, y);
}
template <std::floating_point T>
bool isunordered(T x, T y) {
    return std::isunordered(x, y);
}

template <std::floating_point T>
bool isnan(T x) {
    return std::isnan(x);
}
template <std::floating_point T>
bool isinf(T x) {
    return std::isinf(x);
}
template <std::floating_point T>
bool isfinite(T x) {
    return std::isfinite(x);
}
template <std::floating_point T>
bool isnormal(T x) {
    return std::isnormal(x);
}
template <std::floating_point T>
bool signbit(T x) {
    return std::signbit(x);
}

// ---- exact floating-point rows, in their own type

#define BALM_EXACT_1(id)             \
    template <std::floating_point T> \
    T id(T x) {                      \
        return std::id(x);           \
    }
#define BALM_EXACT_2(id)             \
    template <std::floating_point T> \
    T id(T x, T y) {                 \
        return std::id(x, y);        \
    }
BALM_EXACT_1(ceil)
BALM_EXACT_1(fabs)
BALM_EXACT_1(floor)
BALM_EXACT_1(logb)
BALM_EXACT_1(rint)
BALM_EXACT_1(round)
BALM_EXACT_1(sqrt)
BALM_EXACT_1(trunc)
BALM_EXACT_2(copysign)
BALM_EXACT_2(fdim)
BALM_EXACT_2(fmod)
BALM_EXACT_2(nextafter)
BALM_EXACT_2(remainder)
#undef BALM_EXACT_1
#undef BALM_EXACT_2

/// Ignores any NaN operand; the C library's functions return NaN for a signalling one.
template <std::floating_point T>
T fmin(T x, T y) {
    return std::isnan(x) || y < x ? y : x;
}
template <std::floating_point T>
T fmax(T x, T y) {
    return std::isnan(x) || y > x ? y : x;
}
template <std::floating_point T>
T fma(T a, T b, T c) {
    return std::fma(a, b, c);
}
template <std::floating_point T>
T ldexp(T x, std::int32_t n) {
    return std::ldexp(x, n);
}
/// Balm's mad is fused.
template <std::floating_point T>
T mad(T a, T b, T c) {
    return std::fma(a, b, c);
}
/// Sections 6.12.2 and 6.12.4, with the operations in the order that Balm fixes for every device.
template <std::floating_point T>
T mix(T x, T y, T a) {
    return std::fma(y - x, a, x);
}
template <std::floating_point T>
T smoothstep(T low, T high, T x) {
    const T t = fmin(fmax((x - low) / (high - low), T{0}), T{1});
    const T square = t * t, twice = 2 * t, slope = 3 - twice;
    return square * slope;
}
template <std::floating_point T>
T step(T edge, T x) {
    return std::isless(x, edge) ? T{0} : T{1};
}
template <std::floating_point T>
T sign(T x) {
    if (std::isnan(x)) return T{0};
    return x == 0 ? x : std::copysign(T{1}, x);
}
/// The parts of functions with several results; infinities and NaN have the exponent 0.
template <std::floating_point T>
T frexp_mantissa(T x) {
    int exponent = 0;
    return std::frexp(x, &exponent);
}
template <std::floating_point T>
std::int32_t frexp_exponent(T x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::isfinite(x) ? exponent : 0;
}
template <std::floating_point T>
T modf_fraction(T x) {
    T whole = 0;
    return std::modf(x, &whole);
}
/// The low seven bits of x / y rounded to the nearest integer, with the quotient's sign.
template <std::floating_point T>
std::int32_t remquo_quotient(T x, T y) {
    if (!std::isfinite(x) || std::isnan(y) || y == 0) return 0;
    // x - remainder(x, y) is a whole multiple of y; modulo 128 y it is exact in the wider type.
    using W = wide<T>;
    const W size = std::fabs(static_cast<W>(y)), rest = std::fabs(std::fmod(static_cast<W>(x), 128 * size));
    if (std::isinf(size)) return 0;
    W whole = std::floor(rest / size);
    if (whole * size > rest) whole -= 1;
    const W beyond = rest - whole * size;
    if (beyond * 2 > size || (beyond * 2 == size && std::fmod(whole, W{2}) == 1)) whole += 1;
    const auto quotient = static_cast<std::int32_t>(whole) % 128;
    return std::signbit(x) == std::signbit(y) ? quotient : -quotient;
}
/// The sign of gamma(x): +1 at the poles of the negative integers, where it has none.
template <std::floating_point T>
std::int32_t lgamma_sign(T x) {
    if (x == 0) return std::signbit(x) ? -1 : 1;
    if (!(x < 0) || std::isinf(x) || x == std::trunc(x)) return 1;
    return std::fmod(std::ceil(-x), T{2}) == 1 ? -1 : 1;
}

/// OpenCL 1.2, sections 6.12.2 and 7.5.1.
template <std::floating_point T>
T fract(T x) {
    if (std::isnan(x)) return x;
    if (std::isinf(x) || x == 0) return std::copysign(T{0}, x);
    return fmin(x - std::floor(x), std::nextafter(T{1}, T{0}));
}
template <std::floating_point T>
T maxmag(T x, T y) {
    const T a = std::fabs(x), b = std::fabs(y);
    return a > b ? x : b > a ? y : fmax(x, y);
}
template <std::floating_point T>
T minmag(T x, T y) {
    const T a = std::fabs(x), b = std::fabs(y);
    return a < b ? x : b < a ? y : fmin(x, y);
}
/// Balm defines what OpenCL leaves open: the smallest int for 0, the largest for infinities and NaN.
template <std::floating_point T>
std::int32_t ilogb(T x) {
    if (x == 0) return std::numeric_limits<std::int32_t>::min();
    if (!std::isfinite(x)) return std::numeric_limits<std::int32_t>::max();
    return std::ilogb(x);
}

// ---- any type: for floating point these are fabs, fmin and fmax

template <number T>
T abs(T a) {
    if constexpr (std::floating_point<T>)
        return std::fabs(a);
    else
        return a < 0 ? neg(a) : a;
}
template <number T>
T min(T a, T b) {
    if constexpr (std::floating_point<T>)
        return fmin(a, b);
    else
        return b < a ? b : a;
}
template <number T>
T max(T a, T b);
/// min(max(x, low), high), also if low > high, which OpenCL leaves undefined.
template <number T>
T clamp(T x, T low, T high) {
    return min(max(x, low), high);
}
template <number T>
T max(T a, T b) {
    if constexpr (std::floating_point<T>)
        return fmax(a, b);
    else
        return a < b ? b : a;
}

// ---- the other floating-point rows, in the wider type

#define BALM_WIDE_1(id)                          \
    template <std::floating_point T>             \
    wide<T> id(T x) {                            \
        return std::id(static_cast<wide<T>>(x)); \
    }
#define BALM_WIDE_2(id)                                                   \
    template <std::floating_point T>                                      \
    wide<T> id(T x, T y) {                                                \
        return std::id(static_cast<wide<T>>(x), static_cast<wide<T>>(y)); \
    }
BALM_WIDE_1(acos)
BALM_WIDE_1(acosh)
BALM_WIDE_1(asin)
BALM_WIDE_1(asinh)
BALM_WIDE_1(atan)
BALM_WIDE_1(atanh)
BALM_WIDE_1(cbrt)
BALM_WIDE_1(cos)
BALM_WIDE_1(cosh)
BALM_WIDE_1(erf)
BALM_WIDE_1(erfc)
BALM_WIDE_1(exp)
BALM_WIDE_1(exp2)
BALM_WIDE_1(expm1)
BALM_WIDE_1(lgamma)
BALM_WIDE_1(log)
BALM_WIDE_1(log10)
BALM_WIDE_1(log1p)
BALM_WIDE_1(log2)
BALM_WIDE_1(sin)
BALM_WIDE_1(sinh)
BALM_WIDE_1(tan)
BALM_WIDE_1(tanh)
BALM_WIDE_1(tgamma)
BALM_WIDE_2(atan2)
BALM_WIDE_2(hypot)
#undef BALM_WIDE_1
#undef BALM_WIDE_2

template <std::floating_point T>
wide<T> degrees(T x) {
    return static_cast<wide<T>>(x) * (180 / detail::pi<wide<T>>);
}
template <std::floating_point T>
wide<T> radians(T x) {
    return static_cast<wide<T>>(x) * (detail::pi<wide<T>> / 180);
}
template <std::floating_point T>
wide<T> exp10(T x) {
    return std::pow(wide<T>{10}, static_cast<wide<T>>(x));
}
template <std::floating_point T>
wide<T> rsqrt(T x) {
    return 1 / std::sqrt(static_cast<wide<T>>(x));
}
template <std::floating_point T>
wide<T> acospi(T x) {
    return acos(x) / detail::pi<wide<T>>;
}
template <std::floating_point T>
wide<T> asinpi(T x) {
    return asin(x) / detail::pi<wide<T>>;
}
template <std::floating_point T>
wide<T> atanpi(T x) {
    return atan(x) / detail::pi<wide<T>>;
}
template <std::floating_point T>
wide<T> atan2pi(T y, T x) {
    return atan2(y, x) / detail::pi<wide<T>>;
}

namespace detail {

/// x = n / 2 + rest, exactly, with |rest| <= 1/4; n modulo 4. x is finite.
struct quarter {
    int n = 0;
    long double rest = 0;
};
template <class T>
quarter quarter_turns(T x) {
    const long double turn = std::fmod(static_cast<long double>(x), 2.0L);
    const long double nearest = std::rint(turn * 2);
    return {static_cast<int>(nearest) & 3, turn - nearest / 2};
}

}  // namespace detail

/// 7.5.1: sinpi(±n) is ±0 for whole n.
template <std::floating_point T>
wide<T> sinpi(T x) {
    if (!std::isfinite(x)) return std::numeric_limits<wide<T>>::quiet_NaN();
    const auto [n, rest] = detail::quarter_turns(x);
    const auto angle = static_cast<wide<T>>(rest * detail::pi<long double>);
    const wide<T> result = n & 1 ? std::cos(angle) : std::sin(angle);
    return result == 0 ? std::copysign(result, static_cast<wide<T>>(x)) : n & 2 ? -result : result;
}
/// 7.5.1: cospi(n + 1/2) is +0.
template <std::floating_point T>
wide<T> cospi(T x) {
    if (!std::isfinite(x)) return std::numeric_limits<wide<T>>::quiet_NaN();
    const auto [n, rest] = detail::quarter_turns(x);
    const auto angle = static_cast<wide<T>>(rest * detail::pi<long double>);
    const wide<T> result = n & 1 ? std::sin(angle) : std::cos(angle);
    return result == 0 ? wide<T>{0} : n == 1 || n == 2 ? -result : result;
}
/// 7.5.1: tanpi(n) is copysign(0, n) for even n and copysign(0, -n) for odd n; tanpi(n + 1/2) is +infinity
/// for even n and -infinity for odd n.
template <std::floating_point T>
wide<T> tanpi(T x) {
    if (!std::isfinite(x)) return std::numeric_limits<wide<T>>::quiet_NaN();
    const auto [n, rest] = detail::quarter_turns(x);
    const auto angle = static_cast<wide<T>>(rest * detail::pi<long double>);
    if (angle == 0) {
        if (n == 0 || n == 2) return std::copysign(wide<T>{0}, static_cast<wide<T>>(n == 0 ? x : -x));
        return n == 1 ? std::numeric_limits<wide<T>>::infinity() : -std::numeric_limits<wide<T>>::infinity();
    }
    return n & 1 ? -1 / std::tan(angle) : std::tan(angle);
}

template <std::floating_point T>
wide<T> pow(T x, T y) {
    if (std::isinf(x) && y < 0 && std::isfinite(y)) {  // glibc 2.36: powl(-INFINITY, -0x1p63L) is infinite
        const bool is_odd = std::fabs(std::fmod(y, T{2})) == 1;
        return std::copysign(wide<T>{0}, is_odd ? static_cast<wide<T>>(x) : wide<T>{1});
    }
    return std::pow(static_cast<wide<T>>(x), static_cast<wide<T>>(y));
}
template <std::floating_point T>
wide<T> pown(T x, std::int32_t n) {
    return std::pow(static_cast<wide<T>>(x), static_cast<wide<T>>(n));
}
/// 7.5.1: pow for x >= 0, without its exceptions for 0^0, 1^∞ and ∞^0.
template <std::floating_point T>
wide<T> powr(T x, T y) {
    const bool undefined = std::isnan(x) || std::isnan(y) || x < 0 || (x == 0 && y == 0) ||
                           (x == 1 && std::isinf(y)) || (std::isinf(x) && y == 0);
    if (undefined) return std::numeric_limits<wide<T>>::quiet_NaN();
    return std::pow(std::fabs(static_cast<wide<T>>(x)), static_cast<wide<T>>(y));
}
template <std::floating_point T>
wide<T> rootn(T x, std::int32_t n) {
    const bool is_even = n % 2 == 0;
    if (n == 0 || (x < 0 && is_even) || std::isnan(x)) return std::numeric_limits<wide<T>>::quiet_NaN();
    const wide<T> a = std::fabs(static_cast<wide<T>>(x));
    wide<T> root = std::pow(a, 1 / static_cast<wide<T>>(n));
    if (a != 0 && !std::isinf(a))  // a Newton step corrects the error of 1 / n
        root *= 1 - (std::pow(root, static_cast<wide<T>>(n)) / a - 1) / static_cast<wide<T>>(n);
    return is_even ? root : std::copysign(root, static_cast<wide<T>>(x));
}

// ---- half_ and native_ rows: the exact functions that they approximate

#define BALM_APPROXIMATE(name)                                                  \
    inline double half_##name(float x) { return static_cast<double>(name(x)); } \
    inline double native_##name(float x) { return static_cast<double>(name(x)); }
BALM_APPROXIMATE(cos)
BALM_APPROXIMATE(exp)
BALM_APPROXIMATE(exp2)
BALM_APPROXIMATE(exp10)
BALM_APPROXIMATE(log)
BALM_APPROXIMATE(log2)
BALM_APPROXIMATE(log10)
BALM_APPROXIMATE(rsqrt)
BALM_APPROXIMATE(sin)
BALM_APPROXIMATE(tan)
#undef BALM_APPROXIMATE
inline double half_sqrt(float x) { return std::sqrt(double{x}); }
inline double native_sqrt(float x) { return std::sqrt(double{x}); }
inline double half_recip(float x) { return 1 / double{x}; }
inline double native_recip(float x) { return 1 / double{x}; }
inline double half_divide(float x, float y) { return double{x} / double{y}; }
inline double native_divide(float x, float y) { return double{x} / double{y}; }
inline double half_powr(float x, float y) { return powr(x, y); }
inline double native_powr(float x, float y) { return powr(x, y); }

}  // namespace balm::oracle
