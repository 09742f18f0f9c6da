// Every row of builtins.def on a device, for every type that the row takes: one kernel a type computes all of
// its rows, the host oracle says which results are right.

#include <array>
#include <functional>

#include "balm/error.hpp"
#include "check.hpp"
#include "ir/ir.hpp"
#include "ir/oracle.hpp"

namespace balm::tool {

namespace {

using balm::detail::rule;

constexpr std::size_t values_per_row = 8192;  // all pairs of about 80 special values, and random ones

/// A row for operands of one type.
struct typed_row {
    builtin what;
    const ir::builtin_info* info;
    scalar type, result;

    bool takes_integer() const { return info->takes == rule::shift || info->takes == rule::scale; }
};

/// The rows that compute in this type, without conversion.
std::vector<typed_row> rows_of(scalar type) {
    std::vector<typed_row> rows;
    for (std::size_t k = 0; k < ir::builtin_count; ++k) {
        const auto what = static_cast<builtin>(k);
        const ir::builtin_info& info = ir::info(what);
        const bool last_is_integer = info.takes == rule::shift || info.takes == rule::scale;
        const scalar given[] = {type, last_is_integer ? scalar::i32 : type, type};
        const auto resolved = balm::detail::resolve(what, given, info.arity);
        if (resolved.result != scalar::nothing && resolved.first == type)
            rows.push_back({what, &info, type, resolved.result});
    }
    return rows;
}

/// OpenCL 1.2, section 7.4: f32 division to 2.5 ulp and sqrt to 3, where they do not round correctly.
int bound_for(const typed_row& row, const device_info& on) {
    const bool loose = row.what == builtin::div || row.what == builtin::sqrt;
    if (loose && row.type == scalar::f32 && !on.has_correctly_rounded_divide) return 3;
    return row.info->ulp;
}

check new_check(const typed_row& row, const device_info& on) {
    check outcome;
    outcome.kind = "built-in";
    outcome.name = row.info->name;
    outcome.type = to_string(row.type);
    outcome.bound = bound_for(row, on);
    return outcome;
}

check compare(const typed_row& row, const column& got, const operands& given, const device_info& on,
              const settings& how) {
    check outcome = new_check(row, on);
    outcome.values = got.bits.size();
    std::array<const column*, 3> columns{&given.a, &given.b, &given.c};
    if (row.takes_integer()) columns[1] = &given.integer;
    for (std::size_t k = 0; k < got.bits.size(); ++k) {
        std::array<std::uint64_t, 3> bits{};
        for (std::size_t p = 0; p < row.info->arity; ++p) bits[p] = columns[p]->bits[k];
        const auto expected = oracle::evaluate(row.what, row.type, std::span(bits).first(row.info->arity));
        const double ulp = is_floating(row.result) && outcome.bound >= 0
                               ? oracle::ulp_error(row.result, got.bits[k], expected.wide)
                               : 0;
        outcome.worst_ulp = std::max(outcome.worst_ulp, ulp);
        if (oracle::accepts(row.what, row.result, got.bits[k], expected, outcome.bound)) continue;
        wrong_value wrong{{}, to_text(row.result, got.bits[k]), to_text(row.result, expected.bits), ulp};
        for (std::size_t p = 0; p < row.info->arity; ++p)
            wrong.inputs.push_back(to_text(columns[p]->type, bits[p]));
        note_wrong(outcome, how, std::move(wrong));
    }
    return outcome;
}

std::vector<check> run_rows(const device& on, std::span<const typed_row> rows, const operands& given,
                            const settings& how) {
    column_kernel kernel(on, std::string("selftest_") + to_string(rows[0].type), values_per_row);
    const trace::node a = kernel.operand(given.a), b = kernel.operand(given.b), c = kernel.operand(given.c);
    const trace::node integer = kernel.operand(given.integer);
    for (const typed_row& row : rows) {
        const trace::node list[] = {a, row.takes_integer() ? integer : b, c};
        kernel.result(trace::apply(row.what, list, row.info->arity));
    }
    const std::vector<column> results = kernel.run();
    std::vector<check> outcomes;
    for (std::size_t k = 0; k < rows.size(); ++k)
        outcomes.push_back(compare(rows[k], results[k], given, on.info(), how));
    return outcomes;
}

/// All rows of a type in one kernel; where that fails, each in its own, so that the culprit is named.
std::vector<check> run_type(const device& on, const std::vector<typed_row>& rows, const operands& given,
                            const settings& how) {
    try {
        return run_rows(on, rows, given, how);
    } catch (const build_error&) {
        std::vector<check> outcomes;
        for (const typed_row& row : rows) {
            try {
                outcomes.push_back(run_rows(on, {&row, 1}, given, how).front());
            } catch (const build_error& fault) {
                outcomes.push_back(new_check(row, on.info()));
                outcomes.back().fault = fault.what();
            }
        }
        return outcomes;
    }
}

}  // namespace

std::vector<check> check_builtins(const device& on, const settings& how) {
    std::mt19937_64 random(how.seed);
    std::vector<check> outcomes;
    for (scalar type :
         {scalar::boolean, scalar::i32, scalar::u32, scalar::i64, scalar::u64, scalar::f32, scalar::f64}) {
        if (type == scalar::f64 && !on.info().has_double) continue;
        const operands given(type, values_per_row, random);
        for (check& each : run_type(on, rows_of(type), given, how)) outcomes.push_back(std::move(each));
    }
    return outcomes;
}

}  // namespace balm::tool
