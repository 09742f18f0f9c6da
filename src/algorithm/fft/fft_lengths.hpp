#pragma once
// Arrays that are cut, or continued with zeros, where a transform loads them.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "balm/along.hpp"
#include "balm/expr.hpp"

namespace balm::array {

using index_values = expr<std::int64_t>;

/// The elements at positions of a box, which the array fills from the start of each dimension; zero
/// elsewhere. What lies beyond the box is not read.
template <class E>
expr<E> padded_at(const expr<E>& x, const shape& from, const shape& box, const index_values& at) {
    std::optional<expr<bool>> is_there;
    std::optional<index_values> place;
    std::size_t inner = 1, inner_from = 1;
    for (int d = box.dimensions() - 1; d >= 0; --d) {
        if (box[d] > 1) {
            index_values c = at;
            if (inner > 1) c = std::move(c) / static_cast<std::int64_t>(inner);
            if (inner * box[d] < box.count()) c = std::move(c) % static_cast<std::int64_t>(box[d]);
            const auto extent = static_cast<std::int64_t>(from[d]);
            if (from[d] < box[d]) {
                expr<bool> is_within = c < extent;
                is_there = is_there ? *is_there && is_within : is_within;
                c = min(c, extent - 1);
            }
            if (inner_from > 1) c = std::move(c) * static_cast<std::int64_t>(inner_from);
            place = place ? *place + c : c;
        }
        inner *= box[d];
        inner_from *= from[d];
    }
    const expr<E> found(x[place ? *place : index_values(at)]);
    return is_there ? expr<E>(select(*is_there, found, E{})) : found;
}

/// The box with these extents along the named dimensions, in the order of their names; unchanged if there are
/// no lengths. `transform` is the subject of messages. Throws usage_error for another number of lengths than
/// of dimensions, and for a length of 0.
shape with_lengths(const char* transform, const shape& box, const dimension_list& over,
                   std::span<const std::size_t> lengths);

/// The elements, of this type, cut or continued with zeros to a box: an expression, without a copy.
tape resized(const char* transform, tape&& elements, trace::type, const shape& box);

}  // namespace balm::array
