// Generates worlds. In: sizes, a propagation constant, a seed. Out: a checked world.
// The slalom's proportions are those of the golden worlds in tests/golden/heat.

#include "generate.hpp"

#include <random>

namespace heat {
namespace {

world make_empty(unsigned width, unsigned height, float alpha) {
    world result;
    result.width = width;
    result.height = height;
    result.alpha = alpha;
    result.properties.assign(result.size(), normal);
    result.state.assign(result.size(), 0.0f);
    check(result);
    return result;
}

void close_border(world& world) {
    const std::size_t width = world.width, height = world.height;
    for (std::size_t x = 0; x < width; ++x) {
        world.properties[x] = insulator;
        world.properties[(height - 1) * width + x] = insulator;
    }
    for (std::size_t y = 0; y < height; ++y) {
        world.properties[y * width] = insulator;
        world.properties[y * width + width - 1] = insulator;
    }
}

// A uniform number in [0, 1) from the top bits: std distributions differ between libraries.
double uniform(std::mt19937_64& generator) { return static_cast<double>(generator() >> 11) * 0x1p-53; }

}  // namespace

world make_slalom(unsigned width, unsigned height, float alpha) {
    world result = make_empty(width, height, alpha);
    const std::size_t w = width, h = height;
    const auto set = [&](std::size_t x, std::size_t y, cell_kind kind, float temperature) {
        result.properties[y * w + x] = kind;
        result.state[y * w + x] = temperature;
    };
    const std::size_t left = w / 3, right = 2 * w / 3, upper = h / 3, middle = h / 2, lower = 2 * h / 3;

    for (std::size_t x = 0; x <= right && x < w; ++x) set(x, upper, insulator, 0);
    for (std::size_t y = upper; y < middle; ++y) set(right, y, insulator, 0);
    for (std::size_t x = left; x < w; ++x) set(x, lower, insulator, 0);
    for (std::size_t y = middle; y < lower; ++y) set(left, y, insulator, 0);

    if (h >= 3) {
        set(w / 2, h - 3, fixed, 0);
        for (std::size_t x = 1; x + 1 < w; ++x) set(x, 1, fixed, 1);
    }
    close_border(result);
    return result;
}

world make_random(unsigned width, unsigned height, float alpha, std::uint64_t seed, random_options options) {
    world result = make_empty(width, height, alpha);
    std::mt19937_64 generator(seed);
    for (std::size_t index = 0; index < result.size(); ++index) {
        const double kind = uniform(generator);
        if (kind < options.insulators) {
            result.properties[index] = insulator;
        } else if (kind < options.insulators + options.fixed) {
            result.properties[index] = fixed;
        }
        result.state[index] = static_cast<float>(uniform(generator));
    }
    if (options.closed_border) close_border(result);
    return result;
}

}  // namespace heat
