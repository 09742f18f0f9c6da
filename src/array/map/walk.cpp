// Reverses dimensions in which the first map's stride is negative, sorts them by the first map's strides, and
// fuses those that are contiguous in every map.

#include "array/map/walk.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace balm::array {

namespace {

/// The dimensions of extent other than 1.
walk dimensions_of(std::span<const affine_map> maps) {
    walk w;
    const shape& box = maps[0].box;
    for (const affine_map& m : maps) w.maps.push_back({{}, m.offset});
    for (int d = 0; d < box.dimensions(); ++d) {
        if (box[d] == 1) continue;
        const auto loop = static_cast<std::size_t>(w.loops++);
        w.counts[loop] = static_cast<std::int64_t>(box[d]);
        for (std::size_t m = 0; m < maps.size(); ++m)
            w.maps[m].strides[loop] = maps[m].strides[static_cast<std::size_t>(d)];
    }
    return w;
}

/// Reverses loops so that no stride of the first map is negative.
void turn_round(walk& w) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(w.loops); ++d) {
        if (w.maps[0].strides[d] >= 0) continue;
        for (walk::map& m : w.maps) {
            m.offset += (w.counts[d] - 1) * m.strides[d];
            m.strides[d] = -m.strides[d];
        }
    }
}

/// Sorts loops so that the first map's strides decrease.
void sort(walk& w) {
    std::array<std::size_t, shape::max_dimensions> order{};
    const auto last = order.begin() + w.loops;
    std::iota(order.begin(), last, std::size_t{0});
    std::stable_sort(order.begin(), last, [&](std::size_t a, std::size_t b) {
        return w.maps[0].strides[a] > w.maps[0].strides[b];
    });
    const auto sorted = [&](const walk::numbers& of) {
        walk::numbers result{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(w.loops); ++d) result[d] = of[order[d]];
        return result;
    };
    w.counts = sorted(w.counts);
    for (walk::map& m : w.maps) m.strides = sorted(m.strides);
}

void join(walk& w) {
    std::size_t kept = 0;  // the loop that the next one may be fused with
    for (std::size_t d = 1; d < static_cast<std::size_t>(w.loops); ++d) {
        const bool is_one = std::all_of(w.maps.begin(), w.maps.end(), [&](const walk::map& m) {
            return m.strides[kept] == m.strides[d] * w.counts[d];
        });
        if (!is_one) ++kept;
        w.counts[kept] = is_one ? w.counts[kept] * w.counts[d] : w.counts[d];
        for (walk::map& m : w.maps) m.strides[kept] = m.strides[d];
    }
    w.loops = std::min(w.loops, static_cast<int>(kept) + 1);
    if (w.loops > 0) return;
    w.loops = 1;  // a box of one element
    w.counts[0] = 1;
    for (walk::map& m : w.maps) m.strides[0] = 1;
}

}  // namespace

walk walk::in_memory_order(std::span<const affine_map> maps) {
    walk w = dimensions_of(maps);
    turn_round(w);
    sort(w);
    join(w);
    return w;
}

walk walk::in_row_major_order(const affine_map& map) {
    walk w = dimensions_of({&map, 1});
    join(w);
    return w;
}

bool walk::is_the_order(const map& m) const {
    std::int64_t stride = 1;
    for (int d = loops - 1; d >= 0; --d) {
        if (m.strides[static_cast<std::size_t>(d)] != stride) return false;
        stride *= counts[static_cast<std::size_t>(d)];
    }
    return m.offset == 0;
}

}  // namespace balm::array
