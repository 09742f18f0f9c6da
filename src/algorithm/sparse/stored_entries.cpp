// Reads a stored matrix back: its arrays to the host, and their entries in the order of rows.

#include <cstring>

#include "algorithm/divided_up.hpp"
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
                if (const T& value = values[d * from_.stride + r]; value != T{})
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

    const stored_matrix& from_;
    const I first_column_;
    I* const columns_;
    std::byte* const values_;
    I* pointer_;        ///< of the row that entries are added to
    std::size_t next_;  ///< where the next entry goes
};

}  // namespace

void read_entries(const stored_matrix& from, std::size_t first_row, std::size_t first_column,
                  const csr_memory& to) {
    with_types(from.value, from.index,
               [&]<class T, class I>() { reader<T, I>(from, first_row, first_column, to).read(); });
}

}  // namespace balm::array
