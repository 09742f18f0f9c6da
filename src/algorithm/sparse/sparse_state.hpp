#pragma once
// What a sparse matrix's handle refers to: its entries on a device, or parts of them on several.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// Elements of the operand that border rows need and that one of the devices has.
struct needed_elements {
    std::size_t part = 0;   ///< whose they are
    std::size_t first = 0;  ///< where they are among all that border rows need
    std::size_t count = 0;
    std::size_t consecutive_from = 0;         ///< where `positions` is null: the first one, in its part
    std::shared_ptr<vector_state> positions;  ///< in its part, on its device (i64)
};

/// What one device has: all of the matrix, or consecutive rows. Of several devices each has the operand's
/// elements from first_column on, and its rows are of two kinds: those that need no others are in `inner`,
/// where the rest is empty; the rest, the border, is in `border`, whose columns count the elements that its
/// rows need.
struct matrix_part {
    std::shared_ptr<runtime::device_state> device;
    std::size_t first_row = 0, first_column = 0;
    stored_matrix inner;  ///< of all rows; columns count from first_column

    stored_matrix border;                          ///< no rows: there is none
    std::shared_ptr<vector_state> border_rows;     ///< which rows of the part these are (i64)
    std::vector<std::int64_t> border_row_list;     ///< the same on the host
    std::vector<std::int64_t> needed_columns;      ///< of the whole matrix, ascending
    std::vector<needed_elements> needed;           ///< the same, by device
    std::shared_ptr<runtime::queue_state> copies;  ///< takes them while the inner rows are computed

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
    block_shape block;  ///< of the dense blocks that it consists of, as far as that is known
    std::vector<matrix_part> parts;
    std::vector<std::size_t> first_columns;  ///< of each part, and the number of columns
    device_shares where;
    std::shared_ptr<vector_state> near;  ///< a vector without elements on the matrix's devices

    bool is_spread() const { return parts.size() > 1; }
    scalar index() const { return parts[0].inner.index; }
    /// The transpose, made when it is first asked for.
    std::shared_ptr<const sparse_state> kept_transpose() const;
    /// The same if it has been made.
    std::shared_ptr<const sparse_state> known_transpose() const;

private:
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const sparse_state> transpose_;
};

/// Makes the parts on several devices: `where`, sizes and types are set; columns have been checked.
void store_spread(sparse_state&, const host_csr&, const std::vector<std::int64_t>& pointers,
                  const void* column_indices, scalar index, storage);
/// Writes the rows of a part to the memory of the whole matrix: see read_entries.
void read_part(const matrix_part&, const csr_memory&);

}  // namespace balm::array
