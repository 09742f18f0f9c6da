// Compares reads of a target's memory with the target's index: equal indices access the same element, unless
// positions repeat; two affine maps are disjoint if their ranges are, or if their positions differ modulo the
// common divisor of the strides. Everything else may overlap.

#include "array/map/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "balm/error.hpp"
#include "ir/ir.hpp"

namespace balm::array {

namespace {

bool are_apart(const affine_map& a, const affine_map& b) {
    const auto [a_low, a_high] = range_of(a);
    const auto [b_low, b_high] = range_of(b);
    if (a_high < b_low || b_high < a_low) return true;
    std::int64_t divisor = 0;
    for (const affine_map* m : {&a, &b})
        for (int d = 0; d < m->box.dimensions(); ++d)
            if (m->box[d] > 1) divisor = std::gcd(divisor, m->strides[static_cast<std::size_t>(d)]);
    return divisor > 0 && (a.offset - b.offset) % divisor != 0;
}

/// Whether strides prove that no two positions of the box are the same element: each stride exceeds the reach
/// of all smaller ones.
bool are_distinct(const affine_map& m) {
    std::array<std::pair<std::int64_t, std::int64_t>, shape::max_dimensions>
        dimensions;  // (stride, extent), sorted by stride
    std::size_t count = 0;
    for (int d = 0; d < m.box.dimensions(); ++d) {
        if (m.box[d] == 1) continue;
        std::size_t at = count++;
        const std::int64_t stride = std::abs(m.strides[static_cast<std::size_t>(d)]);
        for (; at > 0 && dimensions[at - 1].first > stride; --at) dimensions[at] = dimensions[at - 1];
        dimensions[at] = {stride, static_cast<std::int64_t>(m.box[d])};
    }
    std::int64_t reach = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const auto [stride, extent] = dimensions[k];
        if (stride <= reach) return false;
        reach += (extent - 1) * stride;
    }
    return true;
}

using maybe_map = std::optional<affine_map>;

affine_map constant_map(const shape& box, std::int64_t value) { return {box, {}, value}; }

bool is_constant(const affine_map& m) { return m.strides == affine_map{m.box}.strides; }

/// a + by * b; nullopt if a number overflows.
maybe_map sum(const affine_map& a, const affine_map& b, std::int64_t by) {
    const auto added = [by](std::int64_t x, std::int64_t y) -> std::optional<std::int64_t> {
        const std::optional<std::int64_t> scaled = detail::checked_product(y, by);
        return scaled ? detail::checked_sum(x, *scaled) : std::nullopt;
    };
    affine_map made{a.box};
    const std::optional<std::int64_t> offset = added(a.offset, b.offset);
    if (!offset) return std::nullopt;
    made.offset = *offset;
    for (std::size_t d = 0; d < made.strides.size(); ++d) {
        const std::optional<std::int64_t> stride = added(a.strides[d], b.strides[d]);
        if (!stride) return std::nullopt;
        made.strides[d] = *stride;
    }
    return made;
}

/// The number that the bits of an integer type represent; of unsigned numbers beyond 63 bits a negative one.
std::int64_t number_of(scalar type, std::uint64_t bits) {
    const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(type));
    return is_signed(type) ? static_cast<std::int64_t>(bits << unused) >> unused
                           : static_cast<std::int64_t>(bits << unused >> unused);
}

/// Whether a type represents all numbers of a map exactly.
bool holds(scalar type, const affine_map& m) {
    if (!is_integer(type)) return false;
    std::optional<std::int64_t> low = m.offset, high = m.offset;
    for (int d = 0; d < m.box.dimensions() && low && high; ++d) {
        const std::int64_t stride = m.strides[static_cast<std::size_t>(d)];
        const auto reach = detail::checked_product(static_cast<std::int64_t>(m.box[d]) - 1, stride);
        std::optional<std::int64_t>& end = stride < 0 ? low : high;
        end = reach ? detail::checked_sum(*end, *reach) : std::nullopt;
    }
    const auto is_held = [&](std::int64_t number) {
        return number_of(type, static_cast<std::uint64_t>(number)) == number &&
               (is_signed(type) || number >= 0);
    };
    return low && high && is_held(*low) && is_held(*high);
}

/// The numbers that steps [first, last) of a tape compute for the elements of a box, if they are an affine
/// map of the element's coordinates: `n - 1 - element_index()`.
maybe_map computed_map(const tape& p, std::size_t first, std::size_t last, const shape& box) {
    std::vector<affine_map> values;
    const auto result = [&](const step& s) -> maybe_map {
        const std::size_t own = values.size() - s.arity;
        switch (s.what) {
            case step::kind::position: return reshaped(p.maps[s.leaf], box);
            case step::kind::index:
                return sum(row_major(box), constant_map(box, static_cast<std::int64_t>(s.bits)), 1);
            case step::kind::scalar:
            case step::kind::constant:
                if (!s.type.is_scalar() || !is_integer(s.type.element)) return std::nullopt;
                return constant_map(box, number_of(s.type.element, s.bits));
            case step::kind::convert: return values.back();
            case step::kind::apply:
                switch (static_cast<builtin>(s.detail)) {
                    case builtin::neg: return sum(constant_map(box, 0), values[own], -1);
                    case builtin::add: return sum(values[own], values[own + 1], 1);
                    case builtin::sub: return sum(values[own], values[own + 1], -1);
                    case builtin::mul: {
                        const bool is_first = is_constant(values[own]);
                        if (!is_first && !is_constant(values[own + 1])) return std::nullopt;
                        return sum(constant_map(box, 0), values[own + is_first],
                                   values[own + !is_first].offset);
                    }
                    default: return std::nullopt;
                }
            default: return std::nullopt;
        }
    };
    for (std::size_t k = first; k < last; ++k) {
        const step& s = p.steps[k];
        const maybe_map value = s.arity > values.size() ? std::nullopt : result(s);
        if (!value || !holds(s.type.element, *value)) return std::nullopt;
        values.resize(values.size() - s.arity, *value);
        values.push_back(*value);
    }
    return values.size() == 1 ? maybe_map(values[0]) : std::nullopt;
}

/// The index of a read or a write: the steps [first, last) of a tape; without a tape, the element's own
/// index.
struct index_of {
    const tape* in = nullptr;
    std::size_t first = 0, last = 0;

    maybe_map map(const shape& box) const {
        return in == nullptr ? row_major(box) : computed_map(*in, first, last, box);
    }
};

index_of index_of_target(const target& t) {
    return t.where ? index_of{t.where, 0, t.where->steps.size()} : index_of{};
}

/// The map of a target that is a vector or an affine view.
maybe_map view_map(const target& t, const shape& box) {
    if (t.where == nullptr) return row_major(box);
    const affine_map* const map = affine(*t.where);
    return map != nullptr ? reshaped(*map, box) : std::nullopt;
}

/// Whether one index may read an element that the other writes for another position of the box. Positions
/// that are not affine may repeat.
bool may_meet(const index_of& a, const index_of& b, const shape& box) {
    const maybe_map map = a.map(box), other = b.map(box);
    if (!map || !other) return true;
    return is_same_map(*map, *other) ? !are_distinct(*map) : !are_apart(*map, *other);
}

/// Calls f(vector, index) for each vector that a tape reads; the index is nullopt if it depends on another
/// one, and for memory operands.
template <class F>
void for_each_read(const tape& p, F&& f) {
    std::vector<std::size_t> starts;  // the first step of each value on the stack
    std::vector<index_of> scopes;
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        if (s.what == step::kind::end) {
            starts.back() = scopes.back().first;
            scopes.pop_back();
            continue;
        }
        const std::size_t first = starts.size() - s.arity;
        const std::size_t start = s.arity > 0 ? starts[first] : k;
        starts.resize(first);
        if (s.what == step::kind::at) {
            scopes.push_back({&p, start, k});
            continue;
        }
        starts.push_back(start);
        if (s.what == step::kind::memory || (s.what == step::kind::vector && scopes.size() > 1))
            f(*p.vectors[s.leaf], std::optional<index_of>());
        else if (s.what == step::kind::vector)
            f(*p.vectors[s.leaf], std::optional(scopes.empty() ? index_of{} : scopes.back()));
    }
}

}  // namespace

bool is_same_map(const affine_map& a, const affine_map& b) {
    if (a.box != b.box || a.offset != b.offset) return false;
    for (int d = 0; d < a.box.dimensions(); ++d) {
        const auto at = static_cast<std::size_t>(d);
        if (a.box[d] > 1 && a.strides[at] != b.strides[at]) return false;
    }
    return true;
}

std::pair<std::int64_t, std::int64_t> range_of(const affine_map& m) {
    std::int64_t low = m.offset, high = m.offset;
    for (int d = 0; d < m.box.dimensions(); ++d) {
        const std::int64_t reach =
            (static_cast<std::int64_t>(m.box[d]) - 1) * m.strides[static_cast<std::size_t>(d)];
        (reach < 0 ? low : high) += reach;
    }
    return {low, high};
}

void check_distinct(target_list targets, const shape& box) {
    for (std::size_t k = 0; k < targets.size(); ++k)
        for (std::size_t other = 0; other < k; ++other) {
            const target &a = targets[k], &b = targets[other];
            if (!a.vector->overlaps(*b.vector)) continue;
            const maybe_map map = view_map(a, box), against = view_map(b, box);
            const bool may_differ = a.vector == b.vector && (!map || !against || are_apart(*map, *against));
            if (!may_differ)
                throw usage_error(
                    fmt::format("targets {} and {} of one assignment overlap, so that some elements would be "
                                "assigned two values",
                                other, k));
        }
}

bool reads(const tape& p, const vector_state& memory) {
    return std::any_of(p.vectors.begin(), p.vectors.end(),
                       [&](const auto& v) { return v->overlaps(memory); });
}
bool reads(const tape& p, target_list targets) {
    return std::any_of(targets.begin(), targets.end(), [&](const target& t) { return reads(p, *t.vector); });
}

bool needs_temporary(const tape& p, target_list targets, const shape& box) {
    if (!reads(p, targets)) return false;
    bool needs = false;
    for_each_read(p, [&](const vector_state& v, const std::optional<index_of>& index) {
        for (const target& t : targets)
            if (v.overlaps(*t.vector) &&
                (&v != t.vector || !index || may_meet(*index, index_of_target(t), box)))
                needs = true;
    });
    return needs;
}

}  // namespace balm::array
