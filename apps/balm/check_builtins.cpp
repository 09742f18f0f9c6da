// Checks every row of builtins.def on a device, for every type that the row takes: one kernel per type
// computes all of its rows, and the host oracle decides which results are right.

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "balm/error.hpp"
#include "check.hpp"
#include "ir/ir.hpp"
#include "oracle.hpp"

namespace balm::tool {

namespace {

using balm::detail::rule;

/// The error allowed, in ulp. OpenCL 1.2, section 7.4: 2.5 for division and 3 for sqrt of f32 if they are not
/// correctly rounded.
int bound_for(builtin what, scalar type, const device_info& on) {
    if (type == scalar::f32 && !on.has_correctly_rounded_divide) {
        if (what == builtin::div || what == builtin::sqrt) return 3;
        if (what == builtin::smoothstep) return 8;  // a quotient's error counts twice in t * t * (3 - 2 * t)
    }
    return ir::info(what).ulp;
}

std::vector<check> run_rows(const device& on, std::span<const builtin> rows, const operands& given,
                            const settings& how) {
    column_kernel kernel(on, std::string("selftest_") + to_string(given.a.type), given.a.bits.size());
    const trace::node a = kernel.operand(given.a), b = kernel.operand(given.b), c = kernel.operand(given.c);
    const trace::node integer = kernel.operand(given.integer);
    for (builtin what : rows) {
        const trace::node list[] = {a, takes_integer(what) ? integer : b, c};
        kernel.result(trace::apply(what, list, ir::info(what).arity));
    }
    const std::vector<column> results = kernel.run();
    std::vector<check> outcomes;
    for (std::size_t k = 0; k < rows.size(); ++k)
        outcomes.push_back(compare_builtin(rows[k], results[k], given, on.info(), how));
    return outcomes;
}

/// Runs all rows of a type in one kernel; if that fails to build, each row in its own, to find the culprit.
std::vector<check> run_type(const device& on, const operands& given, const settings& how) {
    const std::vector<builtin> rows = rows_of(given.a.type, on.info());
    try {
        return run_rows(on, rows, given, how);
    } catch (const build_error&) {
        std::vector<check> outcomes;
        for (builtin what : rows) {
            try {
                outcomes.push_back(run_rows(on, {&what, 1}, given, how).front());
            } catch (const build_error& fault) {
                outcomes.push_back(new_check(what, given.a.type, on.info()));
                outcomes.back().fault = fault.what();
            }
        }
        return outcomes;
    }
}

}  // namespace

std::vector<scalar> types_of_builtins(const device_info& on, const settings& how) {
    if (how.is_quick) return {scalar::i32, scalar::f32};
    std::vector<scalar> types{scalar::boolean, scalar::i8,  scalar::u8,  scalar::i16, scalar::u16,
                              scalar::i32,     scalar::u32, scalar::i64, scalar::u64, scalar::f32};
    if (on.has_double) types.push_back(scalar::f64);
    return types;
}

bool takes_integer(builtin what) {
    const rule takes = ir::info(what).takes;
    return takes == rule::shift || takes == rule::scale;
}

std::vector<builtin> rows_of(scalar type, const device_info& on) {
    std::vector<builtin> rows;
    for (std::size_t k = 0; k < ir::builtin_count; ++k) {
        const auto what = static_cast<builtin>(k);
        const scalar given[] = {type, takes_integer(what) ? scalar::i32 : type, type};
        const auto resolved = balm::detail::resolve(what, given, ir::info(what).arity);
        if (resolved.result != scalar::nothing && resolved.first == type &&
            (resolved.result != scalar::f64 || on.has_double))
            rows.push_back(what);
    }
    return rows;
}

check new_check(builtin what, scalar type, const device_info& on) {
    check outcome;
    outcome.kind = "built-in";
    outcome.name = ir::info(what).name;
    outcome.type = to_string(type);
    outcome.bound = bound_for(what, type, on);
    return outcome;
}

check compare_builtin(builtin what, const column& got, const operands& given, const device_info& on,
                      const settings& how) {
    const scalar type = given.a.type;
    const auto arity = static_cast<std::size_t>(ir::info(what).arity);
    const column* const columns[] = {&given.a, takes_integer(what) ? &given.integer : &given.b, &given.c};
    check outcome = new_check(what, type, on);
    const auto inputs_at = [&](std::size_t k) {
        std::vector<std::string> inputs;
        for (std::size_t p = 0; p < arity; ++p)
            inputs.push_back(to_text(columns[p]->type, columns[p]->bits[k]));
        return inputs;
    };
    std::size_t worst = 0;
    for (std::size_t k = 0; k < got.bits.size(); ++k) {
        std::array<std::uint64_t, 3> bits{};
        for (std::size_t p = 0; p < arity; ++p) bits[p] = columns[p]->bits[k];
        const auto used = std::span<const std::uint64_t>(bits).first(arity);
        if (!oracle::is_specified(what, type, used)) continue;
        ++outcome.values;
        const auto expected = oracle::evaluate(what, type, used);
        const double ulp =
            is_floating(got.type) ? oracle::ulp_error(got.type, got.bits[k], expected.wide) : 0;
        if (ulp > outcome.worst_ulp) {
            outcome.worst_ulp = ulp;
            worst = k;
        }
        if (oracle::accepts(what, got.type, got.bits[k], expected, outcome.bound)) continue;
        note_wrong(outcome, how,
                   {inputs_at(k), to_text(got.type, got.bits[k]), to_text(got.type, expected.bits), ulp});
    }
    if (outcome.worst_ulp > 0) outcome.worst_inputs = inputs_at(worst);
    outcome.is_floating = is_floating(got.type);
    return outcome;
}

std::vector<check> check_builtins(const device& on, const settings& how) {
    std::mt19937_64 random(how.seed);
    std::vector<check> outcomes;
    for (scalar type : types_of_builtins(on.info(), how)) {
        const operands given(type, how.values, random);
        std::vector<check> some = run_type(on, given, how);
        how.on_steps(some.size());
        std::move(some.begin(), some.end(), std::back_inserter(outcomes));
    }
    return outcomes;
}

}  // namespace balm::tool
