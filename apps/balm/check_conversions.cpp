// Checks the conversion of every scalar type to every other on a device, in one kernel, bit for bit against
// the host oracle.

#include <deque>

#include "check.hpp"
#include "oracle.hpp"

namespace balm::tool {

namespace {

constexpr std::size_t values_per_conversion = 2048;

std::vector<scalar> types_of(const device_info& on) {
    std::vector<scalar> types;
    for (int k = static_cast<int>(scalar::boolean); k <= static_cast<int>(scalar::f64); ++k)
        if (static_cast<scalar>(k) != scalar::f64 || on.has_double) types.push_back(static_cast<scalar>(k));
    return types;
}

check compare(const column& from, const column& got, const settings& how) {
    check outcome;
    outcome.kind = "conversion";
    outcome.name = std::string(to_string(from.type)) + " to " + to_string(got.type);
    outcome.type = to_string(from.type);
    outcome.values = got.bits.size();
    for (std::size_t k = 0; k < got.bits.size(); ++k) {
        const std::uint64_t expected = oracle::convert(from.type, got.type, from.bits[k]);
        if (is_same(got.type, got.bits[k], expected)) continue;
        note_wrong(outcome, how,
                   {{to_text(from.type, from.bits[k])},
                    to_text(got.type, got.bits[k]),
                    to_text(got.type, expected),
                    0});
    }
    return outcome;
}

}  // namespace

std::vector<check> check_conversions(const device& on, const settings& how) {
    std::mt19937_64 random(how.seed);
    const std::vector<scalar> types = types_of(on.info());
    std::vector<column> given;
    column_kernel kernel(on, "selftest_conversions", values_per_conversion);
    for (scalar from : types) {
        // The second operand runs through all special values within the first few hundred rows.
        given.push_back(operands(from, values_per_conversion, random).b);
        const trace::node value = kernel.operand(given.back());
        for (scalar to : types) kernel.result(trace::convert(value, to));
    }
    const std::vector<column> results = kernel.run();
    std::vector<check> outcomes;
    for (std::size_t k = 0; k < results.size(); ++k)
        if (given[k / types.size()].type != results[k].type)
            outcomes.push_back(compare(given[k / types.size()], results[k], how));
    how.on_steps(steps_of_a_kernel);
    return outcomes;
}

}  // namespace balm::tool
