// The texts. $T is the vector type, $S its scalar, $I the integers of its size, $D as many doubles,
// $n its lanes, $f the row; $P(x; a, b, c) is a + b x + c x^2.
//
// The polynomials are the best of their degree in the interval that is reduced to (Remez' algorithm; mpmath,
// 50 digits).

#include "emit/vector_functions.hpp"

#include <fmt/format.h>

#include <string_view>

namespace balm::emit {

namespace {

/// Puts what a mark stands for in its place, wherever it is.
void replace_all(std::string& text, std::string_view mark, std::string_view word) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += word.size())
        text.replace(at, mark.size(), word);
}

/// Horner's scheme in place of "$P(x; a, b, c)": a + b x + c x^2.
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
std::string filled(std::string_view given, const ir::type& vector, std::string_view function) {
    const bool is_f32 = vector.element == scalar::f32;
    std::string text(given);
    write_polynomials(text);
    const std::pair<const char*, std::string> marks[] = {
        {"$T", fmt::format("{}{}", is_f32 ? "float" : "double", vector.lanes)},
        {"$I", fmt::format("{}{}", is_f32 ? "int" : "long", vector.lanes)},
        {"$D", fmt::format("double{}", vector.lanes)},
        {"$S", is_f32 ? "float" : "double"},
        {"$n", std::to_string(vector.lanes)},
        {"$f", std::string(function)},
        {"$sign", is_f32 ? "31" : "63"},
        {"$limit", is_f32 ? "0x1p17f" : "0x1p30"}};
    for (const auto& [mark, word] : marks) replace_all(text, mark, word);
    return text;
}

// x = quarter pi / 2 + r, where r is exact but for two roundings: each fma takes away a part of pi / 2 that
// is as long as the type, and the first leaves nothing to round. sine and cosine are those of r.
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

/// Lanes that are `far` from what the formula is for.
constexpr std::string_view far_lanes = R"(    if (any(far)) {
        $S own[$n];
        vstore$n(x, 0, own);
        for (int k = 0; k < $n; ++k) own[k] = $f(own[k]);
        result = select(result, vload$n(0, own), far);
    }
    return result;
}
)";

// An odd quarter exchanges sine and cosine, the second and the third have the other sign.
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

// size^y, for what is f32 in the end. 0 and infinity come out as some number.
constexpr std::string_view power =
    R"(static inline $T balm_power_$T($T size, $T y) {
    // size = 2^e m, sqrt(1/2) <= m < sqrt(2); log m = 2 artanh s
    const $I bits = as_$I(size), e = (bits - 0x3fe6a09e667f3bcdL) >> 52;
    const $T m = as_$T(bits - (e << 52)), whole_e = as_$T(e + 0x4338000000000000L) - 0x1.8p52;
    const $T s = (m - 1) / (m + 1), w = s * s;
    const $T log = whole_e + s * $P(w; 2.8853900817778495, 0.96179669411416147, 0.57707794213688024, 0.4122092746487967, 0.31990480829921814, 0.28291256894137029);
    const $T z = fmin(fmax(y * log, -400.0), 400.0);
    const $T shifted = z + 0x1.8p52, f = z - (shifted - 0x1.8p52);
    const $T power = $P(f; 1.0, 0.69314720646777683, 0.24022651352831814, 0.055503272434427556, 0.0096180029735581686, 0.001340050255824598, 0.00015476571221810552);
    return as_$T(as_$I(power) + (as_$I(shifted) << 52));
}
)";
constexpr std::string_view pow_f32 =
    R"(static inline $T balm_pow_$T($T x, $T y) {
    $T result = convert_$T(balm_power_$D(convert_$D(fabs(x)), convert_$D(y)));
    const $I far = ~(fabs(x) <= FLT_MAX & fabs(y) <= FLT_MAX);
)";
// The logarithm has twice the digits, as far as y makes them visible: those of 2 s and 2/3 s^3 are kept in
// pairs, the rest of the series is 2^-12 of them.
constexpr std::string_view pow_f64 =
    R"(static inline $T balm_pow_$T($T x, $T y) {
    // size = 2^e m, sqrt(1/2) <= m < sqrt(2)
    const $T size = fabs(x);
    const $I bits = as_$I(size), e = (bits - 0x3fe6a09e667f3bcdL) >> 52;
    const $T m = as_$T(bits - (e << 52)), whole_e = as_$T(e + 0x4338000000000000L) - 0x1.8p52;
    // log m = 2 artanh s = 2 s + 2/3 s^3 + s^5 (...)
    const $T d = m + 1, d_low = m - (d - 1), inverse = 1 / d;
    const $T s = (m - 1) * inverse, s_low = (fma(-s, d, m - 1) - s * d_low) * inverse;
    const $T w = s * s, w_low = fma(s, s, -w) + 2 * s * s_low;
    const $T cube = s * w, cube_low = fma(s, w, -cube) + s * w_low + s_low * w;
    const $T third = cube * 0x1.5555555555555p-1;
    const $T third_low = fma(cube, ($T)(0x1.5555555555555p-1), -third) + cube * 0x1.5555555555555p-55 +
                         cube_low * 0x1.5555555555555p-1;
    const $T rest = $P(w; 0.40000000000002256, 0.28571428570098423, 0.22222222520131829, 0.18181784348556182, 0.15386758200194925, 0.13256797186069422, 0.13196522585446599);
    const $T leading = 2 * s + third;
    const $T following = third - (leading - 2 * s) + (third_low + 2 * s_low + cube * w * rest);
    const $T natural = leading + following, natural_low = following - (natural - leading);
    // log2 size, and y times that
    const $T part = natural * 0x1.71547652b82fep+0;
    const $T part_low = fma(natural, ($T)(0x1.71547652b82fep+0), -part) + natural * 0x1.777d0ffda0d24p-56 +
                        natural_low * 0x1.71547652b82fep+0;
    const $T log = whole_e + part, log_low = part - (log - whole_e) + part_low;
    const $T z = y * log, z_low = fma(y, log, -z) + y * log_low;
    // 2^z
    const $T shifted = z + 0x1.8p52, f = z - (shifted - 0x1.8p52) + z_low;
    const $T power = $P(f; 1.0, 0.69314718055994529, 0.24022650695910133, 0.055504108664821743, 0.0096181291075928335, 0.0013333558146378368, 0.0001540353045878534, 1.5252733868198228e-5, 1.3215434432784965e-6, 1.0178046185001599e-7, 7.0739309719980806e-9, 4.457428980734521e-10);
    $T result = as_$T(as_$I(power) + (as_$I(shifted) << 52));
    const $I is_usual = size >= DBL_MIN & size <= DBL_MAX & z > -1021 & z < 1023;
    const $I far = ~(is_usual | (size == 0 & fabs(y) <= DBL_MAX));
)";
// Zeros, and signs: a negative base has powers of whole numbers alone.
constexpr std::string_view pow_signs =
    R"(    result = select(result, select(($T)0, ($T)INFINITY, y < 0), x == 0);
    result = select(result, ($T)1, y == 0);
    const $I is_whole = rint(y) == y, is_odd = is_whole & rint(y / 2) != y / 2;
    result = as_$T(as_$I(result) ^ (as_$I(x) & is_odd & ($I)1 << $sign));
    result = select(result, ($T)NAN, x < 0 & ~is_whole);
    if (any(far)) {
        $S own[$n], powers[$n];
        vstore$n(x, 0, own);
        vstore$n(y, 0, powers);
        for (int k = 0; k < $n; ++k) own[k] = pow(own[k], powers[k]);
        result = select(result, vload$n(0, own), far);
    }
    return result;
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
        default: return "sin";
    }
}

}  // namespace

std::string vector_function(program_parts& parts, builtin what, ir::type vector) {
    const bool is_f32 = vector.element == scalar::f32;
    const std::string_view function = name_of(what);
    std::string text;
    if (function == "pow") {
        const ir::type wide(scalar::f64, vector.lanes);
        parts.uses_f64 = true;
        if (is_f32) parts.use({filled("balm_power_$T", wide, {}), filled(power, wide, {})});
        for (const std::string_view part : {is_f32 ? pow_f32 : pow_f64, pow_signs}) text += part;
    } else {
        parts.use({filled("balm_turn_$T", vector, {}), filled(is_f32 ? turn_f32 : turn_f64, vector, {})});
        text += circular;
        if (function == "cos") text += cosine;
        text += function == "tan" ? tangent : sine;
        text += far_lanes;
    }
    return parts.use({filled("balm_$f_$T", vector, function), filled(text, vector, function)});
}

}  // namespace balm::emit
