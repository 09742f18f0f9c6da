#pragma once
// Neighbouring scalars in memory as one access. Integers of 8 and 16 bits are accessed in words, for which
// every device has instructions.

#include <cstdint>
#include <span>

#include "ir/builder.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

class packed_elements {
public:
    /// As many of `width` neighbours as fit into one access: at most 16 bytes. `width` is a power of two.
    packed_elements(scalar element, std::uint8_t width) : element_(element), width_(width) {}

    /// Elements of one access.
    std::uint8_t elements() const;
    /// The type of one access to memory.
    type access() const;
    /// The k-th element of a loaded access.
    value_id lane(value_id loaded, std::uint8_t k, builder&) const;
    /// The value to store, made of one value per element.
    value_id pack(std::span<const value_id> values, builder&) const;

private:
    bool is_in_words() const { return size_of(element_) < 4 && element_ != scalar::f16; }
    std::uint8_t elements_of_word() const { return static_cast<std::uint8_t>(4 / size_of(element_)); }
    std::uint64_t bits() const { return 8 * size_of(element_); }
    value_id words(std::span<const value_id> values, builder&) const;

    scalar element_;
    std::uint8_t width_;
};

}  // namespace balm::ir
