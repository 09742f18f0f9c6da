#pragma once
// Transforms of arrays whose lines lie on several devices: each device transforms whole rows or whole
// columns, between which devices exchange elements.

#include <cstddef>
#include <functional>
#include <memory>

#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/row_exchange.hpp"

namespace balm::array {

/// Transforms some columns on a device: those of a block of lines.outer * lines.count rows of lines.inner
/// elements. Returns the block or another one, of other rows.
using column_transform =
    std::function<std::shared_ptr<vector_state>(const std::shared_ptr<vector_state>&, const fft_lines&)>;

/// Transforms an expression along a dimension that has faster ones: by columns, of which each device gets
/// some. `type`: of the expression's elements. `model` says how much each device gets.
void transform_columns(const tape&, trace::type, const fft_lines&, const vector_state& model,
                       vector_state& into, const column_transform&);
/// The columns of a block of real or complex elements, transformed: in the block, where they are complex.
std::shared_ptr<vector_state> transformed_block(const std::shared_ptr<vector_state>&, const fft_lines&,
                                                const fft_manner&);
std::string words_of_columns(const fft_lines&, const vector_state& model);

/// The rows of the array as which a transform of n is divided; 0, where it cannot be divided between so many
/// devices.
std::size_t rows_of_four_steps(std::size_t n, std::size_t devices);
/// The transform of an array of n elements over the devices of a vector, as one of rows: along columns, with
/// factors, along rows, and transposed.
///
/// D. H. Bailey, FFTs in external or hierarchical memory, J. Supercomputing 4 (1990).
class four_steps {
public:
    /// `model` says how much each device gets.
    four_steps(const vector_state& model, scalar element, std::size_t n);

    /// What run() takes: the elements of an expression, real or complex.
    std::shared_ptr<vector_state> loaded(const tape&, trace::type) const;
    /// The same of 2 n real elements, two neighbours of which are one complex number.
    std::shared_ptr<vector_state> loaded_pairs(const tape&) const;
    /// A vector of complex elements for run().
    std::shared_ptr<vector_state> made() const;
    /// Into the elements of a vector from `base` on.
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
/// The same of elements of a type along the fastest dimension.
void transform_in_four_steps(const tape&, trace::type, const fft_lines&, const fft_manner&,
                             const vector_state& model, vector_state& into);
std::string words_of_four_steps(const fft_lines&, const vector_state& model);

/// Of some arrays of `count` elements the one of that number.
tape one_array(const tape&, std::size_t arrays, std::size_t count, std::size_t number);
/// A vector of real elements as one of pairs; null where a part of it would not lie as devices want them.
std::shared_ptr<vector_state> as_spread_pairs(const std::shared_ptr<vector_state>&);

/// The values of an expression as whole rows on each device, in proportion to the model's elements: a new
/// vector, unless the expression is such a vector.
std::shared_ptr<vector_state> in_rows(const tape&, trace::type, std::size_t rows, std::size_t columns,
                                      const vector_state& model);

}  // namespace balm::array
