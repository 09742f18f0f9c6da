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
/// Transforms elements of a type, real or complex, along the fastest dimension, each line as an array of
/// rows: along columns, with factors, along rows, and transposes the result.
///
/// D. H. Bailey, FFTs in external or hierarchical memory, J. Supercomputing 4 (1990).
void transform_in_four_steps(const tape&, trace::type, const fft_lines&, const fft_manner&,
                             const vector_state& model, vector_state& into);
std::string words_of_four_steps(const fft_lines&, const vector_state& model);

/// The values of an expression as whole rows on each device, in proportion to the model's elements: a new
/// vector, unless the expression is such a vector.
std::shared_ptr<vector_state> in_rows(const tape&, trace::type, std::size_t rows, std::size_t columns,
                                      const vector_state& model);

}  // namespace balm::array
