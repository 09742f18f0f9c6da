#pragma once
// The kernels that multiply matrices on GPUs. The work-items of a team find the columns of a row in a hash
// table in local memory, and sort them. How many work-items share a row, and the size of its table, depend on
// the number of its products. Then each work-item computes an entry of the result: from each row of B that
// A's entries name, it takes the entry in its column, found by binary search. The sum is in the order of A's
// entries, without atomic operations, and what the searches read is in the caches.

#include <array>
#include <cstdint>
#include <limits>

#include "algorithm/sparse/column_hash.hpp"
#include "balm/balm.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array::row_products {

using namespace balm::dsl;

/// Work-items of a group that computes rows on GPUs.
constexpr int group_items = 256;
/// Rows with at most this many products or columns have tables of 2^slot_bits slots in local memory.
/// 2^team_bits work-items share a row there, and 2^sum_bits while its entries, which are fewer, are computed.
struct row_class {
    std::int64_t most_products;
    int team_bits, slot_bits, sum_bits;
};
constexpr std::array<row_class, 5> row_classes{
    row_class{16, 3, 5, 3}, {32, 3, 6, 3}, {128, 5, 8, 4}, {512, 6, 10, 5}, {6144, 8, 13, 8}};
/// Rows without products come before the classes; expanded rows come after them.
constexpr int class_count = static_cast<int>(row_classes.size()) + 2, expanded_class = class_count - 1;
/// Maximum entries of A's row that each entry of the result searches for.
constexpr std::int64_t most_searches = 128;

/// The class of a row: how it is computed.
template <class I>
const auto& class_of_row() {
    static const auto& made = *new auto(function(
        "class_of_row(row, work, a_starts, columns)", [](Index row, Long work, In<I> a_starts, Long columns) {
            const Long bound = min(work, columns);
            Int found = select(work == 0, 0, 1);
            for (const row_class& each : row_classes) found += select(bound > each.most_products, 1, 0);
            const Long length = cast<std::int64_t>(Var<I>(a_starts[row + 1]) - Var<I>(a_starts[row]));
            return select(work > 0 && length > most_searches, Int(expanded_class), found);
        }));
    return made;
}

/// The row of a list that a work-item computes: each team of 2^team_bits work-items has one.
struct team_place {
    team_place(const Int& team_bits, const Index& begin, const Index& end)
        : item(cast<int>(local_id(0))),
          size(Int(1) << team_bits),
          lane(item & (size - 1)),
          team(item >> team_bits),
          at(begin + group_id(0) * cast<std::int64_t>(Int(group_items) >> team_bits) +
             cast<std::int64_t>(team)),
          has_row(at < end) {}
    Int item, size, lane, team;
    Index at;
    Bool has_row;
};

/// Sorts `count` adjacent tables of 2^bits integers with all work-items of the group (K. Batcher, Sorting
/// networks and their applications, 1968).
inline void sort_tables(const Local<std::int32_t>& tables, const Int& count, const Int& bits,
                        const Int& item) {
    const Int in_table = (Int(1) << bits) - 1, pairs = (count << bits) >> 1;
    for (Int stage : named("stage", range(Int(1), bits + 1)))
        for (Int step : named("step", range(Int(0), stage))) {
            const Int distance = Int(1) << (stage - 1 - step);
            for (Int pair : named("pair", range(item, pairs, Int(group_items)))) {
                const Int in_run = pair & (distance - 1);
                const Int low = ((pair - in_run) << 1) + in_run, high = low + distance;
                const Bool ascends = (low & in_table & (Int(1) << stage)) == 0;
                const Int a = tables[low], b = tables[high];
                BALM_IF ((b < a) == ascends) {
                    tables[low] = b;
                    tables[high] = a;
                }
            }
            local_barrier();
        }
}

// NOLINTBEGIN(performance-unnecessary-value-param): a kernel's parameters are values
template <class I>
const auto& collect_columns() {
    static const auto& made = *new auto(kernel<1>(
        "collect_columns(begin, end, list, team_bits, across_bits, slot_bits, a_starts, a_columns, b_starts, "
        "b_columns, rooms, found, counts, slots)",
        [](Long begin, Long end, In<I> list, Int team_bits, Int across_bits, Int slot_bits, In<I> a_starts,
           In<I> a_columns, In<I> b_starts, In<I> b_columns, In<std::int64_t> rooms, InOut<I> found,
           Out<I> counts, Local<std::int32_t> slots) {
            constexpr std::int32_t empty = std::numeric_limits<std::int32_t>::max();
            LocalArray<std::int32_t, group_items> inserted;
            LocalArray<std::int32_t, 1> most_inserted;
            const team_place place(team_bits, begin, end);
            const Int teams = Int(group_items) >> team_bits;
            for (Int k : named("k", range(place.item, teams << slot_bits, Int(group_items))))
                slots[k] = empty;
            BALM_IF (place.lane == 0) {
                inserted[place.team] = 0;
            }
            BALM_IF (place.item == 0) {
                most_inserted[0] = 1;
            }
            local_barrier();
            Index row = 0, room = 0;
            BALM_IF (place.has_row) {
                row = cast<std::int64_t>(list[place.at]);
                room = rooms[row];
                const Int first = place.team << slot_bits, last_slot = (Int(1) << slot_bits) - 1;
                const Int across = Int(1) << across_bits;
                const Var<I> own_first = cast<I>(place.lane & (across - 1)), step = cast<I>(across);
                for (Var<I> k :
                     named("k", range(Var<I>(a_starts[row]) + cast<I>(place.lane >> across_bits),
                                      Var<I>(a_starts[row + 1]), cast<I>(place.size >> across_bits)))) {
                    const Var<I> middle = a_columns[k];
                    for (Var<I> l : named("l", range(Var<I>(b_starts[middle]) + own_first,
                                                     Var<I>(b_starts[middle + I{1}]), step))) {
                        const Int column = cast<int>(b_columns[l]);
                        Int slot = cast<int>(hashed<int>(column, cast<unsigned>(slot_bits)));
                        Bool searches = true;
                        BALM_WHILE (searches) {
                            Int there = slots[first + slot];
                            BALM_IF (there == empty) {
                                there = atomic_compare_exchange(slots[first + slot], empty, column);
                                BALM_IF (there == empty) {
                                    const Int at = atomic_add(inserted[place.team], 1);
                                    found[room + cast<std::int64_t>(at)] = cast<I>(column);
                                    there = column;
                                }
                            }
                            searches = there != column;
                            slot = (slot + 1) & last_slot;
                        }
                    }
                }
            }
            barrier();
            const Int count = inserted[place.team];
            BALM_IF (place.lane == 0 && place.has_row) {
                counts[row] = cast<I>(count);
                atomic_max(most_inserted[0], count);
            }
            local_barrier();
            // Tables with just enough room for the columns, in the same memory.
            Int bits = 0;
            BALM_WHILE ((Int(1) << bits) < Int(most_inserted[0])) {
                bits += 1;
            }
            const Int first = place.team << bits;
            for (Int k : named("k", range(place.lane, Int(1) << bits, place.size))) {
                Int column = empty;
                BALM_IF (k < count) {
                    column = cast<int>(found[room + cast<std::int64_t>(k)]);
                }
                slots[first + k] = column;
            }
            local_barrier();
            sort_tables(slots, teams, bits, place.item);
            for (Int k : named("k", range(place.lane, count, place.size)))
                found[room + cast<std::int64_t>(k)] = cast<I>(slots[first + k]);
        }));
    return made;
}

template <class T, class I>
const auto& add_up_entries() {
    static const auto& made = *new auto(kernel<1>(
        "add_up_entries(begin, end, list, team_bits, a_starts, a_columns, a_values, b_starts, b_columns, "
        "b_values, rooms, found, starts, columns, values)",
        [](Long begin, Long end, In<I> list, Int team_bits, In<I> a_starts, In<I> a_columns, In<T> a_values,
           In<I> b_starts, In<I> b_columns, In<T> b_values, In<std::int64_t> rooms, In<I> found, In<I> starts,
           Out<I> columns, Out<T> values) {
            const team_place place(team_bits, begin, end);
            BALM_IF (place.has_row) {
                const Index row = cast<std::int64_t>(list[place.at]);
                const Var<I> to = starts[row], count = Var<I>(starts[row + 1]) - to;
                const Index room = rooms[row];
                const Var<I> a_begin = a_starts[row], a_end = a_starts[row + 1];
                for (Var<I> entry : named("entry", range(cast<I>(place.lane), count, cast<I>(place.size)))) {
                    const Var<I> column = found[room + cast<std::int64_t>(entry)];
                    Var<T> sum;
                    for (Var<I> k : named("k", range(a_begin, a_end))) {
                        const Var<I> middle = a_columns[k];
                        Var<I> at = b_starts[middle], left = Var<I>(b_starts[middle + I{1}]) - at;
                        const Var<I> stop = at + left;
                        BALM_WHILE (left > I{0}) {
                            const Var<I> half = (left + I{1}) >> I{1};
                            at += select(Var<I>(b_columns[at + half - I{1}]) < column, half, I{0});
                            left -= half;
                        }
                        BALM_IF (at < stop && Var<I>(b_columns[at]) == column) {
                            sum += Var<T>(a_values[k]) * Var<T>(b_values[at]);
                        }
                    }
                    columns[to + entry] = column;
                    values[to + entry] = sum;
                }
            }
        }));
    return made;
}
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace balm::array::row_products
