// Reads a stored matrix back: copies its arrays to the host, and arranges their entries by row.

#include <cstring>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "algorithm/sparse/value_types.hpp"

namespace balm::array {

namespace {

template <class E>
std::vector<E> on_host(const std::shared_ptr<vector_state>& memory, std::size_t count) {
    std::vector<E> made(count);
    if (count > 0) read(*memory, 0, made.data(), count);
    return made;
}

template <class T, class I>
class reader {
public:
    reader(const stored_matrix& from, std::size_t first_row, std::size_t first_column, const csr_memory& to)
        : from_(from),
          first_column_(static_cast<I>(first_column)),
          columns_(static_cast<I*>(to.column_indices)),
          values_(static_cast<std::byte*>(to.values)),
          pointer_(static_cast<I*>(to.row_pointers) + first_row),
          next_(static_cast<std::size_t>(*pointer_)) {}

    void read() {
        if (from_.how == storage::diagonals) return read_diagonals();
        if (!from_.block.is_one_entry()) return read_blocks();
        if (from_.how == storage::slices) return read_slices();
        if (from_.how == storage::balanced && !from_.tiles.are_of_items) return read_tiles();
        read_rows();
    }

private:
    void add(I column, const T& value) {
        columns_[next_] = static_cast<I>(column + first_column_);
        std::memcpy(values_ + next_ * sizeof(T), &value, sizeof(T));
        ++next_;
    }
    void end_row() { *++pointer_ = static_cast<I>(next_); }

    void read_diagonals() {
        const auto values = on_host<T>(from_.values, from_.slots);
        for (std::size_t r = 0; r < from_.rows; ++r, end_row())
            for (std::size_t d = 0; d < from_.offsets.size(); ++d)
                if (const T& value = values[d * from_.stride + r]; diagonal_slots::is_entry(value))
                    add(static_cast<I>(static_cast<std::int64_t>(r) + from_.offsets[d]), value);
    }

    void read_slices() {
        const auto columns = on_host<I>(from_.column_indices, from_.slots);
        const auto values = on_host<T>(from_.values, from_.slots);
        const std::size_t slices = divided_up(from_.rows, slice_rows);
        std::vector<std::int64_t> starts;
        if (from_.starts) starts = on_host<std::int64_t>(from_.starts, slices + 1);
        const auto start_of = [&](std::size_t slice) {
            return starts.empty() ? slice * from_.width * slice_rows
                                  : static_cast<std::size_t>(starts[slice]);
        };
        for (std::size_t r = 0; r < from_.rows; ++r, end_row()) {
            const std::size_t slice = r / slice_rows, end = start_of(slice + 1);
            for (std::size_t k = start_of(slice) + r % slice_rows; k < end && columns[k] >= 0;
                 k += slice_rows)
                add(columns[k], values[k]);
        }
    }

    void read_rows() {
        const auto columns = on_host<I>(from_.column_indices, from_.entries);
        const auto values = on_host<T>(from_.values, from_.entries);
        const auto starts = on_host<I>(from_.starts, from_.rows + 1);
        for (std::size_t r = 0; r < from_.rows; ++r, end_row())
            for (auto k = static_cast<std::size_t>(starts[r]); k < static_cast<std::size_t>(starts[r + 1]);
                 ++k)
                add(columns[k], values[k]);
    }

    void read_tiles() {
        const balanced_tiles& tiles = from_.tiles;
        const auto columns = on_host<I>(from_.column_indices, from_.slots);
        const auto values = on_host<T>(from_.values, from_.slots);
        const auto heads = on_host<std::uint32_t>(tiles.heads, tiles.count * tile_items);
        std::vector<std::int64_t> filled;
        if (tiles.filled_rows) filled = on_host<std::int64_t>(tiles.filled_rows, tiles.filled_rows->size());
        std::size_t row = 0, begun = 0;
        const auto end_rows = [&](std::size_t end) {
            for (; row < end; ++row) end_row();
        };
        for (std::size_t k = 0; k < from_.entries; ++k) {
            constexpr std::size_t run = tile_entries_of_item;
            if ((heads[k / run] >> k % run & 1) != 0) {
                end_rows(filled.empty() ? begun : static_cast<std::size_t>(filled[begun]));
                ++begun;
            }
            add(columns[place_in_tiles(k)], values[place_in_tiles(k)]);
        }
        end_rows(from_.rows);
    }

    /// Calls f(column index, entry (0, 0), distance between entries of a block's row, distance between its
    /// rows) for each block of a row of blocks, as stored.
    template <class F>
    static void for_each_block(const stored_matrix& m, const std::vector<std::int64_t>& starts,
                               std::size_t row, F&& f) {
        const block_shape& block = m.block;
        const auto start = [&](std::size_t k) { return static_cast<std::size_t>(starts[k]); };
        if (m.how == storage::slices) {
            const std::size_t lane = row % slice_rows, rows_of_slice = slice_rows * block.rows;
            for (std::size_t k = start(row / slice_rows); k < start(row / slice_rows + 1); k += slice_rows)
                f(k + lane, k * block.entries() + lane * block.rows, rows_of_slice, std::size_t{1});
            return;
        }
        const std::size_t count = start(row + 1) - start(row);
        for (std::size_t k = 0; k < count; ++k)
            f(start(row) + k, start(row) * block.entries() + k * block.columns, std::size_t{1},
              count * block.columns);
    }
    static std::vector<std::int64_t> starts_of(const stored_matrix& m) {
        const std::size_t rows = m.rows / m.block.rows;
        if (m.how == storage::slices)
            return on_host<std::int64_t>(m.starts, divided_up(rows, slice_rows) + 1);
        const auto starts = on_host<I>(m.starts, rows + 1);
        return {starts.begin(), starts.end()};
    }

    void read_blocks() {
        const bool has_pieces = from_.pieces.products != nullptr;
        const stored_matrix& m = has_pieces ? *from_.pieces.products : from_;
        const std::size_t rows = from_.rows / from_.block.rows;
        const auto columns = on_host<I>(m.column_indices, m.slots / m.block.entries());
        const auto values = on_host<T>(m.values, m.slots);
        const std::vector<std::int64_t> starts = starts_of(m);
        std::vector<std::int64_t> first_piece, places;
        if (has_pieces) {
            first_piece = on_host<std::int64_t>(from_.pieces.starts, rows + 1);
            places = on_host<std::int64_t>(from_.pieces.places, static_cast<std::size_t>(first_piece.back()));
        }
        const auto read_row = [&](std::size_t row, std::size_t in_block) {
            for_each_block(
                m, starts, row,
                [&](std::size_t k, std::size_t first, std::size_t step, std::size_t row_step) {
                    if (columns[k] < 0) return;
                    for (std::size_t j = 0; j < m.block.columns; ++j)
                        add(static_cast<I>(columns[k] * static_cast<I>(m.block.columns) + static_cast<I>(j)),
                            values[first + in_block * row_step + j * step]);
                });
        };
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t i = 0; i < from_.block.rows; ++i, end_row()) {
                if (!has_pieces) {
                    read_row(row, i);
                    continue;
                }
                for (std::int64_t p = first_piece[row]; p < first_piece[row + 1]; ++p)
                    read_row(static_cast<std::size_t>(places[static_cast<std::size_t>(p)]), i);
            }
    }

    const stored_matrix& from_;
    const I first_column_;
    I* const columns_;
    std::byte* const values_;
    I* pointer_;        ///< of the current row
    std::size_t next_;  ///< where the next entry goes
};

}  // namespace

void read_entries(const stored_matrix& from, std::size_t first_row, std::size_t first_column,
                  const csr_memory& to) {
    with_types(from.value, from.index,
               [&]<class T, class I>() { reader<T, I>(from, first_row, first_column, to).read(); });
}

}  // namespace balm::array
