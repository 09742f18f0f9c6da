#pragma once
// Arrays over several devices whose rows or columns each device has as a whole, and the exchange of one for
// the other. A transform along a dimension whose elements lie on several devices is one along columns.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/layout.hpp"
#include "array/spread/units.hpp"

namespace balm::array {

/// The same of columns: in groups of some, where there are many.
unit_ranges columns_like(const vector_state& model, std::size_t columns);
/// "20, 20 and 24"
std::string words_of(const unit_ranges&);

/// Elements of an array of rows and columns that some devices have of it, in row-major order: one vector for
/// each device, null where it has none.
using device_blocks = std::vector<std::shared_ptr<vector_state>>;

/// A queue of each device for copies to it: its kernels run meanwhile.
class copy_queues {
public:
    /// Of the devices of a vector.
    explicit copy_queues(const vector_state&);
    runtime::queue_state& operator[](std::size_t device) const { return *queues_[device]; }

private:
    std::vector<std::shared_ptr<runtime::queue_state>> queues_;
};

/// The columns that each device wants, all rows of them. `rows` has whole rows, each of `columns` elements,
/// on each device. What a device has itself is packed by a kernel; what others have they pack, and it is
/// copied.
device_blocks exchanged_for_columns(const vector_state& rows, std::size_t columns, const unit_ranges& wanted,
                                    const copy_queues&);

/// The other way, into a vector in any partition: the copies are enqueued here, the kernels that unpack them
/// by store().
class columns_into_rows {
public:
    /// Blocks of some columns of an array of `columns`.
    columns_into_rows(device_blocks blocks, unit_ranges of_blocks, std::size_t columns, vector_state& into,
                      const copy_queues&);
    void store();

private:
    device_blocks blocks_;
    unit_ranges of_blocks_;
    std::size_t columns_;
    vector_state& into_;
    std::vector<device_blocks> copies_;  ///< of each device, those of the others' blocks
};

/// Columns of each device in a few pieces, so that copies of one and kernels of another overlap.
std::vector<unit_ranges> in_pieces(const unit_ranges& columns);

/// Assigns values to places of a whole vector: those places that are in this part of it, which begins at
/// `first`.
void assign_in_part(vector_state& part, std::size_t first, const affine_map& places, tape&& values);
/// The elements of a vector at these places.
tape elements_at(const std::shared_ptr<vector_state>&, const affine_map& places);
/// Rows and columns that are so far apart.
affine_map grid_of(std::size_t rows, std::size_t columns, std::size_t row_stride, std::size_t column_stride,
                   std::size_t offset);

}  // namespace balm::array
