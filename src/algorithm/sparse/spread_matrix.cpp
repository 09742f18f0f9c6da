// Matrices over several devices. In: CSR on the host. Out: a part for each device. Its inner rows need only
// the operand's elements on that device, so that they are computed while others are copied.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/sparse_state.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "array/spread/partition.hpp"

namespace balm::array {

namespace {

/// Some rows of a matrix in host memory.
template <class T, class I>
struct host_part {
    std::vector<std::int64_t> pointers{0};
    std::vector<I> columns;
    std::vector<T> values;

    void add(I column, const T& value) {
        columns.push_back(column);
        values.push_back(value);
    }
    void end_row() { pointers.push_back(static_cast<std::int64_t>(columns.size())); }
    host_rows rows(std::size_t first_column, std::size_t column_count) const {
        return {pointers, columns.data(), values.data(), static_cast<std::int64_t>(first_column),
                column_count};
    }
};

bool divides(const block_shape& block, std::size_t rows, std::size_t columns) {
    return rows % block.rows == 0 && columns % block.columns == 0;
}

template <class T, class I>
class part_builder {
public:
    part_builder(const sparse_state& whole, const host_csr& from, const std::vector<std::int64_t>& pointers,
                 const I* columns, scalar index, storage how)
        : whole_(whole),
          pointers_(pointers),
          columns_(columns),
          values_(static_cast<const T*>(from.values)),
          index_(index),
          how_(how) {}

    matrix_part make(std::size_t device, std::size_t first_row, std::size_t end_row) {
        matrix_part part;
        part.device = whole_.where.devices[device];
        part.first_row = first_row;
        part.first_column = whole_.first_columns[device];
        const std::size_t end_column = whole_.first_columns[device + 1];
        const block_shape block =
            divides(whole_.block, first_row, part.first_column) &&
                    divides(whole_.block, end_row - first_row, end_column - part.first_column)
                ? whole_.block
                : block_shape{};
        host_part<T, I> inner, border;
        for (std::size_t r = first_row; r < end_row; r += block.rows) {
            const bool is_inner =
                std::all_of(columns_ + pointers_[r], columns_ + pointers_[r + block.rows], [&](I column) {
                    return static_cast<std::size_t>(column) >= part.first_column &&
                           static_cast<std::size_t>(column) < end_column;
                });
            for (std::size_t i = r; i < r + block.rows; ++i) {
                host_part<T, I>& to = is_inner ? inner : border;
                for (std::int64_t k = pointers_[i]; k < pointers_[i + 1]; ++k)
                    to.add(columns_[k], values_[k]);
                inner.end_row();
                if (is_inner) continue;
                border.end_row();
                part.border_row_list.push_back(static_cast<std::int64_t>(i - first_row));
            }
        }
        part.inner = stored(inner.rows(part.first_column, end_column - part.first_column), whole_.value,
                            index_, how_, block, part.device);
        make_border(part, border);
        return part;
    }

private:
    void make_border(matrix_part& part, host_part<T, I>& border) const {
        if (part.border_row_list.empty()) return;
        // Diagonals hold the sum of each position's entries; the rows beside them must, too.
        if (part.inner.how == storage::diagonals) border = summed(border);
        part.needed_columns.assign(border.columns.begin(), border.columns.end());
        std::vector<std::int64_t>& needed = part.needed_columns;
        std::sort(needed.begin(), needed.end());
        needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
        for (I& column : border.columns)
            column = static_cast<I>(std::lower_bound(needed.begin(), needed.end(), column) - needed.begin());
        const auto store_as = [&](storage how) {
            return stored(border.rows(0, needed.size()), whole_.value, index_, how, block_shape{},
                          part.device);
        };
        part.border = store_as(how_ == storage::diagonals ? storage::automatic : how_);
        // Nor do diagonals replace storage that keeps zeros and several entries of a position.
        if (part.border.how == storage::diagonals && part.inner.how != storage::diagonals)
            part.border = store_as(part.inner.how);
        part.border_rows =
            on_device(part.device, scalar::i64, part.border_row_list.data(), part.border_row_list.size());
        part.copies = part.device->make_queue();
        add_needed_elements(part);
    }
    void add_needed_elements(matrix_part& part) const {
        const std::vector<std::int64_t>& needed = part.needed_columns;
        for (std::size_t d = 0; d + 1 < whole_.first_columns.size(); ++d) {
            const auto begin = static_cast<std::int64_t>(whole_.first_columns[d]),
                       end = static_cast<std::int64_t>(whole_.first_columns[d + 1]);
            const auto first = std::lower_bound(needed.begin(), needed.end(), begin),
                       last = std::lower_bound(first, needed.end(), end);
            if (first == last) continue;
            needed_elements of;
            of.part = d;
            of.first = static_cast<std::size_t>(first - needed.begin());
            of.count = static_cast<std::size_t>(last - first);
            of.consecutive_from = static_cast<std::size_t>(*first - begin);
            if (*(last - 1) - *first + 1 != last - first) {
                std::vector<std::int64_t> positions(first, last);
                for (std::int64_t& each : positions) each -= begin;
                of.positions =
                    on_device(whole_.where.devices[d], scalar::i64, positions.data(), positions.size());
            }
            part.needed.push_back(std::move(of));
        }
    }
    /// With ascending columns, and one entry per position, as diagonals keep them.
    static host_part<T, I> summed(const host_part<T, I>& from) {
        host_part<T, I> made;
        std::vector<std::size_t> order;
        for (std::size_t r = 0; r + 1 < from.pointers.size(); ++r) {
            order.resize(static_cast<std::size_t>(from.pointers[r + 1] - from.pointers[r]));
            std::iota(order.begin(), order.end(), static_cast<std::size_t>(from.pointers[r]));
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return from.columns[a] < from.columns[b]; });
            for (std::size_t k = 0; k < order.size();) {
                const I column = from.columns[order[k]];
                T sum{};
                for (; k < order.size() && from.columns[order[k]] == column; ++k)
                    add_to(sum, from.values[order[k]]);
                if (diagonal_slots::is_entry(diagonal_slots::as_entry(sum)))
                    made.add(column, diagonal_slots::as_entry(sum));
            }
            made.end_row();
        }
        return made;
    }

    const sparse_state& whole_;
    const std::vector<std::int64_t>& pointers_;
    const I* const columns_;
    const T* const values_;
    const scalar index_;
    const storage how_;
};

/// The entries of a stored matrix in arrays of their own.
template <class T, class I>
host_part<T, I> read_alone(const stored_matrix& m) {
    host_part<T, I> made;
    std::vector<I> pointers(m.rows + 1);
    made.columns.resize(m.kept);
    made.values.resize(m.kept);
    read_entries(m, 0, 0, {pointers.data(), made.columns.data(), made.values.data()});
    made.pointers.assign(pointers.begin(), pointers.end());
    return made;
}

template <class T, class I>
void read_rows_of(const matrix_part& part, const csr_memory& to) {
    const auto inner = read_alone<T, I>(part.inner);
    host_part<T, I> border;
    if (part.has_border()) border = read_alone<T, I>(part.border);
    I* pointer = static_cast<I*>(to.row_pointers) + part.first_row;
    auto next = static_cast<std::size_t>(*pointer);
    const auto add_row = [&](const host_part<T, I>& of, std::size_t row, const auto& column_of) {
        for (auto k = static_cast<std::size_t>(of.pointers[row]);
             k < static_cast<std::size_t>(of.pointers[row + 1]); ++k, ++next) {
            static_cast<I*>(to.column_indices)[next] = static_cast<I>(column_of(of.columns[k]));
            static_cast<T*>(to.values)[next] = of.values[k];
        }
        *++pointer = static_cast<I>(next);
    };
    std::size_t of_border = 0;
    for (std::size_t r = 0; r < part.inner.rows; ++r) {
        const bool is_border = of_border < part.border_row_list.size() &&
                               part.border_row_list[of_border] == static_cast<std::int64_t>(r);
        if (is_border)
            add_row(border, of_border++,
                    [&](I column) { return part.needed_columns[static_cast<std::size_t>(column)]; });
        else
            add_row(inner, r, [&](I column) {
                return static_cast<std::int64_t>(column) + static_cast<std::int64_t>(part.first_column);
            });
    }
}

}  // namespace

std::size_t matrix_part::bytes() const {
    std::size_t sum = inner.bytes() + border.bytes();
    if (border_rows) sum += border_rows->bytes();
    for (const needed_elements& each : needed)
        if (each.positions) sum += each.positions->bytes();
    return sum;
}

void store_spread(sparse_state& to, const host_csr& from, const std::vector<std::int64_t>& pointers,
                  const void* column_indices, scalar index, storage how) {
    const std::vector<std::size_t> first_rows = partition(from.rows, to.where.weights);
    to.first_columns = partition(from.columns, to.where.weights);
    with_types(to.value, index, [&]<class T, class I>() {
        part_builder<T, I> builder(to, from, pointers, static_cast<const I*>(column_indices), index, how);
        for (std::size_t k = 0; k < to.where.devices.size(); ++k)
            to.parts.push_back(builder.make(k, first_rows[k], first_rows[k + 1]));
    });
}

void read_part(const matrix_part& part, const csr_memory& to) {
    with_types(part.inner.value, part.inner.index, [&]<class T, class I>() { read_rows_of<T, I>(part, to); });
}

}  // namespace balm::array
