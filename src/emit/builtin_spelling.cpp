// The tables behind spell(). A helper is written once for all types of a kind, with $T for its type.

#include "emit/builtin_spelling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "balm/error.hpp"
#include "emit/literal.hpp"
#include "emit/ptx.hpp"

namespace balm::emit {

namespace {

/// The body of a helper function, by the kinds of type it serves.
struct helper_row {
    std::string_view name;
    std::string_view parameters;  ///< $T is the type
    std::string_view f32;         ///< body for float; empty: none
    std::string_view f64;
    /// Body for all integers: $U is the unsigned type, $W the type of twice the width with the signedness of
    /// $T, $V its unsigned type, $bits the width of $T.
    std::string_view integer;
    std::string_view result = "$T";
};

// Exact in any dialect and at any width, so f32 and f64 share the text.
constexpr std::string_view lgamma_sign_body =
    "const $T below = floor(x), middle = below / 2;\n"
    "    return x == 0 ? (1 / x < 0 ? -1 : 1) : x < 0 && below != x && floor(middle) != middle ? -1 : 1;";
constexpr std::string_view smoothstep_body =
    "const $T t = fmin(fmax((x - low) / (high - low), ($T)0), ($T)1);\n"
    "    return t * t * (3 - 2 * t);";
// The remainder of x by 128 y holds the seven bits; each subtraction is exact (Sterbenz).
constexpr std::string_view remquo_quotient_body =
    "const $T size = fabs(y);\n"
    "    if (x - x != 0 || !(size > 0)) return 0;\n"
    "    $T rest = fmod(fabs(x), 128 * size);\n"
    "    int quotient = 0;\n"
    "    for (int bit = 64; bit > 0; bit /= 2) {\n"
    "        if (!(rest >= bit * size)) continue;\n"
    "        rest -= bit * size;\n"
    "        quotient += bit;\n"
    "    }\n"
    "    if (rest > size - rest || (rest == size - rest && quotient % 2 == 1)) quotient = (quotient + 1) % "
    "128;\n"
    "    return (x < 0) == (y < 0) ? quotient : -quotient;";

// Accuracy: a multiplication by 1 / pi adds half a unit in the last place to functions of at most 2 (CUDA C++
// Programming Guide, mathematical functions), which meets OpenCL's bounds. f32 powers are computed in f64.
constexpr helper_row helper_table[] = {
    {"balm_acospi", "$T x", "return acosf(x) * 0.31830988618379067f;",
     "return acos(x) * 0.31830988618379067;", ""},
    {"balm_asinpi", "$T x", "return asinf(x) * 0.31830988618379067f;",
     "return asin(x) * 0.31830988618379067;", ""},
    {"balm_atanpi", "$T x", "return atanf(x) * 0.31830988618379067f;",
     "return atan(x) * 0.31830988618379067;", ""},
    {"balm_atan2pi", "$T y, $T x", "return atan2f(y, x) * 0.31830988618379067f;",
     "return atan2(y, x) * 0.31830988618379067;", ""},
    {"balm_tanpi", "$T x", "return sinpif(x) / cospif(x);", "return sinpi(x) / cospi(x);", ""},
    {"balm_fract", "$T x",
     "return x == 0 || x != x ? x : fabs(x) > 3.4028234e38f ? copysign(0.0f, x) : fmin(x - floor(x), "
     "0.99999994f);",
     "return x == 0 || x != x ? x : fabs(x) > 1.7976931348623157e308 ? copysign(0.0, x) : fmin(x - floor(x), "
     "0.99999999999999989);",
     ""},
    {"balm_ilogb", "$T x",
     "return x == 0 ? -2147483647 - 1 : !(fabs(x) <= 3.4028234e38f) ? 2147483647 : ilogb(x);",
     "return x == 0 ? -2147483647 - 1 : !(fabs(x) <= 1.7976931348623157e308) ? 2147483647 : ilogb(x);", "",
     "int"},
    {"balm_isnormal", "$T x", "return fabsf(x) >= 1.17549435e-38f && fabsf(x) <= 3.4028234e38f;",
     "return fabs(x) >= 2.2250738585072014e-308 && fabs(x) <= 1.7976931348623157e308;", "", "bool"},
    {"balm_maxmag", "$T x, $T y", "return fabsf(x) > fabsf(y) ? x : fabsf(y) > fabsf(x) ? y : fmaxf(x, y);",
     "return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y);", ""},
    {"balm_minmag", "$T x, $T y", "return fabsf(x) < fabsf(y) ? x : fabsf(y) < fabsf(x) ? y : fminf(x, y);",
     "return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y);", ""},
    {"balm_pown", "$T x, int n", "return (float)pow((double)x, (double)n);", "return pow(x, (double)n);", ""},
    {"balm_powr", "$T x, $T y",
     "const bool undefined = x < 0 || y != y || (x == 0 && y == 0) || (x == 1 && fabsf(y) > 3.4028234e38f) "
     "||\n"
     "                           (x > 3.4028234e38f && y == 0);\n"
     "    return undefined || x != x ? __int_as_float(0x7fc00000) : powf(fabsf(x), y);",
     "const bool undefined = x < 0 || y != y || (x == 0 && y == 0) ||\n"
     "                           (x == 1 && fabs(y) > 1.7976931348623157e308) ||\n"
     "                           (x > 1.7976931348623157e308 && y == 0);\n"
     "    return undefined || x != x ? __longlong_as_double(0x7ff8000000000000LL) : pow(fabs(x), y);",
     ""},
    {"balm_rootn", "$T x, int n",
     "if (n == 0 || (x < 0 && n % 2 == 0)) return __int_as_float(0x7fc00000);\n"
     "    const float root = (float)pow(fabs((double)x), 1.0 / n);\n"
     "    return n % 2 == 0 ? root : copysignf(root, x);",
     "if (n == 0 || (x < 0 && n % 2 == 0)) return __longlong_as_double(0x7ff8000000000000LL);\n"
     "    const double a = fabs(x), exponent = 1.0 / n;\n"
     "    const double error = fma(-(double)n, exponent, 1.0) * exponent;  // of the rounded exponent\n"
     "    double root = pow(a, exponent);\n"
     "    if (error != 0 && a > 0 && a <= 1.7976931348623157e308) root = fma(root, log(a) * error, root);\n"
     "    return n % 2 == 0 ? root : copysign(root, x);",
     ""},
    // By the recurrence if the result is near the smallest numbers: PoCL 3.1 computes it from larger ones.
    {"balm_tgamma", "$T x",
     "if (!(x < -30.0f)) return tgamma(x);\n"
     "    const float low = x * (x + 1) * (x + 2) * (x + 3), high = (x + 4) * (x + 5) * (x + 6) * (x + 7);\n"
     "    return tgamma(x + 8) / high / low;",
     "if (!(x < -165.0)) return tgamma(x);\n"
     "    const double low = x * (x + 1) * (x + 2) * (x + 3), high = (x + 4) * (x + 5) * (x + 6) * (x + 7);\n"
     "    return tgamma(x + 8) / high / low;",
     ""},
    {"balm_degrees", "$T x", "return x * 57.29577951308232f;", "return x * 57.29577951308232;", ""},
    {"balm_radians", "$T x", "return x * 0.017453292519943295f;", "return x * 0.017453292519943295;", ""},
    {"balm_mix", "$T x, $T y, $T a", "return fma(y - x, a, x);", "return fma(y - x, a, x);", ""},
    {"balm_step", "$T edge, $T x", "return x < edge ? 0.0f : 1.0f;", "return x < edge ? 0.0 : 1.0;", ""},
    {"balm_smoothstep", "$T low, $T high, $T x", smoothstep_body, smoothstep_body, ""},
    {"balm_sign", "$T x", "return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f;",
     "return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? x : 0.0;", ""},
    {"balm_islessgreater", "$T x, $T y", "return x < y || x > y;", "return x < y || x > y;", "", "bool"},
    {"balm_isordered", "$T x, $T y", "return x == x && y == y;", "return x == x && y == y;", "", "bool"},
    {"balm_isunordered", "$T x, $T y", "return x != x || y != y;", "return x != x || y != y;", "", "bool"},
    // C leaves the exponent of infinities and NaN unspecified; Balm defines it as 0.
    {"balm_frexp_exponent", "$T x",
     "int exponent;\n    frexp(x, &exponent);\n    return x == 0 || x - x != 0 ? 0 : exponent;",
     "int exponent;\n    frexp(x, &exponent);\n    return x == 0 || x - x != 0 ? 0 : exponent;", "", "int"},
    {"balm_frexp_mantissa", "$T x", "int exponent;\n    return frexp(x, &exponent);",
     "int exponent;\n    return frexp(x, &exponent);", ""},
    {"balm_modf_fraction", "$T x", "return copysign(fabs(x) > 3.4028234e38f ? 0.0f : x - trunc(x), x);",
     "return copysign(fabs(x) > 1.7976931348623157e308 ? 0.0 : x - trunc(x), x);", ""},
    {"balm_remquo_quotient", "$T x, $T y", remquo_quotient_body, remquo_quotient_body, "", "int"},
    {"balm_lgamma_sign", "$T x", lgamma_sign_body, lgamma_sign_body, "", "int"},
    {"balm_bitselect", "$T a, $T b, $T c",
     "return __int_as_float((__float_as_int(a) & ~__float_as_int(c)) | (__float_as_int(b) & "
     "__float_as_int(c)));",
     "const long long mask = __double_as_longlong(c);\n"
     "    return __longlong_as_double((__double_as_longlong(a) & ~mask) | (__double_as_longlong(b) & mask));",
     "return (a & ~c) | (b & c);"},
    {"balm_popcount", "$T x", "", "", "return ($T)__popc(($U)x);"},
    {"balm_clz", "$T x", "", "", "return ($T)(__clz(($U)x) - (32 - $bits));"},
    {"balm_mul_hi", "$T a, $T b", "", "", "return ($T)(($W)a * ($W)b >> $bits);"},
    {"balm_mad_hi", "$T a, $T b, $T c", "", "", "return ($T)((($W)a * ($W)b >> $bits) + c);"},
    {"balm_abs_diff", "$T a, $T b", "", "", "return a > b ? ($U)a - ($U)b : ($U)b - ($U)a;", "$U"},
    {"balm_upsample", "$T high, $U low", "", "", "return ($W)((($V)high << $bits) | low);", "$W"},
    {"balm_rotate", "$T x, $T n", "", "",
     "return ($T)((($U)x << (n & ($bits - 1))) | (($U)x >> (($bits - (n & ($bits - 1))) & ($bits - 1))));"},
    {"balm_hadd", "$T a, $T b", "", "", "return (a & b) + ((a ^ b) >> 1);"},
    {"balm_rhadd", "$T a, $T b", "", "", "return (a | b) - ((a ^ b) >> 1);"},
};

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

using balm::detail::doubled;
using balm::detail::unsigned_of;

std::string suffixed(std::string_view name, scalar type) { return std::string(name) + "_" + to_string(type); }

helper_function from_table(const dialect& d, std::string_view name, scalar type) {
    for (const helper_row& row : helper_table) {
        if (row.name != name) continue;
        const std::string_view body = type == scalar::f32   ? row.f32
                                      : type == scalar::f64 ? row.f64
                                                            : row.integer;
        auto fill = [&](std::string_view text) {
            std::string filled = replace_all(std::string(text), "$T", type_name(d, type));
            if (!is_integer(type)) return filled;
            const scalar wide = size_of(type) < 8 ? doubled(type) : type;
            filled = replace_all(filled, "$U", type_name(d, unsigned_of(type)));
            filled = replace_all(filled, "$W", type_name(d, wide));
            filled = replace_all(filled, "$V", type_name(d, unsigned_of(wide)));
            return replace_all(filled, "$bits", std::to_string(8 * size_of(type)));
        };
        return make_helper(d, suffixed(name, type), fill(row.result), fill(row.parameters), fill(body));
    }
    throw error(fmt::format("internal: no helper function {}", name));
}

/// a + b or a - b, saturated to the range of the type.
helper_function saturated(const dialect& d, builtin what, scalar type) {
    const bool adds = what == builtin::add_sat;
    const std::string T = type_name(d, type), U = type_name(d, unsigned_of(type));
    const std::string name = suffixed(adds ? "balm_add_sat" : "balm_sub_sat", type);
    std::string body;
    if (size_of(type) < 4) {  // int holds the exact result
        body = fmt::format("const int r = (int)a {} (int)b;\n    return ({})(r < {} ? {} : r > {} ? {} : r);",
                           adds ? "+" : "-", T, smallest(d, type), smallest(d, type),
                           is_signed(type) ? largest(d, type) : "(int)" + largest(d, type), largest(d, type));
    } else if (!is_signed(type)) {
        body = adds ? fmt::format("return a + b < a ? ~({})0 : a + b;", T) : "return a < b ? 0 : a - b;";
    } else {
        // Overflow: operands of equal sign (for a difference: of opposite sign), and a result of another sign
        // than a.
        const char* overflow = adds ? "(~(a ^ b) & (a ^ r)) < 0" : "((a ^ b) & (a ^ r)) < 0";
        body = fmt::format(
            "const {0} r = ({0})(({1})a {2} ({1})b);\n    return {3} ? ({0})((({1})a >> {4}) + (~({1})0 >> "
            "1)) : r;",
            T, U, adds ? "+" : "-", overflow, 8 * size_of(type) - 1);
    }
    return make_helper(d, name, T, fmt::format("{0} a, {0} b", T), body);
}

/// a * b + c, saturated to the range of the type: computed in twice the width, with `high` as the upper half
/// if there is no such type.
helper_function saturated_mad(const dialect& d, scalar type) {
    const std::string T = type_name(d, type), U = type_name(d, unsigned_of(type));
    const std::string low = smallest(d, type), high = largest(d, type);
    std::string body;
    if (size_of(type) < 8) {
        const std::string sum =
            fmt::format("const {0} sum = ({0})a * b + c;\n    return ", type_name(d, doubled(type)));
        const std::string below = is_signed(type) ? fmt::format("sum < {0} ? {0} : ", low) : "";
        body = sum + below + fmt::format("sum > {0} ? {0} : ({1})sum;", high, T);
    } else {
        const std::string high_product = substitute(d.row(d, builtin::mul_hi, type).pattern, {"a", "b"});
        body = fmt::format("const {0} low = ({0})a * ({0})b, sum = low + ({0})c;\n    ", U);
        body += is_signed(type) ? fmt::format(
                                      "const {0} high = {3} + (c >> 63) + (sum < low);\n"
                                      "    if (high == ({0})sum >> 63) return ({0})sum;\n"
                                      "    return high < 0 ? {1} : {2};",
                                      T, low, high, high_product)
                                : fmt::format("return {} + (sum < low) ? {} : sum;", high_product, high);
    }
    return make_helper(d, suffixed("balm_mad_sat", type), T, fmt::format("{0} a, {0} b, {0} c", T), body);
}

std::string call_pattern(std::string_view name, int arity) {
    std::string pattern = std::string(name) + "(";
    for (int k = 0; k < arity; ++k) pattern += (k ? ", $" : "$") + std::to_string(k);
    return pattern + ")";
}

/// "f($0, g($1))", but neither "f($0) != 0" nor "($0 / $1)".
bool is_one_call(std::string_view pattern) {
    const std::size_t open = pattern.find_first_of("( ");
    if (open == 0 || open == std::string_view::npos || pattern[open] != '(') return false;
    int depth = 0;
    for (std::size_t k = open; k < pattern.size(); ++k) {
        depth += pattern[k] == '(' ? 1 : pattern[k] == ')' ? -1 : 0;
        if (depth == 0) return k + 1 == pattern.size();
    }
    return false;
}

}  // namespace

std::string substitute(std::string_view pattern, const std::vector<std::string>& operands) {
    std::string result;
    for (std::size_t k = 0; k < pattern.size(); ++k) {
        if (pattern[k] == '$' && k + 1 < pattern.size())
            result += operands[static_cast<std::size_t>(pattern[++k] - '0')];
        else
            result += pattern[k];
    }
    return result;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string list;
    for (const std::string& word : words) {
        if (&word != words.data()) list += separator;
        list += word;
    }
    return list;
}

bool is_named_by_kind(builtin what) {
    return what == builtin::abs || what == builtin::min || what == builtin::max || what == builtin::clamp;
}

builtin_spelling spell_by_kind(builtin what, scalar type, const std::string& suffix) {
    const bool floats = is_floating(type);
    const std::string end = floats ? suffix : "", f = floats ? "f" : "";
    if (what == builtin::clamp) return {fmt::format("{0}min{1}({0}max{1}($0, $1), $2)", f, end), true, {}};
    if (what == builtin::abs && !floats) return {"$0", false, {}};
    const std::string name = what == builtin::abs ? "abs" : what == builtin::min ? "min" : "max";
    return {call_pattern(f + name + end, ir::info(what).arity), true, {}};
}

bool is_helper(std::string_view given) { return !given.empty() && given.back() == '!'; }

builtin_spelling spell_given(const dialect& d, std::string_view given, builtin what, scalar type,
                             const std::string& suffix) {
    const ir::builtin_info& info = ir::info(what);
    if (given.empty()) return {call_pattern(info.name + suffix, info.arity), true, {}};
    if (!is_helper(given)) return {std::string(given), is_one_call(given), {}};
    const bool is_saturated = what == builtin::add_sat || what == builtin::sub_sat;
    helper_function helper = is_saturated ? saturated(d, what, type)
                             : what == builtin::mad_sat
                                 ? saturated_mad(d, type)
                                 : from_table(d, given.substr(0, given.size() - 1), type);
    std::string pattern = call_pattern(helper.name, info.arity);
    return {std::move(pattern), true, {std::move(helper)}};
}

helper_function saturating_conversion(const dialect& d, scalar from, scalar to) {
    if (d.has.has_ptx && size_of(to) >= 4) return ptx::saturating_conversion(d, from, to);
    const std::size_t bits = 8 * size_of(to);
    const std::string F = type_name(d, from), T = type_name(d, to);
    const char* f = from == scalar::f32 ? "f" : "";
    // 2^(bits - 1) or 2^bits is exact in both floating types; at or beyond it the value is out of range.
    const std::string beyond =
        fmt::format("{:.1f}{}", std::ldexp(1.0, static_cast<int>(is_signed(to) ? bits - 1 : bits)), f);
    const std::string top = largest(d, to), bottom = smallest(d, to);
    const std::string below = is_signed(to) ? fmt::format("-{}", beyond) : fmt::format("0.0{}", f);
    return make_helper(d, fmt::format("balm_{}_to_{}", to_string(from), to_string(to)), T, F + " x",
                       fmt::format("return x != x ? 0 : x <= {} ? {} : x >= {} ? {} : ({})x;", below, bottom,
                                   beyond, top, T));
}

helper_function guarded_division(const dialect& d, builtin what, scalar type) {
    const bool divides = what == builtin::div;
    const std::string T = type_name(d, type), U = type_name(d, unsigned_of(type));
    const char* by_zero = divides ? "0" : "a";
    std::string declared, negated = fmt::format("({})(0 - ({})a)", T, U);
    if (d.has.has_ptx && size_of(type) == 2 && divides && is_signed(type)) {  // as ptx::hidden_arithmetic
        declared = fmt::format(
            "{} negated;\n    asm(\"sub.u16 %0, 0, %1;\" : \"=h\"(negated) : \"h\"(a));\n    ", T);
        negated = "negated";
    }
    const std::string by_minus_one = !is_signed(type) ? ""
                                     : divides        ? fmt::format("b == -1 ? {} : ", negated)
                                                      : "b == -1 ? 0 : ";
    return make_helper(d, suffixed(divides ? "balm_div" : "balm_rem", type), T,
                       fmt::format("{0} a, {0} b", T),
                       fmt::format("{}return b == 0 ? {} : {}a {} b;", declared, by_zero, by_minus_one,
                                   divides ? "/" : "%"));
}

helper_function guarded_rint(const dialect& d, builtin what, scalar type) {
    const std::string T = type_name(d, type), rint = spell_given(d, "", what, type).pattern;
    const char* whole = type == scalar::f32 ? "8388608.0f" : "4503599627370496.0";  // larger ones are whole
    return make_helper(d, suffixed("balm_rint", type), T, T + " x",
                       fmt::format("return fabs(x) < {} ? {} : x;", whole, substitute(rint, {"x"})));
}

scalar word_of(scalar s) { return size_of(s) == 8 ? scalar::u64 : scalar::u32; }

std::string word_function(const dialect& d, scalar s) {
    if (!is_floating(s)) return "(" + type_name(d, word_of(s)) + ")";
    return std::string(s == scalar::f32 ? d.say.f32_to_word : d.say.f64_to_word);
}

std::string value_function(const dialect& d, scalar s) {
    if (!is_floating(s)) return "(" + type_name(d, s) + ")";
    return std::string(s == scalar::f32 ? d.say.word_to_f32 : d.say.word_to_f64);
}

}  // namespace balm::emit
