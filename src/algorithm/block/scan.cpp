#include "algorithm/block/scan.hpp"

#include "algorithm/block/reduce.hpp"
#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// A scan within sub-groups. Other work-items find its inclusive values in local memory, from `first` on.
struct partial {
    values inclusive;
    int first = 0;
};

/// Scans each of several values with its own shuffles, so that few results are live in registers.
elements by_shuffles(const group& g, const operation& does, const elements& list, const arrays& shared) {
    elements sums;
    for (const values& own : list) sums.push_back(variables("sum", own));
    for (int distance = 1; distance < g.most_lanes(); distance *= 2)
        for (const values& sum : sums) {
            const values now = read(sum), other = shuffle_up(g, now, distance, shared);
            IF (g.lane() >= distance) {
                write(sum, does.combined(other, now));
            }
        }
    for (values& sum : sums) sum = read(sum);
    return sums;
}

/// One barrier per distance: values alternate between the two halves of the array.
partial in_local_memory(const group& g, const operation& does, const values& own, const arrays& shared) {
    const auto most = static_cast<int>(g.most());
    const values sum = variables("sum", own);
    int half = 0;
    shared.store(g.item(), own);
    for (int distance = 1; distance < g.most_lanes(); distance *= 2) {
        local_barrier();
        IF (g.lane() >= distance) {
            write(sum, does.combined(shared.load(g.item() + (half - distance)), read(sum)));
        }
        half = most - half;
        shared.store(g.item() + half, read(sum));
    }
    return {read(sum), half};
}

partial scan_sub_groups(const group& g, const operation& does, const values& own, const arrays& shared) {
    if (g.is_single()) return {own};
    if (g.has_sub_groups()) return {by_shuffles(g, does, {own}, shared)[0]};
    return in_local_memory(g, does, own, shared);
}

/// The inclusive values of the previous lane; in the first lane its own.
values of_lane_before(const group& g, const partial& scanned, const arrays& shared) {
    if (g.has_sub_groups()) return shuffle_up(g, scanned.inclusive, 1, shared);
    return shared.load(max(g.item() - 1, g.first()) + scanned.first);
}

/// The total of the sub-groups before this one, if any, and that of all sub-groups.
class sub_group_totals {
public:
    /// Ends with the barrier after which `shared` holds the totals. The last lane has the sub-group's total.
    sub_group_totals(const group& g, const values& total, const arrays& shared)
        : g_(g), total_(total), shared_(shared) {
        if (g.is_single()) return;
        IF (g.lane() == g.last()) {
            shared.store(slot(g.sub_group()), total);
        }
        local_barrier();
    }
    /// Sets `total` unless it is null. The result is valid except in the first sub-group.
    values before(const operation& does, values* total) const {
        if (g_.most_sub_groups() == 1 && total == nullptr) return total_;
        const values sum = variables("total", of(Int(0)));
        if (g_.most_sub_groups() == 1) {
            *total = read(sum);
            return read(sum);
        }
        const values ahead = variables("ahead", read(sum));
        for (Int k : named("k", range(Int(1), total ? g_.sub_groups() : g_.sub_group()))) {
            if (total) {
                IF (k == g_.sub_group()) {
                    write(ahead, read(sum));
                }
            }
            write(sum, does.combined(read(sum), of(k)));
        }
        if (!total) return read(sum);
        *total = read(sum);
        return read(ahead);
    }

private:
    values of(const Int& k) const { return g_.is_single() ? total_ : shared_.load(slot(k)); }
    /// Without sub-groups, the totals follow the values of the work-items.
    Int slot(const Int& sub_group) const {
        return g_.has_sub_groups() ? Int(sub_group) : sub_group + 2 * static_cast<int>(g_.most());
    }

    const group& g_;
    values total_;
    const arrays& shared_;
};

}  // namespace

elements scan_inclusive(const operation& does, const elements& list) {
    elements made{list[0]};
    for (std::size_t k = 1; k < list.size(); ++k) made.push_back(does.combined(made.back(), list[k]));
    return made;
}
elements scan_inclusive(const operation& does, const values& carry, const elements& list) {
    elements carried = list;
    carried[0] = does.combined(carry, list[0]);
    return scan_inclusive(does, carried);
}
elements scan_exclusive(const operation& does, const values& carry, const elements& list) {
    elements made{carry};
    for (std::size_t k = 0; k + 1 < list.size(); ++k) made.push_back(does.combined(made.back(), list[k]));
    return made;
}
values scan(const operation& does, const values& carry, const Index& begin, const Index& end,
            const std::function<values(const Index&)>& at,
            const std::function<void(const Index&, const values&, const values&)>& give) {
    const values sum = variables("sum", carry);
    for (Index i : named("i", range(begin, end))) {
        const values ahead = read(sum), now = does.combined(ahead, at(i));
        give(i, ahead, now);
        write(sum, now);
    }
    return read(sum);
}

values ahead_of_sub_group(const group& g, const operation& does, const values& of_sub_group,
                          const arrays& shared, values* total) {
    const values before = sub_group_totals(g, of_sub_group, shared).before(does, total);
    const values ahead = variables("ahead", does.identity());
    IF (g.sub_group() > 0) {
        write(ahead, before);
    }
    return read(ahead);
}

std::size_t scan_room(const group& g) {
    const auto totals = static_cast<std::size_t>(g.most_sub_groups());
    return g.has_sub_groups() ? totals : 2 * g.most() + totals;
}

values sub_group_scan_inclusive(const group& g, const operation& does, const values& own,
                                const arrays& shared) {
    return scan_sub_groups(g, does, own, shared).inclusive;
}
values sub_group_scan_exclusive(const group& g, const operation& does, const values& own,
                                const arrays& shared) {
    const partial scanned = scan_sub_groups(g, does, own, shared);
    const values result = variables("exclusive", does.identity());
    if (g.is_single()) return read(result);
    if (!g.has_sub_groups()) local_barrier();
    const values before = of_lane_before(g, scanned, shared);
    IF (g.lane() > 0) {
        write(result, before);
    }
    return read(result);
}

values scan_inclusive(const group& g, const operation& does, const values& own, const arrays& shared,
                      values* total) {
    const partial scanned = scan_sub_groups(g, does, own, shared);
    if (g.most_sub_groups() == 1 && total == nullptr) return scanned.inclusive;
    const values ahead = sub_group_totals(g, scanned.inclusive, shared).before(does, total);
    if (g.most_sub_groups() == 1) return scanned.inclusive;
    const values result = variables("inclusive", scanned.inclusive);
    IF (g.sub_group() > 0) {
        write(result, does.combined(ahead, scanned.inclusive));
    }
    return read(result);
}

values scan_exclusive(const group& g, const operation& does, const values& own, const arrays& shared,
                      values* total) {
    if (g.is_single()) {
        if (total) *total = own;
        return does.identity();
    }
    if (g.most_sub_groups() == 1 && total == nullptr) return sub_group_scan_exclusive(g, does, own, shared);
    const partial scanned = scan_sub_groups(g, does, own, shared);
    const sub_group_totals totals(g, scanned.inclusive, shared);
    const values before = of_lane_before(g, scanned, shared), ahead = totals.before(does, total);
    const values result = variables("exclusive", does.identity());
    if (g.most_sub_groups() == 1) {
        IF (g.lane() > 0) {
            write(result, before);
        }
        return read(result);
    }
    IF (g.sub_group() == 0) {
        IF (g.lane() > 0) {
            write(result, before);
        }
    }
    ELIF (g.lane() > 0) {
        write(result, does.combined(ahead, before));
    }
    ELSE { write(result, ahead); }
    return read(result);
}

namespace {

/// The reduction of the tile's elements before those of the work-item.
values ahead_of_item(const group& g, const operation& does, const elements& list, const arrays& shared,
                     values* total) {
    return scan_exclusive(g, does, reduce(does, list), shared, total);
}

}  // namespace

elements scan_inclusive(const group& g, const operation& does, const elements& list, const arrays& shared,
                        values* total) {
    if (list.size() == 1) return {scan_inclusive(g, does, list[0], shared, total)};
    if (g.is_single()) {
        elements made = scan_inclusive(does, list);
        if (total) *total = made.back();
        return made;
    }
    return scan_inclusive(does, ahead_of_item(g, does, list, shared, total), list);
}
elements scan_exclusive(const group& g, const operation& does, const elements& list, const arrays& shared,
                        values* total) {
    return scan_exclusive(does, ahead_of_item(g, does, list, shared, total), list);
}

namespace {

/// The operation applied to `rows` concatenated rows of values.
operation on_rows(const operation& does, std::size_t rows) {
    operation made;
    made.combined = [&does, rows](const values& first, const values& second) {
        const auto width = static_cast<std::ptrdiff_t>(first.size() / rows);
        values all;
        for (auto a = first.begin(), b = second.begin(); a != first.end(); a += width, b += width)
            all = joined(std::move(all), does.combined({a, a + width}, {b, b + width}));
        return all;
    };
    made.identity = [&does, rows] {
        values all;
        for (std::size_t k = 0; k < rows; ++k) all = joined(std::move(all), does.identity());
        return all;
    };
    return made;
}
values in_a_row(const elements& list) {
    values all;
    for (const values& each : list) all = joined(std::move(all), each);
    return all;
}
elements cut_in_rows(const values& all, std::size_t rows) {
    const auto width = static_cast<std::ptrdiff_t>(all.size() / rows);
    elements made;
    for (auto at = all.begin(); at != all.end(); at += width) made.emplace_back(at, at + width);
    return made;
}

}  // namespace

types side_by_side(const types& of, std::size_t count) {
    types made;
    for (std::size_t k = 0; k < count; ++k) made.insert(made.end(), of.begin(), of.end());
    return made;
}

namespace {

/// The scans of a sub-group's rows. Callers query one row at a time, so that few are live in registers.
class scanned_rows {
public:
    scanned_rows(const group& g, const operation& does, const elements& list, const arrays& shared)
        : g_(g), shared_(shared), rows_(list) {
        if (g.is_single()) return;
        if (g.has_sub_groups()) {
            rows_ = by_shuffles(g, does, list, shared);
            return;
        }
        const partial all = in_local_memory(g, on_rows(does, list.size()), in_a_row(list), shared);
        g.barrier();
        rows_ = cut_in_rows(shared.load(g.first() + g.last() + all.first), list.size());
        before_ = cut_in_rows(of_lane_before(g, all, shared), list.size());
    }
    values total(std::size_t k) const {
        return g_.has_sub_groups() ? shuffle(g_, rows_[k], g_.last(), shared_) : rows_[k];
    }
    /// The scan of row k before the lane's element; in the first lane the element's own.
    values before(std::size_t k) const {
        if (g_.is_single()) return rows_[k];
        return g_.has_sub_groups() ? shuffle_up(g_, rows_[k], 1, shared_) : before_[k];
    }

private:
    const group& g_;
    const arrays& shared_;
    elements rows_;    ///< inclusive; without sub-groups the rows' totals
    elements before_;  ///< only without sub-groups
};

}  // namespace

striped_scan scan_exclusive_striped(const group& g, const operation& does, const elements& list,
                                    const arrays& shared, values* total) {
    const scanned_rows rows(g, does, list, shared);
    striped_scan made;
    values own;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const values ahead = k == 0 ? does.identity() : own, in_row = rows.before(k), of_row = rows.total(k);
        made.before.push_back(variables("before", ahead));
        IF (g.lane() > 0) {
            write(made.before[k], k == 0 ? in_row : does.combined(ahead, in_row));
        }
        own = k == 0 ? of_row : does.combined(ahead, of_row);
    }
    made.ahead = ahead_of_sub_group(g, does, own, shared.first(own.size()), total);
    for (values& each : made.before) each = read(each);
    return made;
}

void scan_array(const group& g, const operation& does, const arrays& array, const Int& count,
                const arrays& shared, values* total) {
    const Int each = named("each", (count + (g.items() - 1)) / g.items());
    const Int begin = named("begin", min(g.item() * each, count)),
              end = named("end", min(begin + each, count));
    const values own = variables("own", does.identity());
    for (Int k : named("k", range(begin, end))) write(own, does.combined(read(own), array.load(k)));
    const values sum = variables("sum", scan_exclusive(g, does, read(own), shared, total));
    for (Int k : named("k", range(begin, end))) {
        const values next = does.combined(read(sum), array.load(k));
        array.store(k, read(sum));
        write(sum, next);
    }
}

}  // namespace balm::block
