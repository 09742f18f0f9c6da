// Prints errors; the error of objects that were moved from.

#include "balm/error.hpp"

#include <fmt/format.h>

#include <ostream>

#include "balm/shared_state.hpp"

namespace balm {

std::ostream& error::write(std::ostream& to, const error& fault) { return to << fault.what(); }

void detail::moved_from(const char* what) {
    throw usage_error(fmt::format(
        "{} was used after it was moved from: std::move() and what it was passed to left nothing to "
        "use. Use the object that it was moved to, or assign to it first.",
        what));
}

}  // namespace balm
