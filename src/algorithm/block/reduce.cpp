#include "algorithm/block/reduce.hpp"

#include <bit>

#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// The width of the first level of a tree over `count` values; 0 for one value.
int widest(int count) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)) / 2); }
Int widest(const Int& count) { return Int(1) << (31 - clz(count - 1)); }

values reduce(const operation& does, const elements& list, std::size_t first, std::size_t count) {
    if (count == 1) return list[first];
    const values half = reduce(does, list, first, count / 2);
    return does.combined(half, reduce(does, list, first + count / 2, count - count / 2));
}

/// One level of the tree in local memory: each active work-item takes those of the work-item `width` further.
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

/// The first sub-group reduces the remaining values from local memory without further barriers: for each lane
/// one value per sub-group if the group's size is known, else one value.
values through_first_sub_group(const group& g, const operation& does, const values& own,
                               const arrays& shared) {
    local_barrier();
    const int height = g.is_exact() ? g.most_sub_groups() : 1;
    const values total = variables("total", own);
    IF (g.sub_group() == 0) {
        elements column{g.is_exact() ? own : shared.load(g.item())};
        for (int k = 1; k < height; ++k) column.push_back(shared.load(g.item() + k * lanes));
        for (int width = widest(height); width > 0; width /= 2) {
            for (std::size_t k = 0; k + static_cast<std::size_t>(width) < column.size(); ++k)
                column[k] = does.combined(column[k], column[k + static_cast<std::size_t>(width)]);
            column.resize(static_cast<std::size_t>(width));
        }
        write(total, shuffled_down(g, does, column[0], lanes / 2, shared));
    }
    return read(total);
}

subset whole(const group& g) { return {Int(g.item()), Int(g.items()), Int(1)}; }

/// The levels of the trees of subsets whose width exceeds `last`.
void halve(const group& g, const operation& does, const arrays& shared, const subset& of, int last = 0) {
    Int width = named("width", of.size >> 1);
    WHILE (width > last) {
        take(does, shared, g.item(), of.rank < width, width * of.distance);
        width >>= 1;
    }
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
    for (Index i : named("i", range(begin, end))) accumulate(does, total, at(i));
    return read(total);
}

template <class Number>
void accumulate(const operation& does, const values& total, const Number& begin, const Number& end,
                const Number& stride, strided_walk how, const std::type_identity_t<elements_at<Number>>& at) {
    Number i(begin);
    const Number step = how.at_once * stride, reach = named("reach", (how.at_once - 1) * stride);
    const auto take = [&](const values& into, int count) {
        std::vector<Number> positions;
        positions.reserve(static_cast<std::size_t>(count));
        for (int k = 0; k < count; ++k) positions.emplace_back(i + k * stride);
        const elements all = at(positions);
        if (how.is_sequential)
            for (const values& each : all) accumulate(does, into, each);
        else
            accumulate(does, into, reduce(does, all));
    };
    const auto take_tree = [&](const values& into) {
        take(into, how.at_once);
        i += step;
    };
    WHILE (i + reach < end) {
        if (how.run == 0) {
            take_tree(total);
        } else {
            const values of_run = variables("of_run", does.identity());
            Number run_end = named("run_end", min(i + how.run * step, end));
            WHILE (i + reach < run_end) take_tree(of_run);
            accumulate(does, total, read(of_run));
        }
    }
    if (how.at_once == 1) return;
    WHILE (i < end) {
        take(total, 1);
        i += stride;
    }
}
template void accumulate(const operation&, const values&, const Int&, const Int&, const Int&, strided_walk,
                         const elements_at<Int>&);
template void accumulate(const operation&, const values&, const Index&, const Index&, const Index&,
                         strided_walk, const elements_at<Index>&);

values sub_group_reduce(const group& g, const operation& does, const values& own, const arrays& shared) {
    if (g.is_single()) return own;
    if (g.has_sub_groups())
        return g.has_whole_sub_groups() ? shuffled_down(g, does, own, lanes / 2, shared)
                                        : guarded_down(g, does, own, shared);
    if (g.has_whole_sub_groups()) return reduce(g, does, own, shared, {Int(g.lane()), Int(lanes), Int(1)});
    shared.store(g.item(), own);
    for (int width = widest(g.most_lanes()); width > 0; width /= 2)
        take(does, shared, g.item(), g.lane() < width && g.lane() + width <= g.last(), Int(width));
    return shared.load(g.item());
}

values reduce(const group& g, const operation& does, const values& own, const arrays& shared) {
    const bool is_one_sub_group = g.most_sub_groups() == 1;
    if (g.is_single() || (g.has_sub_groups() && is_one_sub_group))
        return sub_group_reduce(g, does, own, shared);
    shared.store(g.item(), own);
    if (g.has_sub_groups() && g.has_whole_sub_groups()) {
        if (!g.is_exact()) halve(g, does, shared, whole(g), lanes / 2);
        return through_first_sub_group(g, does, own, shared);
    }
    if (g.is_exact())
        halve_exactly(g, does, shared);
    else if (g.is_power_of_two())
        halve(g, does, shared, whole(g));
    else
        halve(g, does, shared);
    return shared.load(g.item());
}

values reduce(const group& g, const operation& does, const values& own, const arrays& shared,
              const subset& of) {
    if (g.is_single()) return own;
    shared.store(g.item(), own);
    halve(g, does, shared, of);
    return shared.load(g.item());
}

values reduce_for_all(const group& g, const operation& does, const values& own, const arrays& shared,
                      int size, const Int& rank) {
    if (size == 1) return own;
    if (g.has_sub_groups() && size <= lanes)
        return shuffle(g, shuffled_down(g, does, own, size / 2, shared), g.lane() - rank, shared);
    shared.store(g.item(), own);
    halve(g, does, shared, {rank, Int(size), Int(1)}, g.has_sub_groups() ? lanes / 2 : 0);
    if (g.has_sub_groups()) {
        const values total = shuffled_down(g, does, shared.load(g.item()), lanes / 2, shared);
        IF (rank == 0) {
            shared.store(g.item(), total);
        }
    }
    g.barrier();
    values total = shared.load(g.item() - rank);
    g.barrier();  // before another reduction stores there
    return total;
}

void reduce_array(const group& g, const operation& does, const arrays& array, const Int& count) {
    Int width = named("width", count >> 1);
    WHILE (width > 0) {
        g.barrier();
        for (Int k : named("k", range(g.item(), width, g.items())))
            array.store(k, does.combined(array.load(k), array.load(k + width)));
        width >>= 1;
    }
}

}  // namespace balm::block
