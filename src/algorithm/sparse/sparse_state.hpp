#pragma once
// The state behind a sparse matrix's handle: its entries on one device, or parts of them on several.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// Elements of the operand that border rows need and that one of the devices holds.
struct needed_elements {
    std::size_t part = 0;   ///< the part that holds them
    std::size_t first = 0;  ///< their position among all that border rows need
    std::size_t count = 0;
    std::size_t consecutive_from = 0;         ///< if `positions` is null: the first one, in its part
    std::shared_ptr<vector_state> positions;  ///< in its part, on its device (i64)
};

/// What one device holds: the whole matrix, or contiguous rows. With several devices, each holds the
/// operand's elements from first_column on. Rows that need no other elements are in `inner`, where all other
/// rows are empty; the others, the border, are in `border`, whose columns count the elements that its rows
/// need.
struct matrix_part {
    std::shared_ptr<runtime::device_state> device;
    std::size_t first_row = 0, first_column = 0;
    stored_matrix inner;  ///< all rows; columns count from first_column

    stored_matrix border;                          ///< no rows: there is no border
    std::shared_ptr<vector_state> border_rows;     ///< which rows of the part these are (i64)
    std::vector<std::int64_t> border_row_list;     ///< the same on the host
    std::vector<std::int64_t> needed_columns;      ///< of the whole matrix, ascending
    std::vector<needed_elements> needed;           ///< the same, by device
    std::shared_ptr<runtime::queue_state> copies;  ///< runs them while the inner rows are computed

    bool has_border() const { return border.rows > 0; }
    std::size_t bytes() const;
};

/// The devices of a matrix, and how rows and columns are divided among several.
struct device_shares {
    std::vector<std::shared_ptr<runtime::device_state>> devices;
    std::vector<double> weights;
};

class sparse_state {
public:
    std::size_t rows = 0, columns = 0, entries = 0;
    trace::type value;
    block_shape block;  ///< of its dense blocks, as far as known
    std::vector<matrix_part> parts;
    std::vector<std::size_t> first_columns;  ///< of each part, then the number of columns
    device_shares where;
    std::shared_ptr<vector_state> near;  ///< an empty vector on the matrix's devices

    bool is_spread() const { return parts.size() > 1; }
    scalar index() const { return parts[0].inner.index; }
    /// The transpose, made on first use.
    std::shared_ptr<const sparse_state> kept_transpose() const;
    /// The transpose if it has been made; otherwise null.
    std::shared_ptr<const sparse_state> known_transpose() const;

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const sparse_state> transpose_;
};

/// Makes the parts on several devices. `where`, sizes and types must be set, and columns checked.
void store_spread(sparse_state&, const host_csr&, const std::vector<std::int64_t>& pointers,
                  const void* column_indices, scalar index, storage);
/// Throws usage_error if a vector of the operand is on devices other than the matrix's.
void check_devices_of_operand(const sparse_state&, const tape& x, const char* what_is_done);
/// Writes the rows of a part to the memory of the whole matrix: see read_entries.
void read_part(const matrix_part&, const csr_memory&);

}  // namespace balm::array
