#pragma once
// The operand of a sparse product: a vector, or the columns of a row-major matrix. Some of the columns may be
// the lanes of a short vector, so that an entry is loaded once for all of them.

#include <bit>
#include <cstddef>

#include "balm/device_type.hpp"

namespace balm::array {

struct operand_form {
    trace::type type;        ///< of the product's elements; the operand is converted to it first
    std::size_t lanes = 1;   ///< columns that one call of a function computes
    std::size_t groups = 1;  ///< calls per row: neighbours, which share its entries in caches

    std::size_t columns() const { return lanes * groups; }
    /// The number of groups if kernels are specialised for it; 0 if it is an argument.
    std::size_t known_groups() const {
        constexpr std::size_t most_known = 8;
        return std::has_single_bit(groups) && groups <= most_known ? groups : 0;
    }
    /// What one call computes, and an element of the operand's memory.
    trace::type element() const {
        trace::type made = type;
        if (lanes > 1) made.lanes = static_cast<std::uint8_t>(lanes);
        return made;
    }
};

}  // namespace balm::array
