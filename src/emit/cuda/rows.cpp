// The rows that CUDA spells by the type of their operands.

#include "emit/cuda/rows.hpp"

#include <fmt/format.h>

#include <optional>

#include "emit/builtin_spelling.hpp"

namespace balm::emit::cuda {

namespace {

/// CUDA's spellings of integer built-ins, by type: i32, u32, i64, u64.
struct integer_row {
    builtin what;
    std::string_view patterns[4];
};
constexpr integer_row integer_rows[] = {
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

/// CUDA's conversions with a rounding mode: __ll2float_rz; a cast if every value is exactly representable.
builtin_spelling spell_rounding(const dialect& d, std::string_view name, scalar from, scalar to) {
    const bool is_exact = from == to || (to == scalar::f64 && size_of(from) <= 4) || size_of(from) <= 2;
    if (is_exact) return {fmt::format("({})($0)", type_name(d, to)), true, {}};
    constexpr std::string_view modes[] = {"z", "u", "d"};
    const std::string_view mode = modes[name.back() == 'z' ? 0 : name.back() == 'p' ? 1 : 2];
    return {fmt::format("__{}2{}_r{}($0)", conversion_word(from), conversion_word(to), mode), true, {}};
}

/// CUDA's reinterpretations of bits.
builtin_spelling spell_bits(const dialect& d, scalar from, scalar to) {
    const std::string T = type_name(d, to);
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

std::optional<builtin_spelling> spell_by_type(const dialect& d, builtin what, scalar type) {
    using balm::detail::rule;
    const ir::builtin_info& info = ir::info(what);
    if (info.takes == rule::to_f32) return spell_rounding(d, info.name, type, scalar::f32);
    if (info.takes == rule::to_f64) return spell_rounding(d, info.name, type, scalar::f64);
    if (info.takes >= rule::bits_i32) return spell_bits(d, type, balm::detail::reinterpreted(info.takes));
    if (!is_integer(type) || size_of(type) < 4) return {};
    const int column = static_cast<int>(type) - static_cast<int>(scalar::i32);
    for (const integer_row& each : integer_rows)
        if (each.what == what) return {{std::string(each.patterns[column]), true, {}}};
    return {};
}

}  // namespace

builtin_spelling row(const dialect& d, builtin what, scalar type) {
    const char* suffix = type == scalar::f32 ? "f" : "";
    if (what == builtin::abs && is_integer(type) && is_signed(type))
        return {type == scalar::i64   ? "llabs($0)"
                : type == scalar::i32 ? "abs($0)"
                                      : fmt::format("({})abs($0)", type_name(d, type)),
                true,
                {}};
    if (is_named_by_kind(what)) return spell_by_kind(what, type, suffix);
    const std::string_view given = ir::info(what).cuda;
    if (is_helper(given))
        if (std::optional<builtin_spelling> own = spell_by_type(d, what, type)) return *std::move(own);
    return spell_given(d, given, what, type, suffix);
}

}  // namespace balm::emit::cuda
