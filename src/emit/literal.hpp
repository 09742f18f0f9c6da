#pragma once
// Constants as text, exact to the bit.

#include <string>

#include "emit/text.hpp"
#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

/// The scalar with this bit pattern.
text literal(runtime::dialect, scalar, std::uint64_t bits);

}  // namespace balm::emit
