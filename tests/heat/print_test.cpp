// Printing from a heat kernel, for debugging: the temperatures that a step reads and writes, in {fmt}'s
// formats, are those of the serial reference.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "generate.hpp"
#include "reference.hpp"
#include "world.hpp"

namespace {

using namespace balm::dsl;

constexpr unsigned width = 9, height = 8;
constexpr float outer = 0.25f, inner = 1 - outer / 4;

/// One step of a world whose border stays; a work-item whose cell becomes warm prints what it did.
auto printing_step() {
    return balm::kernel<2>("step(kinds, from, to)", [](In<int> kinds, In<float> from, Out<float> to) {
        const Int x = cast<int>(global_id(0)), y = cast<int>(global_id(1));
        const Int at = y * static_cast<int>(width) + x;
        Float now = from[at];
        IF (kinds[at] == 0) {
            Float sum = inner * now, weight = inner;
            for (const int apart : {-static_cast<int>(width), static_cast<int>(width), -1, 1})
                IF (kinds[at + apart] != 2) {
                    sum += outer * from[at + apart];
                    weight += outer;
                }
            const Float next = sum / weight;
            IF (now == 0.f && next > 0.f) {
                print("cell ({}, {}) of {} x {}: {:.3f} -> {:.3f}\n", x, y, width, height, now, next);
            }
            now = next;
        }
        to[at] = now;
    });
}

TEST(H7_printing, shows_the_cells_that_a_step_warms) {
    heat::world world = heat::make_slalom(width, height, 1);
    std::vector<int> kinds;
    for (std::size_t i = 0; i < world.size(); ++i)
        kinds.push_back(static_cast<int>(world.properties[i] == heat::insulator ? 2
                                         : world.properties[i] == heat::fixed   ? 1
                                                                                : 0));
    heat::world after = world;
    heat::step_serial(after, outer, 1);
    std::vector<std::string> expected;
    for (unsigned y = 0; y < height; ++y)
        for (unsigned x = 0; x < width; ++x) {
            const float was = world.state[y * width + x], is = after.state[y * width + x];
            if (kinds[y * width + x] == 0 && was == 0 && is > 0)
                expected.push_back(
                    fmt::format("cell ({}, {}) of {} x {}: {:.3f} -> {:.3f}", x, y, width, height, was, is));
        }
    ASSERT_FALSE(expected.empty());
    std::sort(expected.begin(), expected.end());

    const auto kernel = printing_step();
    const balm::context all(balm::filter::any);
    for (const balm::device& on : all.devices()) {
        SCOPED_TRACE(on.name());
        std::ostringstream text;
        balm::context context({on});
        context.print_to(text);
        auto of_kinds = on.in_buffer<int>(kinds.size());
        auto from = on.in_buffer<float>(world.size());
        auto to = on.out_buffer<float>(world.size());
        of_kinds.write(kinds);
        from.write(world.state);
        on.execute(kernel(of_kinds, from, to), {width, height});
        const auto got = to.read();
        context.device().finish();
        for (std::size_t i = 0; i < world.size(); ++i) EXPECT_NEAR(got[i], after.state[i], 1e-6) << i;
        std::istringstream lines(text.str());
        std::vector<std::string> shown;
        for (std::string line; std::getline(lines, line);) shown.push_back(line);
        std::sort(shown.begin(), shown.end());
        EXPECT_EQ(shown, expected);
    }
}

}  // namespace
