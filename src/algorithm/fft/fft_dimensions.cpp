#include "algorithm/fft/fft_dimensions.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "balm/error.hpp"

namespace balm::array {

namespace {

using dimension_set = std::array<bool, shape::max_dimensions>;

dimension_set dimensions_named(const shape& box, const dimension_list& over) {
    dimension_set made{};
    for (int d = 0; over.count == 0 && d < box.dimensions(); ++d) made[static_cast<std::size_t>(d)] = true;
    for (int k = 0; k < over.count; ++k) {
        const std::int64_t d = over.each[static_cast<std::size_t>(k)];
        if (d < 0 || d >= box.dimensions())
            throw usage_error(
                fmt::format("a transform runs along dimension {} of {}, whose dimensions are 0 to {}", d,
                            to_string(box), box.dimensions() - 1));
        bool& is_named = made[static_cast<std::size_t>(d)];
        if (is_named)
            throw usage_error(
                fmt::format("a transform runs twice along dimension {}; name each one once", d));
        is_named = true;
    }
    return made;
}

/// Those of the set, the fastest first.
std::vector<fft_lines> lines_along(const shape& box, const dimension_set& dimensions) {
    std::vector<fft_lines> made;
    std::size_t inner = 1;
    for (int d = box.dimensions() - 1; d >= 0; --d) {
        if (dimensions[static_cast<std::size_t>(d)] && box[d] > 1) made.push_back({0, box[d], inner});
        inner *= box[d];
    }
    for (fft_lines& each : made) {
        if (inner > 0) each.outer = inner / each.count / each.inner;
        check_sizes(each);
    }
    return made;
}

}  // namespace

std::vector<fft_lines> dimensions_of(const shape& box, const dimension_list& over) {
    std::vector<fft_lines> made = lines_along(box, dimensions_named(box, over));
    if (made.empty()) made.push_back({box.count(), 1, 1});
    return made;
}

int last_dimension(const shape& box, const dimension_list& over) {
    const dimension_set all = dimensions_named(box, over);
    int last = box.dimensions() - 1;
    while (!all[static_cast<std::size_t>(last)]) --last;
    return last;
}

real_dimensions real_dimensions_of(const shape& box, const dimension_list& over, std::size_t count) {
    dimension_set others = dimensions_named(box, over);
    const int last = last_dimension(box, over);
    others[static_cast<std::size_t>(last)] = false;
    fft_lines real{1, count, 1};
    for (int d = 0; d < last; ++d) real.outer *= box[d];
    for (int d = last + 1; d < box.dimensions(); ++d) real.inner *= box[d];
    check_sizes(real);
    return {real, lines_along(box, others)};
}

}  // namespace balm::array
