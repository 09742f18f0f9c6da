#pragma once
// Constants as text, exact to the bit.

#include <string>

#include "emit/dialect.hpp"

namespace balm::emit {

/// The scalar with this bit pattern.
text literal(const dialect&, scalar, std::uint64_t bits);

}  // namespace balm::emit
