// Prints errors.

#include "balm/error.hpp"

#include <ostream>

namespace balm {

std::ostream& error::write(std::ostream& to, const error& fault) { return to << fault.what(); }

}  // namespace balm
