// Compares reads of a target's memory with the target's index: equal indices access the same element, and two
// affine maps are disjoint if their ranges are, or if their positions differ modulo the common divisor of the
// strides. Everything else may overlap.

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

/// The index of a read or a write: the steps [first, last) of a tape; without a tape, the element's own
/// index.
struct index_of {
    const tape* in = nullptr;
    std::size_t first = 0, last = 0;

    std::optional<affine_map> map(const shape& box) const {
        if (in == nullptr) return row_major(box);
        if (last - first != 1 || in->steps[first].what != step::kind::position) return std::nullopt;
        return reshaped(in->maps[in->steps[first].leaf], box);
    }
};

index_of index_of_target(const target& t) {
    return t.where ? index_of{t.where, 0, t.where->steps.size()} : index_of{};
}

bool is_same_step(const tape& p, const step& a, const tape& q, const step& b) {
    if (a.what != b.what || a.type != b.type || a.detail != b.detail || a.arity != b.arity ||
        a.bits != b.bits)
        return false;
    switch (a.what) {
        case step::kind::vector:
        case step::kind::memory: return p.vectors[a.leaf] == q.vectors[b.leaf];
        case step::kind::position: return p.maps[a.leaf] == q.maps[b.leaf];
        case step::kind::call: return p.functions[a.leaf]->identity == q.functions[b.leaf]->identity;
        case step::kind::image: return false;
        case step::kind::scalar: return a.type.is_scalar();  // the bits of other types are offsets
        default: return true;
    }
}

bool is_same(const index_of& a, const index_of& b) {
    if (a.in == nullptr || b.in == nullptr || a.last - a.first != b.last - b.first) return false;
    for (std::size_t k = 0; k < a.last - a.first; ++k)
        if (!is_same_step(*a.in, a.in->steps[a.first + k], *b.in, b.in->steps[b.first + k])) return false;
    return true;
}

/// Whether one index may read an element that the other writes for another position of the box.
bool may_meet(const index_of& a, const index_of& b, const shape& box) {
    const std::optional<affine_map> map = a.map(box), other = b.map(box);
    if (map && other) return is_same_map(*map, *other) ? !are_distinct(*map) : !are_apart(*map, *other);
    return !is_same(a, b);
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
            const std::optional<affine_map> map = index_of_target(a).map(box),
                                            against = index_of_target(b).map(box);
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
