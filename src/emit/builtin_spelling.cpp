// The tables behind spell(). A helper is written once with $T for its type and $name for itself; where the
// dialects differ, a row says for which it holds.

#include "emit/builtin_spelling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "balm/error.hpp"

namespace balm::emit {

namespace {

using runtime::dialect;

/// The body of a helper function, by the kinds of type it serves.
struct helper_row {
    std::string_view name;
    std::string_view parameters;  ///< $T is the type
    std::string_view f32;         ///< body for float; empty: none
    std::string_view f64;
    /// Body for all integers: $U is the unsigned type, $W and $V the signed-like-$T and the unsigned type of
    /// twice the width, $bits the width.
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

// Accuracy: a division or product by pi adds half a unit in the last place to functions of at most 2 (CUDA
// C++ Programming Guide, mathematical functions), which keeps OpenCL's bounds. f32 powers go through f64.
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
    // By the recurrence, where the result is near the smallest numbers: PoCL 3.1 goes by way of larger ones.
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
    // Balm fixes what C leaves open: the exponent 0 for infinities and NaN.
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

/// CUDA's spellings of integer built-ins, by type: i32, u32, i64, u64.
struct integer_row {
    builtin what;
    std::string_view patterns[4];
};
constexpr integer_row cuda_integers[] = {
    {builtin::mad_hi,
     {"(int)((unsigned int)__mulhi($0, $1) + (unsigned int)($2))", "(__umulhi($0, $1) + ($2))",
      "(long long)((unsigned long long)__mul64hi($0, $1) + (unsigned long long)($2))",
      "(__umul64hi($0, $1) + ($2))"}},
    {builtin::mul24, {"__mul24($0, $1)", "__umul24($0, $1)", "", ""}},
    {builtin::mad24,
     {"(int)((unsigned int)__mul24($0, $1) + (unsigned int)($2))", "(__umul24($0, $1) + ($2))", "", ""}},
    {builtin::nan,
     {"", "__int_as_float((int)(0x7fc00000u | (($0) & 0x3fffffu)))", "",
      "__longlong_as_double((long long)(0x7ff8000000000000ull | (($0) & 0x7ffffffffffffull)))"}},
    {builtin::popcount,
     {"__popc($0)", "(unsigned int)__popc($0)", "(long long)__popcll($0)",
      "(unsigned long long)__popcll($0)"}},
    {builtin::clz,
     {"__clz($0)", "(unsigned int)__clz((int)($0))", "(long long)__clzll($0)",
      "(unsigned long long)__clzll((long long)($0))"}},
    {builtin::mul_hi, {"__mulhi($0, $1)", "__umulhi($0, $1)", "__mul64hi($0, $1)", "__umul64hi($0, $1)"}},
};

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

using balm::detail::doubled;
using balm::detail::unsigned_of;

/// The ends of an integer type's range as literals: the largest, and the smallest.
std::string largest(dialect d, scalar type) {
    const std::size_t bits = 8 * size_of(type);
    const std::uint64_t value = ~std::uint64_t{0} >> (64 - bits + (is_signed(type) ? 1 : 0));
    const char* wide = bits < 64 ? "" : d == dialect::cuda_cpp ? "LL" : "L";
    return fmt::format("{}{}{}", value, is_signed(type) ? "" : "u", wide);
}
std::string smallest(dialect d, scalar type) {
    return is_signed(type) ? fmt::format("(-{} - 1)", largest(d, type)) : "0";
}

std::string suffixed(std::string_view name, scalar type) { return std::string(name) + "_" + to_string(type); }

helper_function from_table(dialect d, std::string_view name, scalar type) {
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

/// a + b or a - b that stays at the ends of the range.
helper_function saturated(dialect d, builtin what, scalar type) {
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
        // Overflow: the operands' signs (for a difference: differ, and) the result's sign differs from a's.
        const char* overflow = adds ? "(~(a ^ b) & (a ^ r)) < 0" : "((a ^ b) & (a ^ r)) < 0";
        body = fmt::format(
            "const {0} r = ({0})(({1})a {2} ({1})b);\n    return {3} ? ({0})((({1})a >> {4}) + (~({1})0 >> "
            "1)) : r;",
            T, U, adds ? "+" : "-", overflow, 8 * size_of(type) - 1);
    }
    return make_helper(d, name, T, fmt::format("{0} a, {0} b", T), body);
}

/// a * b + c that stays at the ends of the range: in twice the width, of which `high` is the upper half where
/// there is no such type.
helper_function saturated_mad(dialect d, scalar type) {
    const std::string T = type_name(d, type), U = type_name(d, unsigned_of(type));
    const std::string low = smallest(d, type), high = largest(d, type);
    std::string body;
    if (size_of(type) < 8) {
        const std::string sum =
            fmt::format("const {0} sum = ({0})a * b + c;\n    return ", type_name(d, doubled(type)));
        const std::string below = is_signed(type) ? fmt::format("sum < {0} ? {0} : ", low) : "";
        body = sum + below + fmt::format("sum > {0} ? {0} : ({1})sum;", high, T);
    } else {
        const bool opencl = d == dialect::opencl_c;
        body = fmt::format("const {0} low = ({0})a * ({0})b, sum = low + ({0})c;\n    ", U);
        body += is_signed(type) ? fmt::format(
                                      "const {0} high = {3}(a, b) + (c >> 63) + (sum < low);\n"
                                      "    if (high == ({0})sum >> 63) return ({0})sum;\n"
                                      "    return high < 0 ? {1} : {2};",
                                      T, low, high, opencl ? "mul_hi" : "__mul64hi")
                                : fmt::format("return {}(a, b) + (sum < low) ? {} : sum;",
                                              opencl ? "mul_hi" : "__umul64hi", high);
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

/// abs, min, max, clamp: each dialect names them by kind of type.
builtin_spelling spell_by_kind(dialect d, builtin what, scalar type) {
    const bool cuda_f32 = d == dialect::cuda_cpp && type == scalar::f32;
    const char* name = ir::info(what).name;
    if (what == builtin::clamp) {
        const std::string_view pattern = !is_floating(type) ? "min(max($0, $1), $2)"
                                         : cuda_f32         ? "fminf(fmaxf($0, $1), $2)"
                                                            : "fmin(fmax($0, $1), $2)";
        return {std::string(pattern), true, {}};
    }
    if (is_floating(type)) {
        const std::string own = std::string(what == builtin::abs   ? "fabs"
                                            : what == builtin::min ? "fmin"
                                                                   : "fmax");
        return {call_pattern(own + (cuda_f32 ? "f" : ""), ir::info(what).arity), true, {}};
    }
    if (what != builtin::abs) return {call_pattern(name, 2), true, {}};
    if (!is_signed(type)) return {"$0", false, {}};
    if (d == dialect::cuda_cpp) return {type == scalar::i64 ? "llabs($0)" : "abs($0)", true, {}};
    return {fmt::format("({})abs($0)", type_name(d, type)), true, {}};
}

/// CUDA's word for a type in the names of its conversions.
std::string_view conversion_word(scalar s) {
    switch (s) {
        case scalar::i32: return "int";
        case scalar::u32: return "uint";
        case scalar::i64: return "ll";
        case scalar::u64: return "ull";
        case scalar::f32: return "float";
        default: return "double";
    }
}

/// CUDA's convert_float_rtz and its kin: __ll2float_rz; a cast where every value has its own.
builtin_spelling spell_rounding(std::string_view name, scalar from, scalar to) {
    const bool is_exact = from == to || (to == scalar::f64 && size_of(from) <= 4) || size_of(from) <= 2;
    if (is_exact) return {fmt::format("({})($0)", type_name(dialect::cuda_cpp, to)), true, {}};
    constexpr std::string_view modes[] = {"z", "u", "d"};
    const std::string_view mode = modes[name.back() == 'z' ? 0 : name.back() == 'p' ? 1 : 2];
    return {fmt::format("__{}2{}_r{}($0)", conversion_word(from), conversion_word(to), mode), true, {}};
}

/// CUDA's as_int and its kin.
builtin_spelling spell_bits(scalar from, scalar to) {
    const std::string T = type_name(dialect::cuda_cpp, to);
    if (from == to) return {"$0", false, {}};
    if (!is_floating(from) && !is_floating(to)) return {fmt::format("({})($0)", T), true, {}};
    if (to == scalar::f32)
        return {from == scalar::i32 ? "__int_as_float($0)" : "__uint_as_float($0)", true, {}};
    if (to == scalar::f64)
        return {from == scalar::i64 ? "__longlong_as_double($0)" : "__longlong_as_double((long long)($0))",
                true,
                {}};
    if (to == scalar::i32) return {"__float_as_int($0)", true, {}};
    if (to == scalar::u32) return {"__float_as_uint($0)", true, {}};
    if (to == scalar::i64) return {"__double_as_longlong($0)", true, {}};
    return {"(unsigned long long)__double_as_longlong($0)", true, {}};
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

std::string type_name(dialect d, scalar s, int lanes) {
    constexpr const char* opencl[] = {"void", "bool", "char", "uchar", "short", "ushort",
                                      "int",  "uint", "long", "ulong", "float", "double"};
    constexpr const char* cuda[] = {
        "void", "bool",         "signed char", "unsigned char",      "short", "unsigned short",
        "int",  "unsigned int", "long long",   "unsigned long long", "float", "double"};
    std::string name = (d == dialect::opencl_c ? opencl : cuda)[static_cast<std::size_t>(s)];
    if (lanes == 1) return name;
    return (s == scalar::boolean ? "char" : name) + std::to_string(lanes);
}

helper_function make_helper(dialect d, const std::string& name, const std::string& result,
                            const std::string& parameters, const std::string& body) {
    const char* qualifiers = d == dialect::cuda_cpp ? "static __device__ inline " : "inline ";
    // A plain `inline` function of C has no external definition; OpenCL C compilers want one or a static.
    const char* linkage = d == dialect::opencl_c ? "static " : "";
    return {name, fmt::format("{}{}{} {}({}) {{\n    {}\n}}\n", linkage, qualifiers, result, name, parameters,
                              body)};
}

builtin_spelling spell(dialect d, builtin what, scalar type) {
    const ir::builtin_info& row = ir::info(what);
    if (what == builtin::abs || what == builtin::min || what == builtin::max || what == builtin::clamp)
        return spell_by_kind(d, what, type);
    const std::string_view given = d == dialect::opencl_c ? row.opencl : row.cuda;
    if (given.empty()) {
        const bool suffix = d == dialect::cuda_cpp && type == scalar::f32;
        return {call_pattern(std::string(row.name) + (suffix ? "f" : ""), row.arity), true, {}};
    }
    if (given.back() != '!') return {std::string(given), is_one_call(given), {}};
    if (d == dialect::cuda_cpp) {
        using balm::detail::rule;
        if (row.takes == rule::to_f32) return spell_rounding(row.name, type, scalar::f32);
        if (row.takes == rule::to_f64) return spell_rounding(row.name, type, scalar::f64);
        if (row.takes >= rule::bits_i32) return spell_bits(type, balm::detail::reinterpreted(row.takes));
        if (is_integer(type) && size_of(type) >= 4)
            for (const integer_row& integers : cuda_integers)
                if (integers.what == what)
                    return {std::string(
                                integers.patterns[static_cast<int>(type) - static_cast<int>(scalar::i32)]),
                            true,
                            {}};
    }
    const bool is_saturated = what == builtin::add_sat || what == builtin::sub_sat;
    helper_function helper = is_saturated ? saturated(d, what, type)
                             : what == builtin::mad_sat
                                 ? saturated_mad(d, type)
                                 : from_table(d, given.substr(0, given.size() - 1), type);
    std::string pattern = call_pattern(helper.name, row.arity);
    return {std::move(pattern), true, {std::move(helper)}};
}

helper_function saturating_conversion(dialect d, scalar from, scalar to) {
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

helper_function guarded_division(dialect d, builtin what, scalar type) {
    const bool divides = what == builtin::div;
    const std::string T = type_name(d, type), U = type_name(d, unsigned_of(type));
    const char* by_zero = divides ? "0" : "a";
    const std::string by_minus_one = !is_signed(type) ? ""
                                     : divides        ? fmt::format("b == -1 ? ({})(0 - ({})a) : ", T, U)
                                                      : "b == -1 ? 0 : ";
    return make_helper(
        d, suffixed(divides ? "balm_div" : "balm_rem", type), T, fmt::format("{0} a, {0} b", T),
        fmt::format("return b == 0 ? {} : {}a {} b;", by_zero, by_minus_one, divides ? "/" : "%"));
}

// One instruction. nvcc 13.0 widens what the factors are made of to 64 bits, no longer sees that half of
// these are 0, and multiplies those, too: 20 instructions more in a block of Philox, of 104.
helper_function wide_product(dialect d) {
    const std::string U = type_name(d, scalar::u32), W = type_name(d, scalar::u64);
    return make_helper(
        d, "balm_mul_wide", W, fmt::format("{0} a, {0} b", U),
        fmt::format("{} product;\n"
                    "    asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(product) : \"r\"(a), \"r\"(b));\n"
                    "    return product;",
                    W));
}

// What nvcc 13.0 makes of sqrtf where its branch to subnormals, infinities and the like is not taken; without
// that branch 5 instructions are left of 13.
helper_function root_of_normal(dialect d) {
    const char* fma = d == dialect::cuda_cpp ? "fmaf" : "fma";
    return make_helper(
        d, "balm_root_of_normal", "float", "float x",
        fmt::format("float reciprocal;\n"
                    "    asm(\"rsqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(reciprocal) : \"f\"(x));\n"
                    "    const float root = x * reciprocal;\n"
                    "    return {0}({0}(-root, root, x), reciprocal * 0.5f, root);",
                    fma));
}

}  // namespace balm::emit
