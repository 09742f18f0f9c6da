#pragma once

#include <fmt/format.h>

#include <vector>

#include "balm/along.hpp"
#include "balm/error.hpp"

namespace balm::array {

/// Which dimensions of the box a list names. Throws usage_error for a dimension that does not exist or is
/// named twice; `runner`, such as "a reduction", is the subject of the message.
inline std::vector<bool> named_dimensions(const char* runner, const shape& box, const dimension_list& list) {
    std::vector<bool> is_named(static_cast<std::size_t>(box.dimensions()));
    for (int k = 0; k < list.count; ++k) {
        const std::int64_t d = list.each[static_cast<std::size_t>(k)];
        if (d < 0 || d >= box.dimensions())
            throw usage_error(
                fmt::format("{} cannot run along dimension {} of {}, whose dimensions are 0 to {}", runner, d,
                            to_string(box), box.dimensions() - 1));
        if (is_named[static_cast<std::size_t>(d)])
            throw usage_error(fmt::format("{} runs twice along dimension {}; name each one once", runner, d));
        is_named[static_cast<std::size_t>(d)] = true;
    }
    return is_named;
}

}  // namespace balm::array
