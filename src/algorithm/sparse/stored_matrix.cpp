// Analyses a matrix, chooses its storage, and makes the arrays on the host.

#include "algorithm/sparse/stored_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/block_storage.hpp"
#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/matrix_look.hpp"
#include "algorithm/sparse/sparse_strategy.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<bool> of_gpus{false};

/// Padding in diagonals and slices costs its share of the bandwidth. On GPUs slices are cheaper than tiles,
/// which have gaps between launches and sums of cut rows.
constexpr double least_filled_diagonals = 2.0 / 3, least_filled_slices = 0.8;
/// One work-item that adds up a row of more entries takes longer than a launch of tiles.
constexpr std::size_t longest_row_of_item = 512;
/// With fewer entries, having a single launch is all that matters.
constexpr std::size_t few_entries = 65536;
/// Minimum entries of a tile on CPUs, and maximum tiles per compute unit.
constexpr std::size_t cpu_tile = 8192, cpu_tiles_per_unit = 16;
/// Rows that continue in more tiles are added up by a group.
constexpr std::size_t most_parts_of_item = 64;

/// Diagonals, numbered from the lower left corner: one bit each, unless there are far more columns than rows
/// and entries.
class seen_diagonals {
public:
    explicit seen_diagonals(const host_rows& from) {
        constexpr std::size_t few = std::size_t{1} << 20;
        const bool is_small = from.column_count <= few + 8 * (from.rows() + from.entries());
        if (is_small) bits_.resize(from.rows() + from.column_count);
        rows_ = static_cast<std::int64_t>(from.rows());
    }
    /// Adds a diagonal; returns whether there are too many.
    bool add(std::int64_t offset) {
        if (!bits_.empty()) {
            const auto at = static_cast<std::size_t>(offset + rows_);
            if (bits_[at]) return false;
            bits_[at] = true;
        } else if (std::find(list.begin(), list.end(), offset) != list.end()) {
            return false;
        }
        if (list.size() == most_diagonals) return true;
        list.push_back(offset);
        return false;
    }
    std::vector<std::int64_t> list;

private:
    std::vector<bool> bits_;
    std::int64_t rows_;
};

template <class I>
std::optional<std::vector<std::int64_t>> diagonals_of(const host_rows& from) {
    const I* const columns = static_cast<const I*>(from.columns);
    seen_diagonals seen(from);
    for (std::size_t r = 0; r < from.rows(); ++r)
        for (std::int64_t k = from.pointers[r]; k < from.pointers[r + 1]; ++k)
            if (seen.add(static_cast<std::int64_t>(columns[k]) - from.first_column -
                         static_cast<std::int64_t>(r)))
                return std::nullopt;
    std::sort(seen.list.begin(), seen.list.end());
    return std::move(seen.list);
}

/// What follows from the lengths of rows.
matrix_look looked_at_rows(const host_rows& from) {
    matrix_look seen;
    seen.rows = from.rows();
    seen.entries = from.entries();
    const std::size_t rows = from.rows();
    seen.narrowest_slice = rows == 0 ? 0 : from.entries();
    for (std::size_t first = 0; first < rows; first += slice_rows) {
        std::size_t widest = 0;
        for (std::size_t r = first; r < std::min(first + slice_rows, rows); ++r) {
            const auto length = static_cast<std::size_t>(from.pointers[r + 1] - from.pointers[r]);
            widest = std::max(widest, length);
            seen.filled_rows += length > 0;
            seen.long_rows += length >= long_row;
        }
        seen.slice_slots += widest * slice_rows;
        seen.widest_slice = std::max(seen.widest_slice, widest);
        seen.narrowest_slice = std::min(seen.narrowest_slice, widest);
    }
    seen.longest_row = seen.widest_slice;
    for (std::size_t first = 0; first < rows; first += cpu_rows)
        seen.fullest_chunk = std::max(
            seen.fullest_chunk,
            static_cast<std::size_t>(from.pointers[std::min(first + cpu_rows, rows)] - from.pointers[first]));
    return seen;
}
template <class I>
matrix_look looked_at(const host_rows& from) {
    matrix_look seen = looked_at_rows(from);
    seen.diagonals = diagonals_of<I>(from);
    return seen;
}

std::size_t padded_rows(std::size_t rows) { return divided_up(rows, slice_rows) * slice_rows; }

bool suits_slices(const matrix_look& seen, std::size_t units) {
    if (seen.entries < few_entries)
        return seen.longest_row <= longest_row_of_item && seen.slice_slots <= 4 * few_entries;
    const std::size_t mean = seen.entries / seen.rows;
    const bool has_many_rows = seen.rows >= units * 512 || mean <= 32;
    return has_many_rows && seen.longest_row <= longest_row_of_item &&
           static_cast<double>(seen.slice_slots) * least_filled_slices <= static_cast<double>(seen.entries);
}

/// The number of blocks before each row of blocks.
std::vector<std::int64_t> pointers_of_blocks(const host_rows& from, const block_shape& block) {
    std::vector<std::int64_t> made;
    for (std::size_t r = 0; r <= from.rows(); r += block.rows)
        made.push_back((from.pointers[r] - from.pointers[0]) / static_cast<std::int64_t>(block.entries()));
    return made;
}

bool suits_chunks_of_rows(const matrix_look& seen, std::size_t units) {
    return seen.entries < few_entries || seen.fullest_chunk <= seen.entries / (4 * units);
}

/// Makes the arrays of a storage.
template <class T, class I>
class host_builder {
public:
    host_builder(const host_rows& from, stored_matrix& to, std::shared_ptr<runtime::device_state> device,
                 bool on_cpu)
        : from_(from),
          to_(to),
          device_(std::move(device)),
          on_cpu_(on_cpu),
          columns_(static_cast<const I*>(from.columns)),
          values_(static_cast<const T*>(from.values)) {}

    void make(const matrix_look& seen) {
        switch (to_.how) {
            case storage::diagonals: return make_diagonals(seen);
            case storage::slices: return make_slices(seen);
            case storage::balanced: return on_cpu_ ? make_tiles_of_items() : make_tiles_of_groups(seen);
            default: return make_rows();
        }
    }

private:
    std::int64_t pointer(std::size_t row) const { return from_.pointers[row] - from_.pointers[0]; }
    I column(std::size_t entry) const {
        return static_cast<I>(columns_[from_.pointers[0] + static_cast<std::int64_t>(entry)] -
                              static_cast<I>(from_.first_column));
    }
    const T& value(std::size_t entry) const {
        return values_[from_.pointers[0] + static_cast<std::int64_t>(entry)];
    }
    /// Calls f(row, entry) for each entry.
    template <class F>
    void for_each_entry(F&& f) const {
        for (std::size_t r = 0; r < to_.rows; ++r)
            for (auto k = static_cast<std::size_t>(pointer(r)); k < static_cast<std::size_t>(pointer(r + 1));
                 ++k)
                f(r, k);
    }
    template <class E>
    std::shared_ptr<vector_state> on_device(trace::type type, const E* elements, std::size_t count) const {
        return array::on_device(device_, type, elements, count);
    }
    template <class E>
    std::shared_ptr<vector_state> on_device(trace::type type, const std::vector<E>& list) const {
        return on_device(type, list.data(), list.size());
    }

    void make_diagonals(const matrix_look& seen) {
        to_.offsets = *seen.diagonals;
        to_.stride = padded_rows(to_.rows);
        to_.slots = to_.offsets.size() * to_.stride;
        std::vector<T> values(to_.slots, diagonal_slots::absent<T>());
        for_each_entry([&](std::size_t r, std::size_t k) {
            const std::int64_t offset = static_cast<std::int64_t>(column(k)) - static_cast<std::int64_t>(r);
            const auto d = static_cast<std::size_t>(
                std::lower_bound(to_.offsets.begin(), to_.offsets.end(), offset) - to_.offsets.begin());
            add_to(values[d * to_.stride + r], diagonal_slots::as_entry(value(k)));
        });
        to_.kept = static_cast<std::size_t>(std::count_if(
            values.begin(), values.end(), [](const T& slot) { return diagonal_slots::is_entry(slot); }));
        to_.values = on_device(to_.value, values);
    }

    void make_slices(const matrix_look& seen) {
        const std::size_t slices = divided_up(to_.rows, slice_rows);
        if (seen.widest_slice == seen.narrowest_slice && seen.widest_slice <= most_unrolled)
            to_.width = seen.widest_slice;
        std::vector<std::int64_t> starts(slices + 1);
        for (std::size_t s = 0; s < slices; ++s) {
            std::int64_t widest = 0;
            for (std::size_t r = s * slice_rows; r < std::min((s + 1) * slice_rows, to_.rows); ++r)
                widest = std::max(widest, pointer(r + 1) - pointer(r));
            starts[s + 1] = starts[s] + widest * static_cast<std::int64_t>(slice_rows);
        }
        to_.slots = static_cast<std::size_t>(starts.back());
        std::vector<I> columns(to_.slots, I{-1});
        std::vector<T> values(to_.slots);
        for_each_entry([&](std::size_t r, std::size_t k) {
            const std::size_t in_row = k - static_cast<std::size_t>(pointer(r));
            const std::size_t at =
                static_cast<std::size_t>(starts[r / slice_rows]) + in_row * slice_rows + r % slice_rows;
            columns[at] = column(k);
            values[at] = value(k);
        });
        to_.column_indices = on_device(to_.index, columns);
        to_.values = on_device(to_.value, values);
        if (to_.width == 0) to_.starts = on_device(scalar::i64, starts);
    }

    void make_rows() {
        to_.slots = to_.entries;
        std::vector<I> starts(to_.rows + 1);
        for (std::size_t r = 0; r <= to_.rows; ++r) starts[r] = static_cast<I>(pointer(r));
        to_.starts = on_device(to_.index, starts);
        write_entries();
    }
    void write_entries() {
        to_.values = on_device(to_.value, values_ + from_.pointers[0], to_.entries);
        if (from_.first_column == 0) {
            to_.column_indices = on_device(to_.index, columns_ + from_.pointers[0], to_.entries);
            return;
        }
        std::vector<I> columns(to_.entries);
        for (std::size_t k = 0; k < to_.entries; ++k) columns[k] = column(k);
        to_.column_indices = on_device(to_.index, columns);
    }

    void write_cuts(std::vector<tile_cut> cuts) {
        to_.tiles.cuts = on_device(scalar::i64, listed_cuts(std::move(cuts), on_cpu_, to_.tiles));
    }

    void make_tiles_of_items() {
        make_rows();
        balanced_tiles& tiles = to_.tiles;
        tiles.are_of_items = true;
        const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
        tiles.entries = entries_of_cpu_tile(to_.entries, units);
        tiles.count = std::max<std::size_t>(divided_up(to_.entries, tiles.entries), 1);
        std::vector<std::int64_t> first(tiles.count + 1);
        std::vector<tile_cut> cuts;
        for (std::size_t t = 0, r = 0; t < tiles.count; ++t) {
            const auto end = static_cast<std::int64_t>((t + 1) * tiles.entries);
            first[t] = static_cast<std::int64_t>(r);
            const bool is_last = t + 1 == tiles.count;
            while (r < to_.rows && (is_last || pointer(r) < end)) {
                if (pointer(r + 1) > end)
                    cuts.push_back({static_cast<std::int64_t>(r), static_cast<std::int64_t>(t),
                                    (pointer(r + 1) - 1) / static_cast<std::int64_t>(tiles.entries)});
                ++r;
            }
        }
        first[tiles.count] = static_cast<std::int64_t>(to_.rows);
        tiles.first = on_device(scalar::i64, first);
        write_cuts(std::move(cuts));
    }

    void make_tiles_of_groups(const matrix_look& seen) {
        balanced_tiles& tiles = to_.tiles;
        tiles.entries = tile_entries;
        tiles.count = divided_up(to_.entries, tile_entries);
        to_.slots = tiles.count * tile_entries;
        std::vector<I> columns(to_.slots);
        std::vector<T> values(to_.slots);
        std::vector<std::uint32_t> heads(tiles.count * tile_items);
        std::vector<std::int64_t> first(tiles.count), filled;
        constexpr std::size_t run = tile_entries_of_item;
        const bool has_empty_rows = seen.filled_rows < to_.rows;
        const auto begin_at = [&](std::size_t k) { heads[k / run] |= std::uint32_t{1} << k % run; };
        for_each_entry([&](std::size_t r, std::size_t k) {
            columns[place_in_tiles(k)] = column(k);
            values[place_in_tiles(k)] = value(k);
            if (static_cast<std::int64_t>(k) != pointer(r)) return;
            begin_at(k);
            if (has_empty_rows) filled.push_back(static_cast<std::int64_t>(r));
        });
        if (to_.entries < to_.slots) begin_at(to_.entries);  // the padding is a row of its own
        std::int64_t begun = 0;
        for (std::size_t t = 0; t < tiles.count; ++t) {
            first[t] = begun;
            std::uint32_t in_tile = 0;
            for (std::size_t i = t * tile_items; i < (t + 1) * tile_items; ++i) {
                const auto own = static_cast<std::uint32_t>(std::popcount(heads[i]));
                heads[i] |= in_tile << run;
                in_tile += own;
            }
            begun += in_tile;
        }
        std::vector<tile_cut> cuts =
            cuts_between(first, static_cast<std::int64_t>(seen.filled_rows), to_.entries < to_.slots);
        if (has_empty_rows)
            for (tile_cut& each : cuts) each.row = filled[static_cast<std::size_t>(each.row)];
        write_cuts(std::move(cuts));
        tiles.first = on_device(scalar::i64, first);
        tiles.heads = on_device(scalar::u32, heads);
        if (has_empty_rows) tiles.filled_rows = on_device(scalar::i64, filled);
        to_.column_indices = on_device(to_.index, columns);
        to_.values = on_device(to_.value, values);
    }

    const host_rows& from_;
    stored_matrix& to_;
    const std::shared_ptr<runtime::device_state> device_;
    const bool on_cpu_;
    const I* const columns_;
    const T* const values_;
};

std::string padding_of(const stored_matrix& m) {
    if (m.slots == m.entries) return "no padding";
    return fmt::format(
        "{:.1f} % padding",
        100.0 * static_cast<double>(m.slots - std::min(m.entries, m.slots)) / static_cast<double>(m.slots));
}
std::string described_blocks(const stored_matrix& m, const matrix_look& seen) {
    const std::string blocks = fmt::format("{} blocks of {} x {}", grouped(m.entries / m.block.entries()),
                                           m.block.rows, m.block.columns);
    switch (m.how) {
        case storage::slices:
            return fmt::format("BSR in slices of {} rows of blocks, {}, {}: a column index for each block",
                               slice_rows, blocks, padding_of(m));
        case storage::balanced:
            return fmt::format(
                "balanced BSR, {} in {} pieces: rows of up to {} blocks are split among work-items", blocks,
                grouped(m.pieces.products->rows / m.block.rows), grouped(seen.longest_row));
        default:
            return fmt::format("BSR, {} in {} rows of blocks, no padding: a column index for each block",
                               blocks, grouped(m.rows / m.block.rows));
    }
}

}  // namespace

std::string described(const stored_matrix& m, const matrix_look& seen) {
    switch (m.how) {
        case storage::diagonals:
            return fmt::format("DIA, {} of {} rows, {}: no column indices",
                               m.offsets.size() == 1 ? std::string("1 diagonal")
                                                     : fmt::format("{} diagonals", m.offsets.size()),
                               grouped(m.rows), padding_of(m));
        case storage::slices:
            return fmt::format(
                "ELL in slices of {} rows, {} entries a row, {}: neighbouring work-items load "
                "neighbouring entries",
                slice_rows,
                seen.narrowest_slice == seen.widest_slice
                    ? grouped(seen.widest_slice)
                    : fmt::format("{} to {}", grouped(seen.narrowest_slice), grouped(seen.widest_slice)),
                padding_of(m));
        case storage::balanced:
            return fmt::format(
                "balanced CSR, {} tiles of {} entries: rows of up to {} entries are split among work-items",
                grouped(m.tiles.count), grouped(m.tiles.entries), grouped(seen.longest_row));
        default:
            return fmt::format("CSR, {} entries in {} rows, no padding: a work-item computes a row",
                               grouped(m.entries), grouped(m.rows));
    }
}

bool suits_diagonals(const matrix_look& seen, std::size_t diagonals, std::size_t value_bytes,
                     std::size_t index_bytes) {
    const auto slots = static_cast<double>(diagonals * seen.rows);
    const auto entries = static_cast<double>(seen.entries);
    return slots * static_cast<double>(value_bytes) <=
               entries * static_cast<double>(value_bytes + index_bytes) &&
           slots * least_filled_diagonals <= entries;
}

storage chosen(const matrix_look& seen, std::size_t value_bytes, std::size_t index_bytes, bool on_cpu,
               std::size_t units) {
    if (seen.diagonals && suits_diagonals(seen, seen.diagonals->size(), value_bytes, index_bytes))
        return storage::diagonals;
    if (on_cpu) return suits_chunks_of_rows(seen, units) ? storage::rows : storage::balanced;
    return suits_slices(seen, units) ? storage::slices : storage::balanced;
}

void refuse_diagonals() {
    throw usage_error(
        fmt::format("storage::diagonals does not support a matrix with entries on more than {} diagonals; "
                    "use storage::automatic",
                    most_diagonals));
}

bool is_stored_as_on_cpu(runtime::device_state& device) {
    const bool has_groups = device.info().max_work_group_size >= tile_items;
    return !has_groups || (kernels::facts_for(device).on_cpu && !of_gpus);
}

std::vector<tile_cut> cuts_between(const std::vector<std::int64_t>& first, std::int64_t filled_rows,
                                   bool has_padding) {
    std::vector<tile_cut> cuts;
    const auto count = static_cast<std::int64_t>(first.size());
    const std::int64_t begun = filled_rows + (has_padding ? 1 : 0);  // the padding is a row of its own
    const auto begun_before = [&](std::int64_t tile) {
        return tile < count ? first[static_cast<std::size_t>(tile)] : begun;
    };
    // The last row that begins in a tile is open at the tile's end.
    for (std::int64_t t = 0; t < count; ++t) {
        const std::int64_t open = begun_before(t + 1) - 1;
        if (begun_before(t) > open || open >= filled_rows) continue;
        std::int64_t last = t;
        while (last + 1 < count && (last == t || begun_before(last) == begun_before(last + 1))) ++last;
        cuts.push_back({open, t, last});
    }
    return cuts;
}

std::vector<std::int64_t> listed_cuts(std::vector<tile_cut> cuts, bool on_cpu, balanced_tiles& tiles) {
    const auto has_few = [](const tile_cut& c) {
        return c.last - c.first <= static_cast<std::int64_t>(most_parts_of_item);
    };
    const auto middle = on_cpu ? cuts.end() : std::stable_partition(cuts.begin(), cuts.end(), has_few);
    tiles.long_count = static_cast<std::size_t>(cuts.end() - middle);
    tiles.cut_count = cuts.size();
    std::vector<std::int64_t> list(3 * cuts.size());
    for (std::size_t k = 0; k < cuts.size(); ++k) {
        list[k] = cuts[k].row;
        list[cuts.size() + k] = cuts[k].first;
        list[2 * cuts.size() + k] = cuts[k].last;
    }
    return list;
}

std::size_t entries_of_cpu_tile(std::size_t entries, std::size_t units) {
    return std::max(cpu_tile, divided_up(entries, units * cpu_tiles_per_unit));
}

void force_matrices_of_gpus(bool everywhere) { of_gpus = everywhere; }
bool are_matrices_of_gpus() { return of_gpus; }

std::string grouped(std::uint64_t number) {
    std::string words = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(words.size()) - 3; at > 0; at -= 3)
        words.insert(static_cast<std::size_t>(at), ",");
    return words;
}

std::size_t stored_matrix::bytes() const {
    std::size_t sum = 0;
    for (const auto* each :
         {&values, &column_indices, &starts, &tiles.first, &tiles.heads, &tiles.filled_rows, &tiles.cuts})
        if (*each) sum += (*each)->bytes();
    if (pieces.products) sum += pieces.products->bytes() + pieces.starts->bytes() + pieces.places->bytes();
    return sum;
}

std::shared_ptr<vector_state> on_device(const std::shared_ptr<runtime::device_state>& device,
                                        trace::type type, const void* elements, std::size_t count) {
    auto made = std::make_shared<vector_state>(device, type, std::max<std::size_t>(count, 1));
    if (count > 0) write(*made, 0, elements, count);
    return made;
}

stored_matrix stored(const host_rows& from, trace::type value, scalar index, storage asked,
                     const block_shape& block, const std::shared_ptr<runtime::device_state>& device) {
    const bool on_cpu = is_stored_as_on_cpu(*device);
    const std::size_t units = std::max<std::size_t>(device->info().compute_units, 1);
    stored_matrix made;
    made.value = value;
    made.index = index;
    made.rows = from.rows();
    made.columns = from.column_count;
    made.entries = made.kept = from.entries();
    with_types(value, index, [&]<class T, class I>() {
        const matrix_look seen = looked_at<I>(from);
        made.how = asked != storage::automatic ? asked : chosen(seen, sizeof(T), sizeof(I), on_cpu, units);
        if (made.how == storage::diagonals && !seen.diagonals) refuse_diagonals();
        if (made.how != storage::diagonals && !block.is_one_entry()) {
            made.block = block;
            const std::vector<std::int64_t> pointers = pointers_of_blocks(from, block);
            host_rows blocks;
            blocks.pointers = pointers;
            const matrix_look seen_blocks = looked_at_rows(blocks);
            if (asked == storage::automatic && !on_cpu)
                made.how = suits_slices(seen_blocks, units) ? storage::slices : storage::balanced;
            store_blocks(made, from, pointers, !on_cpu, device);
            made.words = described_blocks(made, seen_blocks);
            return;
        }
        made.has_long_rows = seen.long_rows > made.rows / 2;
        host_builder<T, I>(from, made, device, on_cpu).make(seen);
        made.words = described(made, seen);
    });
    return made;
}

}  // namespace balm::array
