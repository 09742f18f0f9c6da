#pragma once
// Keys of radix sorts: the bits of a number, and the digits by which they are sorted.

#include <cstddef>
#include <memory>

#include "algorithm/block/values.hpp"
#include "array/vector_state.hpp"
#include "balm/types.hpp"

namespace balm::array {

/// The type of keys and their sort order.
struct key_order {
    scalar type = scalar::u32;
    bool is_descending = false;

    int bits() const { return 8 * static_cast<int>(size_of(type)); }
    /// The unsigned integer type that kernels move keys as.
    scalar bits_type() const;

    friend bool operator==(const key_order&, const key_order&) = default;
};

/// The unsigned integer type of 1, 2, 4 or 8 bytes.
scalar unsigned_of_bytes(std::size_t bytes);

/// A vector's elements as unsigned integers.
std::shared_ptr<vector_state> bits_of(const vector_state&);

/// Maps a key to a number of bits_type that ascends in the requested order. -0 precedes +0 in ascending order
/// and follows it in descending order. NaNs are the greatest numbers either way, a different one for each, so
/// that their bits can be stored again.
trace::node ordered_number(const trace::node& key_bits, const key_order&);
/// The bits of the key that maps to this number.
trace::node key_of_number(const trace::node& number, const key_order&);
/// What numbers are compared by: the number itself, or the same for all NaNs.
trace::node rank_of_number(const trace::node& number, const key_order&);

/// Bits of a number, from bit `shift` on.
struct digit_place {
    const block::Int& shift;
    int bits;
    bool has_nans = true;  ///< there may be NaNs among the keys
};
/// A digit of what a radix sort sorts by: equal for all NaNs. The number may also be the greatest of its
/// type, whose bits are all set.
block::Int digit_of_number(const trace::node& number, const key_order&, const digit_place&);
/// The same for a key.
block::Int digit_of(const trace::node& key_bits, const key_order&, const digit_place&);

}  // namespace balm::array
