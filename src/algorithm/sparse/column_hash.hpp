#pragma once
// Where the search for a column begins in the hash table of a row, for the tables of work-items and of teams.

#include "balm/balm.hpp"

namespace balm::array::row_products {

using namespace balm::dsl;

/// A multiplicative hash of a column, from 0 to 2^bits - 1.
template <class I>
UInt hashed(const Var<I>& column, const UInt& bits) {
    return (cast<unsigned>(column) * 2654435769u) >> (32u - bits);
}

}  // namespace balm::array::row_products
