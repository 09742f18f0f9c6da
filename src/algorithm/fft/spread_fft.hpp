#pragma once
// Transforms of arrays whose lines are on several devices: each device transforms whole rows or whole
// columns, and devices exchange elements in between.

#include <cstddef>
#include <functional>
#include <memory>

#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/row_exchange.hpp"

namespace balm::array {

/// Transforms the columns of a block on one device: lines.outer * lines.count rows of lines.inner elements.
/// Returns the block, or another one, whose number of rows may differ.
using column_transform =
    std::function<std::shared_ptr<vector_state>(const std::shared_ptr<vector_state>&, const fft_lines&)>;

/// Transforms an expression along a dimension that is not the fastest, by columns, which are divided among
/// the devices in proportion to `model`. The type is that of the expression's elements.
void transform_columns(const tape&, trace::type, const fft_lines&, const vector_state& model,
                       vector_state& into, const column_transform&);
/// Transforms the columns of a block of real or complex elements, in place if they are complex.
std::shared_ptr<vector_state> transformed_block(const std::shared_ptr<vector_state>&, const fft_lines&,
                                                const fft_manner&);
std::string words_of_columns(const fft_lines&, const vector_state& model);

/// The number of rows of the matrix that represents a transform of n; 0 if it cannot be divided among this
/// number of devices.
std::size_t rows_of_four_steps(std::size_t n, std::size_t devices);
/// The transform of an array of n elements over the devices of a vector, as a matrix: transforms along
/// columns, twiddle factors, transforms along rows, and a transpose.
///
/// D. H. Bailey, FFTs in external or hierarchical memory, J. Supercomputing 4 (1990).
class four_steps {
public:
    /// `model` determines the share of each device.
    four_steps(const vector_state& model, scalar element, std::size_t n);

    /// The elements of an expression, real or complex, as run() takes them.
    std::shared_ptr<vector_state> loaded(const tape&, trace::type) const;
    /// The same for 2 n real elements, of which two neighbours form one complex number.
    std::shared_ptr<vector_state> loaded_pairs(const tape&) const;
    /// A vector of complex elements for run().
    std::shared_ptr<vector_state> made() const;
    /// Transforms into the elements of `into` from `base` on.
    void run(const std::shared_ptr<vector_state>& loaded, const fft_manner&, vector_state& into,
             std::size_t base) const;
    std::string words() const;

private:
    void store_transposed(const vector_state& rows, vector_state& into, std::size_t base) const;

    const vector_state& model_;
    const scalar element_;
    const std::size_t n_, rows_, columns_;
    const unit_ranges own_rows_, own_columns_;
    const copy_queues queues_;
};
/// The same for all lines of an expression, along the fastest dimension.
void transform_in_four_steps(const tape&, trace::type, const fft_lines&, const fft_manner&,
                             const vector_state& model, vector_state& into);
std::string words_of_four_steps(const fft_lines&, const vector_state& model);

/// Array `number` of an expression of `arrays` arrays, each of `count` elements.
tape one_array(const tape&, std::size_t arrays, std::size_t count, std::size_t number);
/// A vector of real elements as one of pairs; null if a part divides a pair or is not aligned for pairs.
std::shared_ptr<vector_state> as_spread_pairs(const std::shared_ptr<vector_state>&);

/// The values of an expression as whole rows on each device, in proportion to the model's elements: a new
/// vector, unless the expression is such a vector.
std::shared_ptr<vector_state> in_rows(const tape&, trace::type, std::size_t rows, std::size_t columns,
                                      const vector_state& model);

}  // namespace balm::array
