// The parts of balm/kernel.hpp that need no templates: errors, out of line.

#include "balm/kernel.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"

namespace balm::detail {

bound_argument bind_local(std::size_t count, std::size_t element_size) {
    if (count == 0 || count > UINT32_MAX / element_size)
        throw usage_error(
            fmt::format("local memory for {} elements of {} bytes is asked for", count, element_size));
    bound_argument bound;
    bound.what = bound_argument::kind::local;
    bound.size = static_cast<std::uint32_t>(count * element_size);
    return bound;
}

void argument_does_not_fit(scalar type) {
    throw usage_error(
        fmt::format("an argument does not fit the kernel's parameter of type {}", to_string(type)));
}

void undefined_function() {
    throw trace_error(
        "a device function is called before it is defined. If it calls itself: devices have no recursion; "
        "write "
        "it with WHILE or range");
}

}  // namespace balm::detail
