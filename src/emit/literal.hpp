#pragma once
// Constants as text, exact to the bit.

#include <string>

#include "emit/dialect.hpp"

namespace balm::emit {

/// The scalar with this bit pattern.
text literal(const dialect&, scalar, std::uint64_t bits);

/// The largest and the smallest value of an integer type; those of small types are ints.
std::string largest(const dialect&, scalar type);
std::string smallest(const dialect&, scalar type);

}  // namespace balm::emit
