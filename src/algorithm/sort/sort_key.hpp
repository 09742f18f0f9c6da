#pragma once
// Keys of radix sorts: the bits of a number, and the digits by which they are sorted.

#include <cstddef>
#include <memory>

#include "algorithm/block/values.hpp"
#include "array/vector_state.hpp"
#include "balm/types.hpp"
#include "base/table_hash.hpp"

namespace balm::array {

/// The type of keys, and which way they are sorted.
struct key_order {
    scalar type = scalar::u32;
    bool is_descending = false;

    int bits() const { return 8 * static_cast<int>(size_of(type)); }
    /// The unsigned integers that kernels move keys as.
    scalar bits_type() const;

    friend bool operator==(const key_order&, const key_order&) = default;
    void add_to(runtime::table_hash& hash) const { hash.add(type, is_descending); }
};

/// The unsigned integer of so many bytes: 1, 2, 4 or 8.
scalar unsigned_of_bytes(std::size_t bytes);

/// A vector's elements as unsigned integers.
std::shared_ptr<vector_state> bits_of(const vector_state&);

/// The number that a key becomes, of its bits_type: numbers ascend in the order that is asked for. -0 is
/// ahead of +0, behind it if they descend; NaNs are last either way, and ordered by their bits.
trace::node ordered_number(const trace::node& key_bits, const key_order&);
/// The bits of the key whose number this is.
trace::node key_of_number(const trace::node& number, const key_order&);

/// `count` bits of that number, from bit `shift` on.
block::Int digit_of(const trace::node& key_bits, const key_order&, const block::Int& shift, int count);

}  // namespace balm::array
