#include "support/interpreter_image.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace balm::test {

namespace {

/// An element's bytes; null beyond the edges.
std::byte* element(const interpreter_image& image, const image_position& at) {
    std::int64_t flat = 0;
    for (std::size_t d = 3; d-- > 0;) {
        if (at[d] < 0 || at[d] >= image.extents[d]) return nullptr;
        flat = flat * image.extents[d] + at[d];
    }
    return image.memory.data() + static_cast<std::size_t>(flat) * 4 * image.what.lanes;
}

/// Along one dimension: two neighbouring elements, -1 for one of the border, and the weight of the second.
struct neighbours {
    std::int64_t first = 0, second = 0;
    double weight = 0;
};

/// OpenCL 1.2, section 8.2, by its formulas.
neighbours look(double s, std::int64_t n, const sampler& through) {
    const auto size = static_cast<double>(n);
    const bool is_linear = through.filter == image_filter::linear;
    const auto whole = [](double x) { return static_cast<std::int64_t>(std::floor(x)); };
    double u = through.coordinates == image_coordinates::normalised ? s * size : s;
    if (through.address == address_mode::repeat) u = (s - std::floor(s)) * size;
    if (through.address == address_mode::mirrored_repeat) u = std::fabs(s - 2 * std::rint(0.5 * s)) * size;
    neighbours found;
    found.first = whole(is_linear ? u - 0.5 : u);
    found.second = found.first + 1;
    if (is_linear) found.weight = u - 0.5 - std::floor(u - 0.5);
    for (std::int64_t* each : {&found.first, &found.second}) {
        switch (through.address) {
            case address_mode::repeat:
                if (*each < 0) *each += n;
                if (*each > n - 1) *each -= n;
                break;
            case address_mode::clamp_to_border: *each = std::clamp<std::int64_t>(*each, -1, n); break;
            default: *each = std::clamp<std::int64_t>(*each, 0, n - 1);
        }
    }
    return found;
}

}  // namespace

void read_image(const interpreter_image& image, const image_position& at, std::span<std::uint64_t> lanes) {
    const std::byte* const from = element(image, at);
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        lanes[k] = 0;
        if (from != nullptr) std::memcpy(&lanes[k], from + 4 * k, 4);
    }
}

void sample_image(const interpreter_image& image, const std::array<float, 3>& coordinates,
                  std::span<std::uint64_t> lanes) {
    const auto dimensions = static_cast<std::size_t>(trace::image_dimensions(image.what));
    std::array<neighbours, 3> along;
    for (std::size_t d = 0; d < dimensions; ++d)
        along[d] = look(static_cast<double>(coordinates[d]), image.extents[d], image.through);
    const image_position nearest{along[0].first, along[1].first, along[2].first};
    if (image.through.filter == image_filter::nearest) return read_image(image, nearest, lanes);
    if (image.what.element != scalar::f32)
        throw std::runtime_error("interpreter: a linear filter of integers");
    std::vector<double> sum(lanes.size());
    for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
        image_position at{};
        double weight = 1;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const bool is_second = (corner >> d & 1) != 0;
            at[d] = is_second ? along[d].second : along[d].first;
            weight *= is_second ? along[d].weight : 1 - along[d].weight;
        }
        read_image(image, at, lanes);
        for (std::size_t k = 0; k < lanes.size(); ++k)
            sum[k] += weight * std::bit_cast<float>(static_cast<std::uint32_t>(lanes[k]));
    }
    for (std::size_t k = 0; k < lanes.size(); ++k)
        lanes[k] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[k]));
}

void write_image(const interpreter_image& image, const image_position& at,
                 std::span<const std::uint64_t> lanes) {
    std::byte* const to = element(image, at);
    for (std::size_t k = 0; to != nullptr && k < lanes.size(); ++k) std::memcpy(to + 4 * k, &lanes[k], 4);
}

}  // namespace balm::test
