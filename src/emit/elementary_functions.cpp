// The texts. $T is the type, $S its scalar, $I the integers of its size, $C the type of its comparisons, $n
// its lanes, $f the row; $P(x; a, b, c) is a + b x + c x^2.
//
// Up to rounding, the polynomials are the best of their degree in the reduced interval (Remez' algorithm and,
// for powers of f32, Chebyshev's points; mpmath, 40 digits and more).

#include "emit/elementary_functions.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace balm::emit {

namespace {

struct mark {
    std::string_view sign, word;
};
/// The parts of a row's texts that depend on the type. x + $whole rounds x to a whole number, which its bits
/// hold; two_thirds and to_log2 = 1 / log 2 are sums of two numbers; powers of 2 beyond $far are 0 or
/// infinite.
constexpr mark numbers_of_f32[] = {{"$least", "0x1p-126f"},
                                   {"$lift", "0x1p23f"},
                                   {"$root_half", "0x3f3504f3"},
                                   {"$digits", "23"},
                                   {"$bias", "127"},
                                   {"$whole", "0x1.8p23f"},
                                   {"$two_thirds", "0x1.555556p-1f"},
                                   {"$low_two_thirds", "-0x1.555556p-26f"},
                                   {"$to_log2", "0x1.715476p+0f"},
                                   {"$low_to_log2", "0x1.4ae0cp-26f"},
                                   {"$far", "200"},
                                   {"$rest", "$P(w; 0.4f, 0.285715312f, 0.222047657f, 0.191203579f)"},
                                   {"$exp2",
                                    "$P(f; 1.0f, 0.693147182f, 0.240226507f, 0.0555035695f, 0.00961808302f, "
                                    "0.00133908633f, 0.000154531634f)"},
                                   {"$most", "0x1.fffffep+127f"},
                                   {"$infinity", "($T)as_$S(0x7f800000)"},
                                   {"$nan", "($T)as_$S(0x7fc00000)"},
                                   {"$sign", "31"},
                                   {"$limit", "0x1p17f"}};
constexpr mark numbers_of_f64[] = {
    {"$least", "0x1p-1022"},
    {"$lift", "0x1p52"},
    {"$root_half", "0x3fe6a09e667f3bcdL"},
    {"$digits", "52"},
    {"$bias", "1023"},
    {"$whole", "0x1.8p52"},
    {"$two_thirds", "0x1.5555555555555p-1"},
    {"$low_two_thirds", "0x1.5555555555555p-55"},
    {"$to_log2", "0x1.71547652b82fep+0"},
    {"$low_to_log2", "0x1.777d0ffda0d24p-56"},
    {"$far", "1100"},
    {"$rest",
     "$P(w; 0.40000000000002256, 0.28571428570098423, 0.22222222520131829, 0.18181784348556182, "
     "0.15386758200194925, 0.13256797186069422, 0.13196522585446599)"},
    {"$exp2",
     "$P(f; 1.0, 0.69314718055994529, 0.24022650695910133, 0.055504108664821743, 0.0096181291075928335, "
     "0.0013333558146378368, 0.0001540353045878534, 1.5252733868198228e-5, 1.3215434432784965e-6, "
     "1.0178046185001599e-7, 7.0739309719980806e-9, 4.457428980734521e-10)"},
    {"$most", "0x1.fffffffffffffp+1023"},
    {"$infinity", "($T)as_$S(0x7ff0000000000000)"},
    {"$nan", "($T)as_$S(0x7ff8000000000000)"},
    {"$sign", "63"},
    {"$limit", "0x1p30"}};

/// Replaces every occurrence of a mark's sign by its word.
void replace_all(std::string& text, const mark& with) {
    for (std::size_t at = 0; (at = text.find(with.sign, at)) != std::string::npos; at += with.word.size())
        text.replace(at, with.sign.size(), with.word);
}

/// Replaces "$P(x; a, b, c)" by Horner's scheme for a + b x + c x^2.
void write_polynomials(std::string& text) {
    constexpr std::string_view mark = "$P(";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
        const std::size_t semicolon = text.find(';', at), end = text.find(')', at);
        const std::string x = text.substr(at + mark.size(), semicolon - at - mark.size());
        std::string list = "," + text.substr(semicolon + 1, end - semicolon - 1), sum;
        for (std::size_t comma; (comma = list.rfind(',')) != std::string::npos; list.resize(comma)) {
            const std::string c = "($T)(" + list.substr(comma + 2) + ")";
            sum = sum.empty() ? c : fmt::format("fma({}, {}, {})", sum, x, c);
        }
        text.replace(at, end + 1 - at, sum);
    }
}

/// A text for a type and a row.
std::string filled(std::string_view given, const dialect& language, const ir::type& of,
                   std::string_view function) {
    const bool is_f32 = of.element == scalar::f32;
    const words& say = language.say;
    const bool overloads = language.has.has_vectors;
    std::string text(given);
    for (const mark& each : is_f32 ? std::span<const mark>(numbers_of_f32) : numbers_of_f64)
        replace_all(text, each);
    write_polynomials(text);
    const std::string own = type_name(language, of.element, of.lanes);
    const std::string integers = type_name(language, is_f32 ? scalar::i32 : scalar::i64, of.lanes);
    const std::string element = type_name(language, of.element);
    const std::string lanes = std::to_string(of.lanes);
    // A language without vectors only needs the functions of doubles.
    const mark words[] = {{"$inline ", say.helper},
                          {"as_$T", overloads ? "as_$T" : say.word_to_f64},
                          {"as_$S", overloads ? "as_$S" : say.word_to_f64},
                          {"as_$I", overloads ? "as_$I" : say.f64_to_long},
                          {"$any", of.lanes > 1 ? "any" : ""},
                          {"$C", of.lanes > 1 ? "$I" : "int"},
                          {"$T", own},
                          {"$I", integers},
                          {"$S", element},
                          {"$n", lanes},
                          {"$f", function}};
    for (const mark& each : words) replace_all(text, each);
    return text;
}

// x = quarter pi / 2 + r, where r is exact up to two roundings: each fma subtracts a part of pi / 2 with as
// many digits as the type, and the first does not round. sine and cosine are those of r.
constexpr std::string_view turn_f32 =
    R"(static inline void balm_turn_$T($T x, $T* sine, $T* cosine, $I* quarter) {
    const $T shifted = fma(x, ($T)(0x1.45f306p-1f), ($T)(0x1.8p23f)), turns = shifted - 0x1.8p23f;
    $T r = fma(-turns, ($T)(0x1.921fb6p+0f), x);
    r = fma(-turns, ($T)(-0x1.777a5cp-25f), r);
    r = fma(-turns, ($T)(-0x1.ee59dap-50f), r);
    const $T w = r * r;
    *sine = r * $P(w; 1.0f, -0.166666552f, 0.008332178f, -0.000195172353f);
    *cosine = $P(w; 1.0f, -0.5f, 0.0416666456f, -0.00138873665f, 2.44383791e-5f);
    *quarter = as_$I(shifted);
}
)";
constexpr std::string_view turn_f64 =
    R"(static inline void balm_turn_$T($T x, $T* sine, $T* cosine, $I* quarter) {
    const $T shifted = fma(x, ($T)(0x1.45f306dc9c883p-1), ($T)(0x1.8p52)), turns = shifted - 0x1.8p52;
    $T r = fma(-turns, ($T)(0x1.921fb54442d18p+0), x);
    r = fma(-turns, ($T)(0x1.1a62633145c07p-54), r);
    r = fma(-turns, ($T)(-0x1.f1976b7ed8fbcp-110), r);
    const $T w = r * r;
    *sine = r * $P(w; 1.0, -0.16666666666666632, 0.0083333333333224131, -0.00019841269829807805, 2.755731369191683e-6, -2.5050758115074587e-8, 1.5896795641904487e-10);
    *cosine = $P(w; 1.0, -0.5, 0.041666666666666602, -0.0013888888888874125, 2.4801587289482174e-5, -2.7557314352329202e-7, 2.0875723272676097e-9, -1.1359647772398397e-11);
    *quarter = as_$I(shifted);
}
)";

/// Recomputes the lanes that are `far`: outside the range of the formula.
constexpr std::string_view far_lanes = R"(    if (any(far)) {
        $S own[$n];
        vstore$n(x, 0, own);
        for (int k = 0; k < $n; ++k) own[k] = $f(own[k]);
        result = select(result, vload$n(0, own), far);
    }
    return result;
}
)";

// An odd quarter exchanges sine and cosine; the second and third quarters have the opposite sign.
constexpr std::string_view circular = R"(static inline $T balm_$f_$T($T x) {
    $T sine, cosine;
    $I quarter;
    balm_turn_$T(x, &sine, &cosine, &quarter);
    const $I far = ~(fabs(x) <= $limit);
)";
constexpr std::string_view sine = R"(    $T result = select(sine, cosine, quarter << $sign);
    result = as_$T(as_$I(result) ^ (quarter & 2) << ($sign - 1));
)";
constexpr std::string_view cosine = R"(    quarter += 1;
)";
constexpr std::string_view tangent =
    R"(    $T result = select(sine, -cosine, quarter << $sign) / select(cosine, sine, quarter << $sign);
)";

// The logarithm has twice the digits, as far as y makes them matter: 2 s and 2/3 s^3 are pairs of numbers,
// and the rest of the series is 2^-12 of them.
constexpr std::string_view pow_of_size =
    R"($inline $T balm_pow_$T($T x, $T y) {
    // size = 2^e m, sqrt(1/2) <= m < sqrt(2)
    const $T size = fabs(x);
    const $C is_subnormal = size < $least;
    const $T normal = is_subnormal ? size * $lift : size;
    const $I bits = as_$I(normal), e = (bits - $root_half) >> $digits;
    const $T m = as_$T(bits - (e << $digits));
    const $T whole_e = as_$T(e + as_$I(($T)$whole)) - (is_subnormal ? ($T)($whole + $digits) : ($T)$whole);
    // log m = 2 artanh s = 2 s + 2/3 s^3 + s^5 (...)
    const $T d = m + 1, d_low = m - (d - 1), inverse = 1 / d;
    const $T s = (m - 1) * inverse, s_low = fma(-s, d_low, fma(-s, d, m - 1)) * inverse;
    const $T w = s * s, w_low = fma(2 * s, s_low, fma(s, s, -w));
    const $T cube = s * w, cube_low = fma(s_low, w, fma(s, w_low, fma(s, w, -cube)));
    const $T two_thirds = $two_thirds, third = cube * two_thirds;
    const $T third_low = fma(cube_low, two_thirds, fma(cube, ($T)$low_two_thirds, fma(cube, two_thirds, -third)));
    const $T rest = $rest;
    const $T leading = 2 * s + third;
    const $T following = third - (leading - 2 * s) + fma(cube * w, rest, third_low + 2 * s_low);
    const $T natural = leading + following, natural_low = following - (natural - leading);
    // log2 size, and y times that
    const $T to_log2 = $to_log2, part = natural * to_log2;
    const $T part_low = fma(natural_low, to_log2, fma(natural, ($T)$low_to_log2, fma(natural, to_log2, -part)));
    const $T log = whole_e + part, log_low = part - (log - whole_e) + part_low;
    const $T product = y * log;
    const $C is_far = fabs(product) >= $far;
    const $T z = is_far ? copysign(($T)$far, product) : product;
    const $T z_low = is_far ? ($T)0 : fma(y, log_low, fma(y, log, -product));
    // 2^z, in two steps: it may be subnormal
    const $T shifted = z + $whole, f = z - (shifted - $whole) + z_low;
    const $T power = $exp2;
    const $I turns = as_$I(shifted) - as_$I(($T)$whole), step = turns >> 1;
    $T result = power * as_$T((step + $bias) << $digits) * as_$T((turns - step + $bias) << $digits);
)";
// Zeros, infinities and signs: a negative base only has powers with whole exponents.
constexpr std::string_view pow_specials =
    R"(    const $C is_usual = (x > 0) & (size <= $most) & (fabs(y) <= $most);
    if ($any(!is_usual)) {
        const $C is_whole = rint(y) == y, is_odd = is_whole & (rint(y / 2) != y / 2);
        result = ((size == 0) | (size > $most)) ? ((size == 0) == (y < 0) ? $infinity : ($T)0) : result;
        result = ((size == 1) & (fabs(y) > $most)) ? ($T)1 : result;
        result = is_odd ? copysign(result, x) : result;
        result = ((x < 0) & (size <= $most) & !is_whole) ? $nan : result;
        result = ((x != x) | (y != y)) ? x + y : result;
        result = ((y == 0) | (x == 1)) ? ($T)1 : result;
    }
    return result;
}
)";

// 1 beside a NaN, as OpenCL defines it: Intel's compiler for CPUs vectorises its own step to 0.
constexpr std::string_view comparing_step = R"(static inline $T balm_$f_$T($T edge, $T x) {
    return select(($T)1, ($T)0, x < edge);
}
)";

std::string_view name_of(builtin what) {
    switch (what) {
        case builtin::cos:
        case builtin::half_cos:
        case builtin::native_cos: return "cos";
        case builtin::tan:
        case builtin::half_tan:
        case builtin::native_tan: return "tan";
        case builtin::pow: return "pow";
        case builtin::step: return "step";
        default: return "sin";
    }
}

}  // namespace

std::string elementary_function(program_parts& parts, builtin what, ir::type of) {
    const std::string_view function = name_of(what);
    const auto fill = [&](std::string_view text) { return filled(text, parts.language, of, function); };
    std::string text;
    if (function == "pow") {
        text.append(pow_of_size).append(pow_specials);
    } else if (function == "step") {
        text += comparing_step;
    } else {
        parts.use({fill("balm_turn_$T"), fill(of.element == scalar::f32 ? turn_f32 : turn_f64)});
        text += circular;
        if (function == "cos") text += cosine;
        text += function == "tan" ? tangent : sine;
        text += far_lanes;
    }
    return parts.use({fill("balm_$f_$T"), fill(text)});
}

builtin_spelling spell(program_parts& parts, builtin what, scalar type) {
    const bool is_own = what == builtin::pow && (type == scalar::f64 || !parts.language.has.has_pow_of_f32);
    if (!is_own) return parts.language.row(parts.language, what, type);
    return {elementary_function(parts, what, type) + "($0, $1)", true, {}};
}

}  // namespace balm::emit
