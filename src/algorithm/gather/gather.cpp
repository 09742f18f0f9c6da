#include "balm/gather.hpp"

#include <algorithm>

#include "array/layout.hpp"
#include "balm/error.hpp"

namespace balm::array {

void scatter(tape&& list, const vector_state& to) {
    const auto is_shared = [&](const auto& v) { return v->overlaps(to); };
    if (std::count_if(list.vectors.begin(), list.vectors.end(), is_shared) > 1)
        throw usage_error(
            "scatter_if reads the vector that it writes, whose elements may already be overwritten; read a "
            "copy of it");
    evaluate(std::move(list));
}

}  // namespace balm::array
