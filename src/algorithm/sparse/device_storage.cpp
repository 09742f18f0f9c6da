// Analyses a matrix in device memory, and makes the arrays of its storage there.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/device_entries.hpp"
#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/matrix_look.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using device_handle = std::shared_ptr<runtime::device_state>;

template <class I>
const auto& row_length() {
    static const auto& made = *new auto(function("row_length(row, starts)", [](Index row, In<I> starts) {
        return cast<std::int64_t>(Var<I>(starts[row + 1]) - Var<I>(starts[row]));
    }));
    return made;
}
/// The length of a slice's longest row.
template <class I>
const auto& slice_width() {
    static const auto& made =
        *new auto(function("slice_width(slice, rows, starts)", [](Index slice, Index rows, In<I> starts) {
            const Index first = slice * static_cast<std::int64_t>(slice_rows);
            Var<I> widest;
            for (Index row :
                 named("row", range(first, min(first + static_cast<std::int64_t>(slice_rows), rows))))
                widest = max(widest, Var<I>(starts[row + 1]) - Var<I>(starts[row]));
            return cast<std::int64_t>(widest);
        }));
    return made;
}
/// The number of entries in `length` rows.
template <class I>
const auto& chunk_entries() {
    static const auto& made =
        *new auto(function("chunk_entries(chunk, length, rows, starts)", [](Index chunk, Index length,
                                                                            Index rows, In<I> starts) {
            const Index first = chunk * length;
            return cast<std::int64_t>(Var<I>(starts[min(first + length, rows)]) - Var<I>(starts[first]));
        }));
    return made;
}
/// seen[column - row + rows] = 1 for each of a row's entries.
template <class I>
const auto& mark_diagonals() {
    static const auto& made = *new auto(
        function("mark_diagonals(row, rows, starts, columns, seen)",
                 [](Index row, Index rows, In<I> starts, In<I> columns, InOut<std::uint8_t> seen) {
                     for (Var<I> k : named("k", range(Var<I>(starts[row]), Var<I>(starts[row + 1])))) {
                         const Index at = cast<std::int64_t>(columns[k]) - row + rows;
                         BALM_IF (cast<std::int32_t>(seen[at]) == 0) {
                             seen[at] = std::uint8_t{1};
                         }
                     }
                 }));
    return made;
}
template <class T, class I>
const auto& copy_to_diagonals() {
    static const auto& made = *new auto(function(
        "copy_to_diagonals(row, offsets, count, stride, starts, columns, values, diagonals)",
        [](Index row, In<std::int64_t> offsets, Index count, Index stride, In<I> starts, In<I> columns,
           In<T> values, InOut<T> diagonals) {
            for (Var<I> k : named("k", range(Var<I>(starts[row]), Var<I>(starts[row + 1])))) {
                const Index offset = cast<std::int64_t>(columns[k]) - row;
                const Index d = balm::detail::leading(
                    offsets, count, [&](const Index& before) { return Bool(before < offset); });
                diagonals[d * stride + row] =
                    Var<T>(diagonals[d * stride + row]) + diagonal_slots::as_entry(Var<T>(values[k]));
            }
        }));
    return made;
}
template <class T>
const auto& holds_entry() {
    static const auto& made =
        *new auto(function("holds_entry(slot, diagonals)", [](Index slot, In<T> diagonals) {
            return diagonal_slots::is_entry(Var<T>(diagonals[slot]));
        }));
    return made;
}
/// Rows after the last one are all padding.
template <class T, class I>
const auto& copy_to_slices() {
    static const auto& made = *new auto(
        function("copy_to_slices(row, rows, slices, starts, columns, values, to_columns, to_values)",
                 [](Index row, Index rows, In<std::int64_t> slices, In<I> starts, In<I> columns, In<T> values,
                    Out<I> to_columns, Out<T> to_values) {
                     constexpr auto step = static_cast<std::int64_t>(slice_rows);
                     const Index slice = row >> 5;
                     const Index end = slices[slice + 1];
                     Index to = slices[slice] + (row & (step - 1));
                     BALM_IF (row < rows) {
                         for (Var<I> k : named("k", range(Var<I>(starts[row]), Var<I>(starts[row + 1])))) {
                             to_columns[to] = columns[k];
                             to_values[to] = values[k];
                             to += step;
                         }
                     }
                     BALM_WHILE (to < end) {
                         to_columns[to] = I{-1};
                         to_values[to] = Var<T>();
                         to += step;
                     }
                 }));
    return made;
}
/// Which of a work-item's entries in balanced storage begin a row, given where rows with entries begin.
template <class I>
const auto& item_begins() {
    static const auto& made = *new auto(function(
        "item_begins(item, starts, rows, entries)", [](Index item, In<I> starts, Index rows, Index entries) {
            constexpr auto run = static_cast<std::int64_t>(tile_entries_of_item);
            const Index first = item * run;
            const Index end = min(first + run, entries);
            const auto start_of = [&](const Index& row) { return cast<std::int64_t>(starts[row]); };
            Index row = balm::detail::leading(
                starts, rows, [&](const Var<I>& start) { return Bool(cast<std::int64_t>(start) < first); });
            UInt begins = 0u;
            BALM_WHILE (row < rows && start_of(row) < end) {
                begins = begins | (UInt(1u) << cast<unsigned>(start_of(row) - first));
                row += 1;
            }
            BALM_IF (entries >= first && entries < first + run) {  // the padding is a row of its own
                begins = begins | (UInt(1u) << cast<unsigned>(entries - first));
            }
            return begins;
        }));
    return made;
}
/// The entry in a slot: the inverse of place_in_tiles.
template <class T, class I>
const auto& copy_to_tiles() {
    static const auto& made = *new auto(function(
        "copy_to_tiles(slot, entries, columns, values, to_columns, to_values)",
        [](Index slot, Index entries, In<I> columns, In<T> values, Out<I> to_columns, Out<T> to_values) {
            constexpr std::int64_t run = tile_entries_of_item, block = run * 32;
            const Index in_block = slot & (block - 1);
            const Index entry = slot - in_block + (in_block & 31) * run + (in_block >> 5);
            Var<I> column;
            Var<T> value;
            BALM_IF (entry < entries) {
                column = columns[entry];
                value = values[entry];
            }
            to_columns[slot] = column;
            to_values[slot] = value;
        }));
    return made;
}

template <class T, class I>
class device_builder {
public:
    device_builder(const device_csr& from, storage asked)
        : from_(from),
          device_(from.starts->device_handle()),
          on_cpu_(is_stored_as_on_cpu(*device_)),
          starts_(from.starts),
          columns_(from.column_indices),
          values_(from.values) {
        to_.how = asked;
        to_.value = from.value;
        to_.index = from.index;
        to_.rows = from.rows;
        to_.columns = from.columns;
        to_.entries = to_.kept = from.entries;
        to_.ascends = from.ascends;
    }

    stored_matrix run() {
        look_at_rows();
        if (to_.how == storage::automatic) {
            if (may_suit_diagonals()) look_at_diagonals();
            to_.how = chosen(seen_, sizeof(T), sizeof(I), on_cpu_, units());
        } else if (to_.how == storage::diagonals) {
            look_at_diagonals();
            if (!seen_.diagonals) refuse_diagonals();
        }
        to_.has_long_rows = seen_.long_rows > to_.rows / 2;
        switch (to_.how) {
            case storage::diagonals: make_diagonals(); break;
            case storage::slices: make_slices(); break;
            case storage::balanced:
                if (on_cpu_)
                    make_tiles_of_items();
                else
                    make_tiles_of_groups();
                break;
            default: make_rows();
        }
        to_.words = described(to_, seen_);
        return std::move(to_);
    }

private:
    std::size_t units() const { return std::max<std::size_t>(device_->info().compute_units, 1); }
    template <class E>
    vector<E> elements(std::size_t count) const {
        return elements_on<E>(device_, count);
    }
    template <class E>
    vector<E> uploaded(const std::vector<E>& list) const {
        vector<E> made = elements<E>(list.size());
        if (!list.empty()) write(*made.state(), 0, list.data(), list.size());
        return made;
    }

    void look_at_rows() {
        seen_.rows = from_.rows;
        seen_.entries = from_.entries;
        if (from_.rows == 0) return;
        const vector<std::int64_t> lengths(row_length<I>()(numbers_to(from_.rows), starts_));
        const auto [filled, long_rows] = reduce(count_of(lengths > std::int64_t{0}),
                                                count_of(lengths >= static_cast<std::int64_t>(long_row)));
        const auto [slots, widest, narrowest] = [&] {
            const vector<std::int64_t> widths(slice_width<I>()(numbers_to(divided_up(from_.rows, slice_rows)),
                                                               signed_of(from_.rows), starts_));
            return reduce(sum_of(widths), max_of(widths), min_of(widths));
        }();
        seen_.filled_rows = static_cast<std::size_t>(filled);
        seen_.long_rows = static_cast<std::size_t>(long_rows);
        seen_.slice_slots = static_cast<std::size_t>(slots) * slice_rows;
        seen_.longest_row = seen_.widest_slice = static_cast<std::size_t>(widest);
        seen_.narrowest_slice = static_cast<std::size_t>(narrowest);
        if (on_cpu_)
            seen_.fullest_chunk = static_cast<std::size_t>(
                max(chunk_entries<I>()(numbers_to(divided_up(from_.rows, cpu_rows)), signed_of(cpu_rows),
                                       signed_of(from_.rows), starts_)));
    }
    /// Whether finding the diagonals is worth one byte for each possible one.
    bool may_suit_diagonals() const {
        return seen_.longest_row <= most_diagonals && from_.columns <= 64 * (from_.entries + 64) &&
               suits_diagonals(seen_, seen_.longest_row, sizeof(T), sizeof(I));
    }
    void look_at_diagonals() {
        seen_.diagonals.emplace();
        if (from_.entries == 0) return;
        vector<std::uint8_t> marks = elements<std::uint8_t>(from_.rows + from_.columns);
        marks = std::uint8_t{0};
        eval(mark_diagonals<I>()(numbers_to(from_.rows), signed_of(from_.rows), starts_, columns_, marks));
        const vector<std::int64_t> found =
            copy_if(element_index() - signed_of(from_.rows), marks != std::uint8_t{0});
        if (found.size() > most_diagonals) {
            seen_.diagonals.reset();
            return;
        }
        const host_array<std::int64_t> offsets = found.to_host();
        seen_.diagonals->assign(offsets.begin(), offsets.end());
    }

    void make_diagonals() {
        to_.offsets = *seen_.diagonals;
        to_.stride = divided_up(to_.rows, slice_rows) * slice_rows;
        to_.slots = to_.offsets.size() * to_.stride;
        vector<T> diagonals = elements<T>(to_.slots);
        diagonals = diagonal_slots::absent<T>();
        if (to_.entries > 0)
            eval(copy_to_diagonals<T, I>()(numbers_to(to_.rows), uploaded(to_.offsets),
                                           signed_of(to_.offsets.size()), signed_of(to_.stride), starts_,
                                           columns_, values_, diagonals));
        to_.kept = to_.entries == 0
                       ? 0
                       : static_cast<std::size_t>(count(holds_entry<T>()(numbers_to(to_.slots), diagonals)));
        to_.values = diagonals.state();
    }

    void make_slices() {
        const std::size_t slices = divided_up(to_.rows, slice_rows);
        to_.slots = seen_.slice_slots;
        auto [begins, end] = starts_of<std::int64_t>(
            slice_width<I>()(numbers_to(slices), signed_of(to_.rows), starts_) * signed_of(slice_rows),
            slices, device_);
        vector<I> columns = elements<I>(end);
        vector<T> values = elements<T>(end);
        if (end > 0)
            eval(copy_to_slices<T, I>()(numbers_to(slices * slice_rows), signed_of(to_.rows), begins, starts_,
                                        columns_, values_, columns, values));
        to_.column_indices = columns.state();
        to_.values = values.state();
        if (seen_.widest_slice == seen_.narrowest_slice && seen_.widest_slice <= most_unrolled)
            to_.width = seen_.widest_slice;
        if (to_.width == 0) to_.starts = begins.state();
    }

    void make_rows() {
        to_.slots = to_.entries;
        to_.starts = from_.starts;
        to_.column_indices = from_.column_indices;
        to_.values = from_.values;
    }

    void make_tiles_of_items() {
        make_rows();
        balanced_tiles& tiles = to_.tiles;
        tiles.are_of_items = true;
        tiles.entries = entries_of_cpu_tile(to_.entries, units());
        tiles.count = std::max<std::size_t>(divided_up(to_.entries, tiles.entries), 1);
        vector<std::int64_t> first = elements<std::int64_t>(tiles.count + 1);
        first = select(element_index() < signed_of(tiles.count),
                       lower_bound(starts_, cast<I>(element_index() * signed_of(tiles.entries))),
                       signed_of(to_.rows));
        tiles.first = first.state();
        // A tile's last row is cut if it ends after the tile.
        const host_array<std::int64_t> begun = first.to_host();
        const host_array<I> ends = vector<I>(starts_[first]).to_host();
        std::vector<tile_cut> cuts;
        const auto length = signed_of(tiles.entries);
        for (std::size_t t = 0; t < tiles.count; ++t)
            if (begun[t] < begun[t + 1] && ends[t + 1] > signed_of(t + 1) * length)
                cuts.push_back({begun[t + 1] - 1, signed_of(t), (ends[t + 1] - 1) / length});
        set_cuts(std::move(cuts));
    }

    void make_tiles_of_groups() {
        balanced_tiles& tiles = to_.tiles;
        tiles.entries = tile_entries;
        tiles.count = divided_up(to_.entries, tile_entries);
        to_.slots = tiles.count * tile_entries;
        const bool has_empty_rows = seen_.filled_rows < to_.rows;
        vector<std::int64_t> filled = elements<std::int64_t>(seen_.filled_rows);
        vector<I> begins(from_.starts);
        if (has_empty_rows) {
            if (seen_.filled_rows > 0) {
                const vector<std::int64_t> lengths(row_length<I>()(numbers_to(to_.rows), starts_));
                filled = copy_if(element_index(), lengths > std::int64_t{0});
                begins = vector<I>(starts_[filled]);
            }
            tiles.filled_rows = filled.state();
        }
        vector<std::uint32_t> heads = elements<std::uint32_t>(tiles.count * tile_items);
        vector<std::int64_t> first = elements<std::int64_t>(tiles.count);
        vector<I> columns = elements<I>(to_.slots);
        vector<T> values = elements<T>(to_.slots);
        std::vector<tile_cut> cuts;
        if (to_.entries > 0) {
            heads = item_begins<I>()(numbers_to(heads.size()), begins, signed_of(seen_.filled_rows),
                                     signed_of(to_.entries));
            vector<std::uint32_t> ranks = exclusive_scan(cast<std::uint32_t>(popcount(heads)));
            constexpr auto items = static_cast<std::int64_t>(tile_items);
            first = cast<std::int64_t>(ranks[element_index() * items]);
            heads = heads | (ranks - ranks[element_index() / items * items])
                                << std::uint32_t{tile_entries_of_item};
            eval(copy_to_tiles<T, I>()(numbers_to(to_.slots), signed_of(to_.entries), columns_, values_,
                                       columns, values));
            cuts = cuts_of(first, filled, has_empty_rows);
        }
        set_cuts(std::move(cuts));
        tiles.first = first.state();
        tiles.heads = heads.state();
        to_.column_indices = columns.state();
        to_.values = values.state();
    }
    std::vector<tile_cut> cuts_of(const vector<std::int64_t>& first, const vector<std::int64_t>& filled,
                                  bool has_empty_rows) const {
        const host_array<std::int64_t> list = first.to_host();
        std::vector<tile_cut> cuts =
            cuts_between({list.begin(), list.end()}, signed_of(seen_.filled_rows), to_.entries < to_.slots);
        if (!has_empty_rows || cuts.empty()) return cuts;
        std::vector<std::int64_t> numbers;
        numbers.reserve(cuts.size());
        for (const tile_cut& each : cuts) numbers.push_back(each.row);
        const host_array<std::int64_t> rows = vector<std::int64_t>(filled[uploaded(numbers)]).to_host();
        for (std::size_t k = 0; k < cuts.size(); ++k) cuts[k].row = rows[k];
        return cuts;
    }
    void set_cuts(std::vector<tile_cut> cuts) {
        to_.tiles.cuts = uploaded(listed_cuts(std::move(cuts), on_cpu_, to_.tiles)).state();
    }

    const device_csr& from_;
    const device_handle device_;
    const bool on_cpu_;
    const vector<I> starts_, columns_;
    const vector<T> values_;
    matrix_look seen_;
    stored_matrix to_;
};

}  // namespace

stored_matrix stored(const device_csr& from, storage asked) {
    return with_types(from.value, from.index,
                      [&]<class T, class I>() { return device_builder<T, I>(from, asked).run(); });
}

}  // namespace balm::array
