#include "algorithm/block/reduce.hpp"

#include <bit>

#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// The first width of the tree over so many values; 0 for one value.
int widest(int count) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)) / 2); }
Int widest(const Int& count) { return Int(1) << (31 - clz(count - 1)); }

values reduce(const operation& does, const elements& list, std::size_t first, std::size_t count) {
    if (count == 1) return list[first];
    const values half = reduce(does, list, first, count / 2);
    return does.combined(half, reduce(does, list, first + count / 2, count - count / 2));
}

/// One level of the tree in local memory: number k among `left` takes the values of k + width.
void take(const operation& does, const arrays& shared, const Int& item, const Bool& is_active,
          const Int& width) {
    local_barrier();
    IF (is_active) {
        shared.store(item, does.combined(shared.load(item), shared.load(item + width)));
    }
}

/// The levels of the tree within whole sub-groups.
values shuffled_down(const group& g, const operation& does, values own, int width, const arrays& shared) {
    for (; width > 0; width /= 2) own = does.combined(own, shuffle_down(g, own, width, shared));
    return own;
}
values guarded_down(const group& g, const operation& does, const values& own, const arrays& shared) {
    const values total = variables("total", own);
    for (int width = widest(g.most_lanes()); width > 0; width /= 2) {
        const values now = read(total), other = shuffle_down(g, now, width, shared);
        IF (g.lane() + width <= g.last()) {
            write(total, does.combined(now, other));
        }
    }
    return read(total);
}

/// The first sub-group takes the upper levels from local memory without further barriers.
values through_first_sub_group(const group& g, const operation& does, const values& own,
                               const arrays& shared) {
    const values total = variables("total", own);
    IF (g.sub_group() == 0) {
        elements column{own};
        for (int k = 1; k < g.most_sub_groups(); ++k) column.push_back(shared.load(g.item() + k * lanes));
        for (int width = widest(g.most_sub_groups()); width > 0; width /= 2) {
            for (std::size_t k = 0; k + static_cast<std::size_t>(width) < column.size(); ++k)
                column[k] = does.combined(column[k], column[k + static_cast<std::size_t>(width)]);
            column.resize(static_cast<std::size_t>(width));
        }
        write(total, shuffled_down(g, does, column[0], lanes / 2, shared));
    }
    return read(total);
}

void halve_exactly(const group& g, const operation& does, const arrays& shared) {
    int left = static_cast<int>(g.most());
    for (int width = widest(left); width > 0; left = width, width /= 2)
        take(does, shared, g.item(), g.item() < left - width, Int(width));
}
void halve(const group& g, const operation& does, const arrays& shared) {
    Int left = named("left", g.items());
    WHILE (left > 1) {
        Int width = named("width", widest(left));
        take(does, shared, g.item(), g.item() < left - width, width);
        left = width;
    }
}

}  // namespace

values reduce(const operation& does, const elements& list) { return reduce(does, list, 0, list.size()); }

values reduce(const operation& does, const values& start, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at) {
    const values total = variables("total", start);
    for (Index i : named("i", range(begin, end))) write(total, does.combined(read(total), at(i)));
    return read(total);
}

values sub_group_reduce(const group& g, const operation& does, const values& own, const arrays& shared) {
    if (g.is_single()) return own;
    if (g.has_sub_groups())
        return g.has_whole_sub_groups() ? shuffled_down(g, does, own, lanes / 2, shared)
                                        : guarded_down(g, does, own, shared);
    shared.store(g.item(), own);
    for (int width = widest(g.most_lanes()); width > 0; width /= 2)
        take(does, shared, g.item(),
             g.has_whole_sub_groups() ? g.lane() < width : g.lane() < width && g.lane() + width <= g.last(),
             Int(width));
    return shared.load(g.item());
}

values reduce(const group& g, const operation& does, const values& own, const arrays& shared) {
    const bool is_one_sub_group = g.most_sub_groups() == 1;
    if (g.is_single() || (g.has_sub_groups() && is_one_sub_group))
        return sub_group_reduce(g, does, own, shared);
    shared.store(g.item(), own);
    if (g.has_sub_groups() && g.has_whole_sub_groups()) {
        local_barrier();
        return through_first_sub_group(g, does, own, shared);
    }
    g.is_exact() ? halve_exactly(g, does, shared) : halve(g, does, shared);
    return shared.load(g.item());
}

}  // namespace balm::block
