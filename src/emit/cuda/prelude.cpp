// Assembles the prelude. Elementary functions come from the rows of builtins.def in their CUDA spelling, so
// that traced kernels and texts share them; the parts that are the same for every text are in
// prelude_text.cpp.

#include "emit/cuda/prelude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "emit/builtin_spelling.hpp"
#include "emit/cuda/prelude_text.hpp"
#include "ir/ir.hpp"
#include "text/rewriter.hpp"

namespace balm::emit::cuda {

namespace {

/// Built-ins that return a second result through a pointer: both results, by rows of builtins.def.
struct pointer_row {
    std::string_view name;
    int arity;
    std::string_view second_type;  ///< $T or int
    std::string_view first, second;
    std::string_view rows[2];  ///< the rows that they need
};
constexpr pointer_row pointer_rows[] = {
    {"fract", 1, "$T", "::balm_fract_(a)", "::floor(a)", {"fract", ""}},
    {"modf", 1, "$T", "::balm_modf_fraction_(a)", "::trunc(a)", {"modf_fraction", ""}},
    {"frexp",
     1,
     "int",
     "::balm_frexp_mantissa_(a)",
     "::balm_frexp_exponent_(a)",
     {"frexp_mantissa", "frexp_exponent"}},
    {"sincos", 1, "$T", "::balm_sin_(a)", "::balm_cos_(a)", {"sin", "cos"}},
    {"lgamma_r", 1, "int", "::balm_lgamma_(a)", "::balm_lgamma_sign_(a)", {"lgamma", "lgamma_sign"}},
    {"remquo",
     2,
     "int",
     "::balm_remainder_(a, b)",
     "::balm_remquo_quotient_(a, b)",
     {"remainder", "remquo_quotient"}},
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// Prints the rows of builtins.def that a text may call by name: on floats and doubles, scalar and vector.
class row_printer {
public:
    explicit row_printer(const std::set<std::string>& words) : words_(words) {
        for (const pointer_row& row : pointer_rows)
            if (words.count(std::string(row.name))) needed_.insert(std::begin(row.rows), std::end(row.rows));
    }

    void run() {
        for (std::size_t k = 0; k < ir::builtin_count; ++k) {
            const auto what = static_cast<builtin>(k);
            const ir::builtin_info& row = ir::info(what);
            const bool is_needed = needed_.count(row.name) > 0;
            if (row.symbol || (!is_needed && !words_.count(row.name))) continue;
            if (!is_taken(row.takes)) continue;
            const bool is_test = row.takes == detail::rule::predicate;
            const bool is_exponent = row.takes == detail::rule::exponent;
            const bool is_part = std::find(std::begin(parts), std::end(parts), row.name) != std::end(parts);
            for (const scalar type : {scalar::f32, scalar::f64}) {
                if (type == scalar::f64 && row.takes == detail::rule::single) continue;
                const std::string T = type == scalar::f32 ? "float" : "double";
                print(what, row, type, is_test || is_exponent ? "int" : T, T, !is_part);
            }
            if (is_part) continue;
            if (row.takes == detail::rule::scale)
                lifted += fmt::format("BALM_LIFT_SCALE({})\n", row.name);
            else
                lifted +=
                    fmt::format("{}_{}({})\n", is_test ? "BALM_LIFT_TEST" : "BALM_LIFT", row.arity, row.name);
        }
    }

    std::string ahead;   ///< in the global namespace: the spelling of each row
    std::string lifted;  ///< in the prelude's namespace

private:
    static bool is_taken(detail::rule r) {
        using detail::rule;
        return r == rule::floating || r == rule::single || r == rule::predicate || r == rule::exponent ||
               r == rule::scale;
    }
    /// Rows that are one of the two results of a built-in, and not functions of OpenCL C.
    static constexpr std::string_view parts[] = {"frexp_exponent", "frexp_mantissa", "lgamma_sign",
                                                 "modf_fraction", "remquo_quotient"};

    void print(builtin what, const ir::builtin_info& row, scalar type, const std::string& result,
               const std::string& T, bool is_public) {
        const dialect& cuda = dialect_of(runtime::dialect::cuda_cpp);
        const builtin_spelling spelt = cuda.row(cuda, what, type);
        for (const helper_function& h : spelt.helpers)
            if (helpers_.insert(h.name).second) ahead += h.text;
        std::string parameters, arguments, pattern = spelt.pattern;
        for (int k = 0; k < row.arity; ++k) {
            const bool is_count = row.takes == detail::rule::scale && k == 1;
            const std::string name(1, static_cast<char>('a' + k));
            parameters += fmt::format("{}{} {}", k ? ", " : "", is_count ? "int" : T, name);
            arguments += (k ? ", " : "") + name;
            pattern = replaced(pattern, "$" + std::to_string(k), name);
        }
        ahead += fmt::format("static __device__ inline {} balm_{}_({}) {{ return {}; }}\n", result, row.name,
                             parameters, pattern);
        if (!is_public) return;
        lifted += fmt::format("inline {} {}({}) {{ return ::balm_{}_({}); }}\n", result, row.name, parameters,
                              row.name, arguments);
    }

    const std::set<std::string>& words_;
    std::set<std::string, std::less<>> needed_;
    std::set<std::string> helpers_;
};

/// `$T f($T a, U* second)` for floats and doubles, and for vectors of them.
std::string pointer_function(const pointer_row& row) {
    std::string text;
    for (const char* type : {"float", "double"}) {
        const bool two = row.arity == 2;
        const std::string vector =
            fmt::format("const balm_vec<$T, N>& a{}", two ? ", const balm_vec<$T, N>& b" : "");
        text += replaced(
            fmt::format(
                "inline $T {0}($T a{1}, {2}* second) {{\n    *second = {3};\n    return {4};\n}}\n"
                "template <int N> inline balm_vec<$T, N> {0}({5}, balm_vec<{2}, N>* second) {{\n"
                "    balm_vec<$T, N> r(0);\n"
                "    for (int k = 0; k < N; ++k) r.balm_e[k] = {0}(a.balm_e[k]{6}, &second->balm_e[k]);\n"
                "    return r;\n}}\n",
                row.name, two ? ", $T b" : "", row.second_type, row.second, row.first, vector,
                two ? ", b.balm_e[k]" : ""),
            "$T", type);
    }
    return text;
}

}  // namespace

std::string prelude(const std::set<std::string>& words, int dimensions, bool has_offset) {
    row_printer rows(words);
    rows.run();
    std::string text = fmt::format("#line 1 \"{}\"\n{}", prelude_file, rows.ahead);
    text += fmt::format("\nnamespace {} {{\n", opencl_c::prelude_namespace);
    text += fmt::format("constexpr unsigned int balm_work_dim = {};\n", dimensions);
    text += prelude_text::scalars;
    text += prelude_text::vectors;
    text += prelude_text::conversions;
    text += has_offset ? "__shared__ size_t balm_starts[3];  // set by the entry point\n"
                         "inline size_t balm_start(int d) { return balm_starts[d]; }\n"
                       : "inline size_t balm_start(int) { return 0; }\n";
    text += prelude_text::work_items;
    text += prelude_text::integers;
    text += prelude_text::common;
    text += prelude_text::atomics;
    text += "\n" + rows.lifted;
    for (const pointer_row& row : pointer_rows)
        if (words.count(std::string(row.name))) text += pointer_function(row);
    return text;
}

}  // namespace balm::emit::cuda
