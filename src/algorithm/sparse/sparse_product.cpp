// Products of matrices, row by row (Gustavson, 1978): row r of A * B adds up the rows of B that A's entries
// in row r name.
//
// On CPUs a work-item computes neighbouring rows with a hash table of its own, which is as long as a row of
// the result where that is no longer (Nagasaka et al., 2017). Rows are counted, then computed.
//
// On GPUs work-items of a team find the columns of a row in a hash table in local memory, and sort them; how
// many share a row, and how large its table is, depends on the number of its products. Then a work-item
// computes an entry of the result: of each row of B that A's entries name it takes the entry in its column,
// which a binary search finds. That adds up in the order of A's entries, without atomic operations, and what
// the searches read is in the caches. Rows of very many products, or of many entries of A, each of which
// would be searched for each of the result's, are expanded: products are triplets, which are sorted.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/assembly.hpp"
#include "algorithm/sparse/device_entries.hpp"
#include "algorithm/sparse/host_entries.hpp"
#include "algorithm/sparse/matrix_look.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using device_handle = std::shared_ptr<runtime::device_state>;

/// Work-items of a group that computes rows on GPUs.
constexpr int group_items = 256;
/// Rows of so many products at most, or of so many columns, have tables of 2^slot_bits slots in local memory.
/// 2^team_bits work-items share a row there, and 2^sum_bits when its entries are computed, which are fewer.
struct row_class {
    std::int64_t most_products;
    int team_bits, slot_bits, sum_bits;
};
constexpr std::array<row_class, 5> row_classes{
    row_class{16, 3, 5, 3}, {32, 3, 6, 3}, {128, 5, 8, 4}, {512, 6, 10, 5}, {6144, 8, 13, 8}};
/// Rows without products, ahead of the classes; rows that are expanded behind them.
constexpr int class_count = static_cast<int>(row_classes.size()) + 2, expanded_class = class_count - 1;
/// Entries of A's rows at most that each entry of the result searches for.
constexpr std::int64_t most_searches = 128;
/// Products of the rows that are computed at a time, for which there is memory, at most.
constexpr std::size_t most_products = std::size_t{1} << 27, bytes_of_product = 256;
/// Chunks of rows for each compute unit of a CPU, and bytes of their tables.
constexpr std::size_t cpu_chunks_per_unit = 4, cpu_table_bytes = std::size_t{1} << 30;

template <class I>
const auto& row_work() {
    static const auto& made = *new auto(function(
        "row_work(row, a_starts, a_columns, b_starts)",
        [](Index row, In<I> a_starts, In<I> a_columns, In<I> b_starts) {
            Index products = 0;
            for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                const Var<I> middle = a_columns[k];
                products += cast<std::int64_t>(Var<I>(b_starts[middle + I{1}]) - Var<I>(b_starts[middle]));
            }
            return products;
        }));
    return made;
}

/// A multiplicative hash of a column, from 0 to 2^bits - 1.
template <class I>
UInt hashed(const Var<I>& column, const UInt& bits) {
    return (cast<unsigned>(column) * 2654435769u) >> (32u - bits);
}

// ---- CPUs

/// A work-item's table: columns that are of the row now, and where the row's sums are.
template <class I>
struct table {
    Mixed<I> columns, rows;
    Index first;
    UInt bits;
    Bool is_dense;

    /// Where a column is, or will be.
    Index slot_of(const Var<I>& column, const Var<I>& row) const {
        UInt at = select(is_dense, cast<unsigned>(column), hashed<I>(column, bits));
        Index slot = first + cast<std::int64_t>(at);
        BALM_WHILE (Var<I>(rows[slot]) == row && Var<I>(columns[slot]) != column) {
            at = (at + 1u) & ((UInt(1u) << bits) - 1u);
            slot = first + cast<std::int64_t>(at);
        }
        return slot;
    }
};

template <class I>
const auto& count_entries() {
    static const auto& made = *new auto(kernel<1>(
        "count_entries(chunks, table_rows, table_columns, bits, is_dense, a_starts, a_columns, b_starts, "
        "b_columns, counts)",
        [](In<std::int64_t> chunks, Mixed<I> table_rows, Mixed<I> table_columns, UInt bits, Bool is_dense,
           In<I> a_starts, In<I> a_columns, In<I> b_starts, In<I> b_columns, Out<I> counts) {
            const Index chunk = global_id(0);
            const table<I> own{table_columns, table_rows, chunk << cast<std::int64_t>(bits), bits, is_dense};
            for (Index row : named("row", range(Index(chunks[chunk]), Index(chunks[chunk + 1])))) {
                const Var<I> mark = cast<I>(row);
                Var<I> count;
                for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                    const Var<I> middle = a_columns[k];
                    for (Var<I> l :
                         named("l", range(Var<I>(b_starts[middle]), Var<I>(b_starts[middle + I{1}])))) {
                        const Var<I> column = b_columns[l];
                        const Index slot = own.slot_of(column, mark);
                        BALM_IF (Var<I>(table_rows[slot]) != mark) {
                            table_rows[slot] = mark;
                            table_columns[slot] = column;
                            count += I{1};
                        }
                    }
                }
                counts[row] = count;
            }
        }));
    return made;
}

/// Shell's sort with Knuth's gaps.
template <class I>
void sort_columns(const Mixed<I>& columns, const Var<I>& begin, const Var<I>& end) {
    Var<I> gap = I{1};
    BALM_WHILE (gap * I{9} < end - begin) {
        gap = gap * I{3} + I{1};
    }
    BALM_WHILE (gap > I{0}) {
        for (Var<I> k : named("k", range(begin + gap, end))) {
            const Var<I> moved = columns[k];
            Var<I> to = k;
            BALM_WHILE (to >= begin + gap && Var<I>(columns[to - gap]) > moved) {
                columns[to] = columns[to - gap];
                to -= gap;
            }
            columns[to] = moved;
        }
        gap = gap / I{3};
    }
}

template <class T, class I>
const auto& compute_rows() {
    static const auto& made = *new auto(kernel<1>(
        "compute_rows(chunks, table_rows, table_columns, table_sums, bits, is_dense, a_starts, a_columns, "
        "a_values, b_starts, b_columns, b_values, starts, columns, values)",
        [](In<std::int64_t> chunks, Mixed<I> table_rows, Mixed<I> table_columns, Mixed<T> table_sums,
           UInt bits, Bool is_dense, In<I> a_starts, In<I> a_columns, In<T> a_values, In<I> b_starts,
           In<I> b_columns, In<T> b_values, In<I> starts, Mixed<I> columns, Out<T> values) {
            const Index chunk = global_id(0);
            const table<I> own{table_columns, table_rows, chunk << cast<std::int64_t>(bits), bits, is_dense};
            for (Index row : named("row", range(Index(chunks[chunk]), Index(chunks[chunk + 1])))) {
                const Var<I> mark = cast<I>(row), begin = starts[row];
                Var<I> end = begin;
                for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                    const Var<I> middle = a_columns[k];
                    const Var<T> factor = a_values[k];
                    for (Var<I> l :
                         named("l", range(Var<I>(b_starts[middle]), Var<I>(b_starts[middle + I{1}])))) {
                        const Var<I> column = b_columns[l];
                        const Index slot = own.slot_of(column, mark);
                        Var<T> sum;
                        BALM_IF (Var<I>(table_rows[slot]) == mark) {
                            sum = table_sums[slot];
                        }
                        BALM_ELSE {
                            table_rows[slot] = mark;
                            table_columns[slot] = column;
                            columns[end] = column;
                            end += I{1};
                        }
                        table_sums[slot] = sum + factor * Var<T>(b_values[l]);
                    }
                }
                sort_columns<I>(columns, begin, end);
                for (Var<I> k : named("k", range(begin, end)))
                    values[k] = table_sums[own.slot_of(Var<I>(columns[k]), mark)];
            }
        }));
    return made;
}

// ---- GPUs

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

/// Which of a list of rows a work-item computes: teams of 2^team_bits work-items each have one.
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

/// Sorts tables of 2^bits integers side by side, as many as the work-items of the group take altogether
/// (K. Batcher, Sorting networks and their applications, 1968).
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
           In<I> a_columns, In<I> b_starts, In<I> b_columns, In<std::int64_t> rooms, Mixed<I> found,
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
            // Tables that have just room for the columns, in the same memory.
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

/// Of entry e of rows in a list, which are numbered one row after the other: where it is in A, and how many
/// products it has.
template <class I>
Index entry_of(const Index& e, const In<I>& owners, const In<I>& begins, const In<I>& list,
               const In<I>& a_starts) {
    const Var<I> owner = owners[e];
    return cast<std::int64_t>(a_starts[list[owner]]) + e - cast<std::int64_t>(begins[owner]);
}
template <class I>
const auto& entry_work() {
    static const auto& made = *new auto(function(
        "entry_work(e, owners, begins, list, a_starts, a_columns, b_starts)",
        [](Index e, In<I> owners, In<I> begins, In<I> list, In<I> a_starts, In<I> a_columns, In<I> b_starts) {
            const Var<I> middle = a_columns[entry_of<I>(e, owners, begins, list, a_starts)];
            return cast<std::int64_t>(Var<I>(b_starts[middle + I{1}]) - Var<I>(b_starts[middle]));
        }));
    return made;
}
template <class T, class I>
const auto& expand() {
    static const auto& made = *new auto(
        function("expand(p, entries, firsts, owners, begins, list, a_starts, a_columns, a_values, b_starts, "
                 "b_columns, "
                 "b_values, rows, columns, products)",
                 [](Index p, In<std::int64_t> entries, In<std::int64_t> firsts, In<I> owners, In<I> begins,
                    In<I> list, In<I> a_starts, In<I> a_columns, In<T> a_values, In<I> b_starts,
                    In<I> b_columns, In<T> b_values, Out<I> rows, Out<I> columns, Out<T> products) {
                     const Index e = entries[p];
                     const Index k = entry_of<I>(e, owners, begins, list, a_starts);
                     const Index l = cast<std::int64_t>(b_starts[a_columns[k]]) + p - firsts[e];
                     rows[p] = owners[e];
                     columns[p] = b_columns[l];
                     products[p] = Var<T>(a_values[k]) * Var<T>(b_values[l]);
                 }));
    return made;
}
/// Rows that were computed apart into the result.
template <class T, class I>
const auto& copy_rows() {
    static const auto& made = *new auto(
        function("copy_rows(e, owners, begins, list, from_columns, from_values, starts, columns, values)",
                 [](Index e, In<I> owners, In<I> begins, In<I> list, In<I> from_columns, In<T> from_values,
                    In<I> starts, Out<I> columns, Out<T> values) {
                     const Index to = entry_of<I>(e, owners, begins, list, starts);
                     columns[to] = from_columns[e];
                     values[to] = from_values[e];
                 }));
    return made;
}

template <class T, class I>
class row_product {
public:
    row_product(const device_csr& a, const device_csr& b)
        : device_(a.starts->device_handle()),
          on_cpu_(is_stored_as_on_cpu(*device_)),
          a_(a),
          b_(on_cpu_ ? b : with_ascending_columns(b)),
          a_columns_(a_.column_indices),
          b_starts_(b_.starts),
          b_columns_(b_.column_indices),
          a_values_(a_.values),
          b_values_(b_.values) {}

    device_csr run() {
        if (a_.entries == 0 || b_.entries == 0) return rows_of(a_.rows, zeros(a_.rows + 1), 0);
        const vector<I> starts(a_.starts);
        const vector<std::int64_t> work(row_work<I>()(numbers_to(a_.rows), starts, a_columns_, b_starts_));
        if (on_cpu_) return computed_by_items(starts, work);
        const auto products = static_cast<std::size_t>(sum(work));
        const std::size_t most =
            std::clamp<std::size_t>(device_->info().global_memory / bytes_of_product, 1, most_products);
        if (products <= most) return computed_by_groups(starts, work);
        std::vector<csr_part> parts;
        std::size_t entries = 0;
        std::size_t row = 0;
        for (const std::size_t end : ends_of_parts(work, products, most)) {
            const auto offset = static_cast<std::int64_t>(row);
            const std::size_t count = end - row;
            const vector<I> own_starts(starts[element_index(offset, count + 1)]);
            const vector<std::int64_t> own_work(work[element_index(offset, count)]);
            parts.push_back({computed_by_groups(own_starts, own_work), 0});
            entries += parts.back().matrix.entries;
            row = end;
        }
        check_fit(a_.rows, b_.columns, entries, a_.index);
        return joined(parts, b_.columns);
    }

private:
    vector<I> zeros(std::size_t count) const {
        vector<I> made = elements_on<I>(device_, count);
        made = I{0};
        return made;
    }
    device_csr rows_of(std::size_t rows, const vector<I>& starts, std::size_t entries) const {
        device_csr made;
        made.rows = rows;
        made.columns = b_.columns;
        made.entries = entries;
        made.value = a_.value;
        made.index = a_.index;
        made.ascends = true;
        made.starts = starts.state();
        made.column_indices = elements_on<I>(device_, entries).state();
        made.values = elements_on<T>(device_, entries).state();
        return made;
    }
    /// Rows of these lengths, whose entries are to be computed.
    device_csr rows_of(const vector<I>& counts, std::size_t rows) const {
        check_fit(rows, b_.columns, static_cast<std::size_t>(sum(cast<std::int64_t>(counts))), a_.index);
        auto [starts, entries] = starts_of<I>(counts, rows, device_);
        return rows_of(rows, starts, entries);
    }

    /// Where to cut the rows, so that parts have at most so many products, unless they are of one row.
    std::vector<std::size_t> ends_of_parts(const vector<std::int64_t>& work, std::size_t products,
                                           std::size_t most) const {
        vector<std::int64_t> up_to(inclusive_scan(work));
        const host_array<std::int64_t> found =
            vector<std::int64_t>(
                lower_bound(up_to, (element_index(1, divided_up(products, most))) * signed_of(most)))
                .to_host();
        std::vector<std::size_t> ends;
        for (const std::int64_t row : found) {
            const std::size_t last = ends.empty() ? 0 : ends.back();
            const std::size_t end = std::min(std::max(static_cast<std::size_t>(row), last + 1), a_.rows);
            if (end > last) ends.push_back(end);
        }
        if (ends.empty() || ends.back() < a_.rows) ends.push_back(a_.rows);
        return ends;
    }

    device_csr computed_by_items(const vector<I>& starts, const vector<std::int64_t>& work) const {
        const auto columns = signed_of(b_.columns);
        const auto longest = static_cast<std::size_t>(max(min(work, columns)));
        std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * longest, 2));
        const bool is_dense = slots >= b_.columns;
        if (is_dense) slots = std::bit_ceil(std::max<std::size_t>(b_.columns, 2));
        const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
        const std::size_t fitting = cpu_table_bytes / (slots * (2 * sizeof(I) + sizeof(T)));
        const std::size_t chunks = std::min(a_.rows, std::clamp(fitting, units, units * cpu_chunks_per_unit));

        // Chunks have about as many products, and rows, each.
        vector<std::int64_t> up_to(inclusive_scan(work + std::int64_t{1}));
        const std::int64_t all = up_to[a_.rows - 1];
        const std::int64_t each = (all + signed_of(chunks) - 1) / signed_of(chunks);
        vector<std::int64_t> firsts = elements_on<std::int64_t>(device_, chunks + 1);
        firsts = select(element_index() == signed_of(chunks), signed_of(a_.rows),
                        lower_bound(up_to, element_index() * each));

        vector<I> table_rows = elements_on<I>(device_, chunks * slots),
                  table_columns = elements_on<I>(device_, chunks * slots);
        const auto bits = static_cast<std::uint32_t>(std::countr_zero(slots));
        const device on(device_);
        vector<I> counts = elements_on<I>(device_, a_.rows);
        table_rows = I{-1};
        event counted = on.execute(count_entries<I>()(firsts, table_rows, table_columns, bits, is_dense,
                                                      starts, a_columns_, b_starts_, b_columns_, counts),
                                   groups(chunks, 1));
        device_csr made = rows_of(counts, a_.rows);
        vector<T> sums = elements_on<T>(device_, chunks * slots), values(made.values);
        vector<I> own_columns(made.column_indices);
        table_rows = I{-1};
        event computed =
            on.execute(compute_rows<T, I>()(firsts, table_rows, table_columns, sums, bits, is_dense, starts,
                                            a_columns_, a_values_, b_starts_, b_columns_, b_values_,
                                            vector<I>(made.starts), own_columns, values),
                       groups(chunks, 1));
        return made;
    }

    device_csr computed_by_groups(const vector<I>& starts, const vector<std::int64_t>& work) {
        const std::size_t rows = work.size();
        const bool has_tables = b_.columns <= std::numeric_limits<std::int32_t>::max();
        vector<std::uint8_t> classes = elements_on<std::uint8_t>(device_, rows);
        if (has_tables)
            classes =
                cast<std::uint8_t>(class_of_row<I>()(numbers_to(rows), work, starts, signed_of(b_.columns)));
        else
            classes = select(work > std::int64_t{0}, std::uint8_t{expanded_class}, std::uint8_t{0});
        const auto in_class = [&](int k) { return count_of(classes == static_cast<std::uint8_t>(k)); };
        const auto sizes =
            reduce(in_class(0), in_class(1), in_class(2), in_class(3), in_class(4), in_class(5), in_class(6));
        static_assert(std::tuple_size_v<decltype(sizes)> == class_count);
        std::array<std::size_t, class_count + 1> ends{};  // of each class in the list, behind a 0
        std::apply(
            [&](auto... size) {
                std::size_t k = 0;
                ((ends[k + 1] = ends[k] + static_cast<std::size_t>(size), ++k), ...);
            },
            sizes);
        const vector<I> list(argsort<I>(classes));
        const auto expanded_from = ends[expanded_class];

        // Columns have as much room as they may need.
        const vector<std::int64_t> needed(select(classes == std::uint8_t{expanded_class}, std::int64_t{0},
                                                 min(work, signed_of(b_.columns))));
        const auto [rooms, room] = starts_of<std::int64_t>(needed, rows, device_);
        vector<I> found = elements_on<I>(device_, room), counts = zeros(rows);
        const device on(device_);
        for (std::size_t k = 0; k < row_classes.size(); ++k) {
            const std::size_t begin = ends[k + 1], end = ends[k + 2];
            if (begin == end) continue;
            const int team_bits = row_classes[k].team_bits, slot_bits = row_classes[k].slot_bits;
            event done = on.execute(
                collect_columns<I>()(signed_of(begin), signed_of(end), list, team_bits,
                                     std::min(across_bits(), team_bits), slot_bits, starts, a_columns_,
                                     b_starts_, b_columns_, rooms, found, counts,
                                     local<std::int32_t>(std::size_t{group_items} >> team_bits << slot_bits)),
                groups(groups_of(end - begin, team_bits), group_items));
        }
        const std::size_t expanded_rows = rows - expanded_from;
        device_csr expanded;
        vector<I> expanded_list;
        if (expanded_rows > 0) {
            expanded_list = vector<I>(list[element_index(signed_of(expanded_from), expanded_rows)]);
            expanded = expanded_product(starts, expanded_list);
            const vector<I> lengths(expanded.starts);
            counts[cast<std::int64_t>(expanded_list)] =
                lengths[element_index(1, expanded_rows)] - lengths[element_index(0, expanded_rows)];
        }
        device_csr made = rows_of(counts, rows);
        vector<I> columns(made.column_indices);
        vector<T> values(made.values);
        const vector<I> to(made.starts);
        for (std::size_t k = 0; k < row_classes.size(); ++k) {
            const std::size_t begin = ends[k + 1], end = ends[k + 2];
            if (begin == end) continue;
            const int sum_bits = row_classes[k].sum_bits;
            event done =
                on.execute(add_up_entries<T, I>()(signed_of(begin), signed_of(end), list, sum_bits, starts,
                                                  a_columns_, a_values_, b_starts_, b_columns_, b_values_,
                                                  rooms, found, to, columns, values),
                           groups(groups_of(end - begin, sum_bits), group_items));
        }
        if (expanded_rows > 0 && expanded.entries > 0) {
            const vector<I> begins(expanded.starts);
            const vector<I> owners = segment_numbers<I>(begins, expanded_rows, expanded.entries);
            eval(copy_rows<T, I>()(numbers_to(expanded.entries), owners, begins, expanded_list,
                                   vector<I>(expanded.column_indices), vector<T>(expanded.values), to,
                                   columns, values));
        }
        return made;
    }
    static std::size_t groups_of(std::size_t rows, int team_bits) {
        return divided_up(rows, std::size_t{group_items} >> team_bits);
    }
    /// Of the work-items that share a row, log2 of how many share a row of B: as many as these have entries.
    int across_bits() const {
        return static_cast<int>(std::bit_width(std::max<std::size_t>(b_.entries / b_.rows, 1))) - 1;
    }

    device_csr expanded_product(const vector<I>& starts, const vector<I>& list) const {
        const std::size_t rows = list.size();
        const vector<I> own =
            vector<I>(starts[cast<std::int64_t>(list) + std::int64_t{1}] - starts[cast<std::int64_t>(list)]);
        const auto [begins, entries] = starts_of<I>(own, rows, device_);
        const vector<I> owners = segment_numbers<I>(begins, rows, entries);
        const auto [firsts, products] = starts_of<std::int64_t>(
            entry_work<I>()(numbers_to(entries), owners, begins, list, starts, a_columns_, b_starts_),
            entries, device_);
        const vector<std::int64_t> of_entry = segment_numbers<std::int64_t>(firsts, entries, products);
        vector<I> in_rows = elements_on<I>(device_, products), in_columns = elements_on<I>(device_, products);
        vector<T> values = elements_on<T>(device_, products);
        eval(expand<T, I>()(numbers_to(products), of_entry, firsts, owners, begins, list, starts, a_columns_,
                            a_values_, b_starts_, b_columns_, b_values_, in_rows, in_columns, values));
        return combined(rows, b_.columns, cast<std::int64_t>(in_rows), cast<std::int64_t>(in_columns),
                        values.state(), products, a_.index);
    }

    const device_handle device_;
    const bool on_cpu_;
    const device_csr a_, b_;
    const vector<I> a_columns_, b_starts_, b_columns_;
    const vector<T> a_values_, b_values_;
};

}  // namespace

device_csr multiplied(const device_csr& a, const device_csr& b) {
    return with_types(a.value, a.index, [&]<class T, class I>() { return row_product<T, I>(a, b).run(); });
}

}  // namespace balm::array
