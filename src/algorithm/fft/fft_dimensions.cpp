#include "algorithm/fft/fft_dimensions.hpp"

#include <cmath>
#include <cstddef>

#include "algorithm/named_dimensions.hpp"

namespace balm::array {

namespace {

/// The named dimensions of at least `least` elements, fastest first.
std::vector<fft_lines> lines_along(const shape& box, const std::vector<bool>& is_named,
                                   std::size_t least = 2) {
    std::vector<fft_lines> made;
    std::size_t inner = 1;
    for (int d = box.dimensions() - 1; d >= 0; --d) {
        if (is_named[static_cast<std::size_t>(d)] && box[d] >= least) made.push_back({0, box[d], inner});
        inner *= box[d];
    }
    for (fft_lines& each : made) {
        if (inner > 0) each.outer = inner / each.count / each.inner;
        check_sizes(each);
    }
    return made;
}

}  // namespace

std::vector<bool> named_dimensions(const shape& box, const dimension_list& over) {
    if (over.count == 0) return std::vector<bool>(static_cast<std::size_t>(box.dimensions()), true);
    return named_dimensions("a transform", box, over);
}

std::vector<fft_lines> dimensions_of(const shape& box, const dimension_list& over) {
    std::vector<fft_lines> made = lines_along(box, named_dimensions(box, over));
    if (made.empty()) made.push_back({box.count(), 1, 1});
    return made;
}

std::vector<fft_lines> named_lines(const shape& box, const dimension_list& over) {
    return lines_along(box, named_dimensions(box, over), 1);
}

int last_dimension(const shape& box, const dimension_list& over) {
    const std::vector<bool> all = named_dimensions(box, over);
    int last = box.dimensions() - 1;
    while (!all[static_cast<std::size_t>(last)]) --last;
    return last;
}

real_dimensions real_dimensions_of(const shape& box, const dimension_list& over, std::size_t count) {
    std::vector<bool> others = named_dimensions(box, over);
    const int last = last_dimension(box, over);
    others[static_cast<std::size_t>(last)] = false;
    fft_lines real{1, count, 1};
    for (int d = 0; d < last; ++d) real.outer *= box[d];
    for (int d = last + 1; d < box.dimensions(); ++d) real.inner *= box[d];
    check_sizes(real);
    return {real, lines_along(box, others)};
}

long double factor_of(fft_norm norm, bool is_inverse, std::size_t count) {
    if (norm == fft_norm::ortho) return 1 / std::sqrt(static_cast<long double>(count));
    return is_inverse == (norm == fft_norm::backward) ? 1 / static_cast<long double>(count) : 1;
}

shape with_extent(const shape& box, int dimension, std::size_t count) {
    std::vector<std::size_t> extents(static_cast<std::size_t>(box.dimensions()));
    for (int d = 0; d < box.dimensions(); ++d)
        extents[static_cast<std::size_t>(d)] = d == dimension ? count : box[d];
    return shape(extents);
}

}  // namespace balm::array
