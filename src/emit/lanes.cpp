// Lane-wise helper functions. OpenCL C's truth values in lanes are chars, 0 or -1; CUDA's are bools.

#include "emit/lanes.hpp"

#include <fmt/format.h>

#include "emit/builtin_spelling.hpp"
#include "emit/elementary_functions.hpp"
#include "emit/literal.hpp"
#include "emit/ptx.hpp"

namespace balm::emit {

namespace {

constexpr const char* letters[] = {"a", "b", "c"};

std::string head(program_parts& parts, const std::string& name, ir::type result,
                 std::span<const ir::type> parameters) {
    std::string list;
    for (std::size_t k = 0; k < parameters.size(); ++k)
        list += fmt::format("{}{} {}", k ? ", " : "", type_name(parts, parameters[k]), letters[k]);
    return fmt::format("{}{} {}({})", parts.language.say.helper, type_name(parts, result), name, list);
}

/// A vector of these scalars.
std::string composed(program_parts& parts, ir::type t, const std::string& list) {
    const std::string name = type_name(parts, t);
    if (!parts.language.has.has_vectors) return fmt::format("{}({})", name, list);
    return fmt::format("{}({})({})", t.element == scalar::boolean ? "-" : "", name, list);
}

/// A function that computes a vector lane by lane; `name` is printed, `key` identifies it.
template <class Lane>
std::string lane_wise(program_parts& parts, const std::string& key, const std::string& name, ir::type result,
                      std::span<const ir::type> parameters, Lane&& lane) {
    std::string list;
    for (int k = 0; k < result.lanes; ++k) {
        std::vector<std::string> operands;
        for (std::size_t p = 0; p < parameters.size(); ++p)
            operands.push_back(std::string(letters[p]) + "." + lane_name(parameters[p].lanes, k));
        list += (k ? ", " : "") + lane(operands);
    }
    const std::string text = fmt::format("{} {{\n    return {};\n}}\n", head(parts, name, result, parameters),
                                         composed(parts, result, list));
    parts.use({key, text});
    return name;
}
template <class Lane>
std::string lane_wise(program_parts& parts, const std::string& name, ir::type result,
                      std::span<const ir::type> parameters, Lane&& lane) {
    return lane_wise(parts, name, name, result, parameters, lane);
}

std::string converted(program_parts& parts, scalar to, scalar from, const std::string& value) {
    if (to == scalar::boolean)
        return value + (!is_floating(from) ? " != 0" : from == scalar::f32 ? " != 0.0f" : " != 0.0");
    if (is_floating(from) && is_integer(to))
        return parts.use(saturating_conversion(parts.language, from, to)) + "(" + value + ")";
    if (parts.language.has.has_ptx && ptx::hides_arithmetic(from, to))
        return parts.use(ptx::truncation(parts.language, from, to)) + "(" + value + ")";
    if (from == scalar::boolean && parts.language.has.has_vectors)
        return fmt::format("({})({} & 1)", type_name(parts.language, to), value);
    return fmt::format("({}){}", type_name(parts.language, to), value);
}

}  // namespace

std::string lane_name(int lanes, int k) {
    return lanes <= 4 ? std::string(1, "xyzw"[k]) : std::string("s") + "0123456789abcdef"[k];
}

std::string lane_names(int lanes, std::uint64_t order, int count) {
    std::string names = lanes <= 4 ? "" : "s";
    for (int k = 0; k < count; ++k) names += lane_name(lanes, static_cast<int>(order >> 4 * k & 15)).back();
    return names;
}

std::string scalar_row(program_parts& parts, builtin what, scalar type, const std::vector<std::string>& x) {
    const ir::builtin_info& row = ir::info(what);
    const bool divides = (what == builtin::div || what == builtin::rem) && !is_floating(type);
    if (divides)
        return fmt::format("{}({}, {})", parts.use(guarded_division(parts.language, what, type)), x[0], x[1]);
    if (parts.language.has.has_ptx)
        if (const auto hidden = ptx::hidden_arithmetic(parts.language, what, type))
            return fmt::format("{}({})", parts.use(*hidden), joined(x));
    if (row.symbol && row.arity == 1) return row.symbol + x[0];
    if (row.takes == detail::rule::shift && !parts.language.has.masks_shift_counts)
        return fmt::format("{} {} ({} & {})", x[0], row.symbol, x[1], 8 * size_of(type) - 1);
    if (row.symbol) return fmt::format("{} {} {}", x[0], row.symbol, x[1]);
    const builtin_spelling s = spell(parts, what, type);
    for (const helper_function& h : s.helpers) parts.use(h);
    return substitute(s.pattern, x);
}

std::string lane_wise_row(program_parts& parts, builtin what, ir::type result,
                          std::span<const ir::type> operands) {
    const ir::builtin_info& row = ir::info(what);
    const std::string key = fmt::format("balm_{}_{}", row.name, type_word(operands.front()));
    const bool is_operator = row.symbol && !parts.language.has.has_vectors;
    return lane_wise(
        parts, key, is_operator ? std::string("operator") + row.symbol : key, result, operands,
        [&](const std::vector<std::string>& x) { return scalar_row(parts, what, operands[0].element, x); });
}

std::string lane_wise_conversion(program_parts& parts, ir::type to, ir::type from) {
    const std::string name = fmt::format("balm_{}_to_{}", type_word(from), type_word(to));
    return lane_wise(parts, name, to, {&from, 1}, [&](const std::vector<std::string>& x) {
        return converted(parts, to.element, from.element, x[0]);
    });
}

std::string lane_wise_select(program_parts& parts, ir::type result) {
    const ir::type operands[] = {ir::type(scalar::boolean, result.lanes), result, result};
    return lane_wise(
        parts, "balm_select_" + type_word(result), result, operands,
        [](const std::vector<std::string>& x) { return fmt::format("{} ? {} : {}", x[0], x[1], x[2]); });
}

std::string half_conversion(program_parts& parts, ir::type to, ir::type from) {
    const bool loads = to.element == scalar::f32;
    std::string name = loads ? "balm_f16_to_f32" : "balm_f32_to_f16";
    const ir::type wide(scalar::f32), bits(scalar::u16);
    const std::string_view body = loads ? parts.language.say.half_to_f32 : parts.language.say.f32_to_half;
    const ir::type& parameter = loads ? bits : wide;
    parts.use({name, fmt::format("{} {{\n    {}\n}}\n",
                                 head(parts, name, loads ? wide : bits, {&parameter, 1}), body)});
    if (to.lanes == 1) return name;
    return lane_wise(parts, fmt::format("{}x{}", name, to.lanes), to, {&from, 1},
                     [&](const std::vector<std::string>& x) { return name + "(" + x[0] + ")"; });
}

std::string swizzle_function(program_parts& parts, ir::type vector, std::uint64_t order, int count) {
    const std::string name =
        fmt::format("balm_{}_{}", lane_names(vector.lanes, order, count), type_word(vector));
    const ir::type result(vector.element, static_cast<std::uint8_t>(count));
    std::string list;
    for (int k = 0; k < count; ++k)
        list += fmt::format("{}a.{}", k ? ", " : "",
                            lane_name(vector.lanes, static_cast<int>(order >> 4 * k & 15)));
    return parts.use(
        {name, fmt::format("{} {{\n    return {};\n}}\n", head(parts, name, result, {&vector, 1}),
                           composed(parts, result, list))});
}

std::string insert_function(program_parts& parts, ir::type vector, std::uint64_t order, ir::type lanes) {
    const std::string name =
        fmt::format("balm_set_{}_{}", lane_names(vector.lanes, order, lanes.lanes), type_word(vector));
    const ir::type parameters[] = {vector, lanes};
    const bool negates =
        parts.language.has.has_vectors && vector.element == scalar::boolean && lanes.lanes == 1;
    std::string body;
    for (int k = 0; k < lanes.lanes; ++k)
        body +=
            fmt::format("    a.{} = {}b{};\n", lane_name(vector.lanes, static_cast<int>(order >> 4 * k & 15)),
                        negates ? "-" : "", lanes.lanes > 1 ? "." + lane_name(lanes.lanes, k) : "");
    return parts.use(
        {name, fmt::format("{} {{\n{}    return a;\n}}\n", head(parts, name, vector, parameters), body)});
}

}  // namespace balm::emit
