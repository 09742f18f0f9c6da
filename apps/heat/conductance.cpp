// Packs a world's properties. In: a world, alpha, dt. Out: codes and coefficients.

#include "conductance.hpp"

namespace heat {

std::vector<std::uint8_t> cell_codes(const world& world) {
    check(world);
    const std::size_t width = world.width;
    const auto conducts = [&](std::size_t cell) { return world.properties[cell] != insulator; };
    std::vector<std::uint8_t> codes(world.size(), hold_code);
    for (std::size_t y = 0, cell = 0; y < world.height; ++y)
        for (std::size_t x = 0; x < width; ++x, ++cell)
            if (world.properties[cell] == normal)
                codes[cell] = static_cast<std::uint8_t>(
                    (y > 0 && conducts(cell - width)) + (y + 1 < world.height && conducts(cell + width)) +
                    (x > 0 && conducts(cell - 1)) + (x + 1 < width && conducts(cell + 1)));
    return codes;
}

conductance make_conductance(float alpha, float dt) {
    conductance c;
    c.outer = alpha * dt;
    c.inner = 1 - c.outer / 4;
    float weight = c.inner;
    for (unsigned open = 0; open <= plain_code; ++open, weight += c.outer) {
        c.weight[open] = weight;
        c.keep[open] = c.inner / weight;
        if (open > 0) {
            const double growth = (double{c.inner} + open * double{c.outer}) / double{weight};
            c.take[open] = static_cast<float>((growth - double{c.keep[open]}) / open);
        }
    }
    c.weight[hold_code] = 1;
    c.keep[hold_code] = 1;
    return c;
}

}  // namespace heat
