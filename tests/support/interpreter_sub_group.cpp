#include "support/interpreter_sub_group.hpp"

#include <limits>
#include <vector>

#include "oracle.hpp"

namespace balm::test {

namespace {

using ir::sub_group_op;
using lanes = std::vector<std::uint64_t>;

builtin combination_of(sub_group_op what) {
    switch (what) {
        case sub_group_op::reduce_add:
        case sub_group_op::scan_inclusive_add:
        case sub_group_op::scan_exclusive_add: return builtin::add;
        case sub_group_op::reduce_min:
        case sub_group_op::scan_inclusive_min:
        case sub_group_op::scan_exclusive_min: return builtin::min;
        default: return builtin::max;
    }
}

std::uint64_t combined(builtin how, scalar s, std::uint64_t a, std::uint64_t b) {
    const std::uint64_t both[] = {a, b};
    return oracle::evaluate(how, s, both).bits;
}

/// What changes no value that it is combined with.
std::uint64_t neutral(builtin how, scalar s) {
    if (how == builtin::add) return 0;
    const bool is_min = how == builtin::min;
    const double infinite =
        is_min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &infinite, sizeof bits);  // integers saturate
    return oracle::convert(scalar::f64, s, bits);
}

void reduce(builtin how, scalar s, std::span<std::uint64_t> values) {
    for (std::size_t distance = ir::sub_group_size / 2; distance > 0; distance /= 2)
        for (std::size_t k = 0; k + distance < values.size() && k < distance; ++k)
            values[k] = combined(how, s, values[k], values[k + distance]);
    for (std::uint64_t& each : values) each = values[0];
}

void scan(builtin how, scalar s, std::span<std::uint64_t> values) {
    for (std::size_t distance = 1; distance < values.size(); distance *= 2) {
        const lanes before(values.begin(), values.end());
        for (std::size_t k = distance; k < values.size(); ++k)
            values[k] = combined(how, s, before[k - distance], before[k]);
    }
}

void shuffle(sub_group_op what, std::span<std::uint64_t> values, std::span<const std::uint64_t> operands) {
    const lanes before(values.begin(), values.end());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto by = static_cast<std::size_t>(operands[k]) % ir::sub_group_size;
        const std::size_t from = what == sub_group_op::shuffle        ? by
                                 : what == sub_group_op::shuffle_up   ? k - by  // wraps beyond all lanes
                                 : what == sub_group_op::shuffle_down ? k + by
                                                                      : k ^ by;
        values[k] = before[from < before.size() ? from : k];
    }
}

void ballot(std::span<std::uint64_t> values) {
    std::uint64_t votes = 0;
    for (std::size_t k = 0; k < values.size(); ++k) votes |= std::uint64_t{values[k] != 0} << k;
    for (std::uint64_t& each : values) each = votes;
}

}  // namespace

void apply_sub_group(sub_group_op what, scalar s, std::span<std::uint64_t> values,
                     std::span<const std::uint64_t> operands) {
    if (what == sub_group_op::barrier) return;
    if (what == sub_group_op::ballot) return ballot(values);
    if (what <= sub_group_op::shuffle_xor) return shuffle(what, values, operands);
    const builtin how = combination_of(what);
    if (what <= sub_group_op::reduce_max) return reduce(how, s, values);
    scan(how, s, values);
    if (what < sub_group_op::scan_exclusive_add) return;
    for (std::size_t k = values.size(); k-- > 1;) values[k] = values[k - 1];
    values[0] = neutral(how, s);
}

}  // namespace balm::test
