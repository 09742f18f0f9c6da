#pragma once
// Arrays over several devices, each of which holds whole rows or whole columns, and the exchange of one for
// the other. A transform along a dimension whose elements are on several devices runs along columns.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/layout.hpp"
#include "array/spread/units.hpp"

namespace balm::array {

/// As units_like, for columns; many columns are divided in groups of neighbours.
unit_ranges columns_like(const vector_state& model, std::size_t columns);
/// "20, 20 and 24"
std::string words_of(const unit_ranges&);

/// The elements of an array of rows and columns that each device holds, in row-major order: one vector per
/// device, null if it holds none.
using device_blocks = std::vector<std::shared_ptr<vector_state>>;

/// A queue of each device for copies to it, which overlap with its kernels.
class copy_queues {
public:
    /// For the devices of a vector.
    explicit copy_queues(const vector_state&);
    runtime::queue_state& operator[](std::size_t device) const { return *queues_[device]; }

private:
    std::vector<std::shared_ptr<runtime::queue_state>> queues_;
};

/// The columns that each device wants, in all rows. `rows` has whole rows of `columns` elements on each
/// device. A kernel packs what the device holds itself; the other devices pack what they hold, and it is
/// copied.
device_blocks exchanged_for_columns(const vector_state& rows, std::size_t columns, const unit_ranges& wanted,
                                    const copy_queues&);

/// The inverse, into a vector in any partition. The constructor enqueues the copies, store() the kernels that
/// unpack them.
class columns_into_rows {
public:
    /// `blocks`: the columns `of_blocks` of an array of `columns` columns.
    columns_into_rows(device_blocks blocks, unit_ranges of_blocks, std::size_t columns, vector_state& into,
                      const copy_queues&);
    void store();

private:
    device_blocks blocks_;
    unit_ranges of_blocks_;
    std::size_t columns_;
    vector_state& into_;
    std::vector<device_blocks> copies_;  ///< for each device, the copies of the others' blocks
};

/// The columns of each device in a few pieces, so that copies of one overlap with kernels of another.
std::vector<unit_ranges> in_pieces(const unit_ranges& columns);

/// Assigns the values whose positions in the whole vector are in this part of it, which begins at `first`.
void assign_in_part(vector_state& part, std::size_t first, const affine_map& places, tape&& values);
/// The elements of a vector at these positions.
tape elements_at(const std::shared_ptr<vector_state>&, const affine_map& places);
/// The positions of rows and columns with these strides.
affine_map grid_of(std::size_t rows, std::size_t columns, std::size_t row_stride, std::size_t column_stride,
                   std::size_t offset);

}  // namespace balm::array
