// Sums of shifted views of one vector, as stencils are written, against the host: one to three dimensions,
// borders, every distance, targets of another shape, transposed sources, targets that are read, several
// types.

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using position = std::array<std::int64_t, 3>;

struct drawn_stencil {
    explicit drawn_stencil(std::uint64_t seed) : random(seed) {
        const std::size_t dimensions = 1 + pick(3);
        for (std::size_t d = 3 - dimensions; d < 3; ++d) {
            reach[d] = pick(d == 2 ? 5 : 3);
            size[d] = 2 * reach[d] + 1 + pick(d == 2 ? 60 : 9);
            if (pick(2) == 0) size[d] = (size[d] + 3) / 4 * 4;
        }
        is_compact = pick(3) == 0;
        is_transposed = pick(4) == 0;
        is_in_place = !is_compact && !is_transposed && pick(4) == 0;
        for (std::int64_t k = 2 + pick(8); k-- > 0;) {
            position p{};
            for (std::size_t d = 0; d < 3; ++d) p[d] = pick(2 * reach[d] + 1) - reach[d];
            shifts.push_back(p);
        }
    }
    std::int64_t pick(std::int64_t below) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
    }
    std::int64_t inside(std::size_t d) const { return size[d] - 2 * reach[d]; }

    std::mt19937_64 random;
    position size{1, 1, 1}, reach{};
    bool is_compact;     ///< the target has room for the elements inside the border alone
    bool is_transposed;  ///< the source lies in memory with its dimensions in reverse
    bool is_in_place;
    std::vector<position> shifts;
};

shape box_of(const position& size) {
    const std::array<std::size_t, 3> extents{static_cast<std::size_t>(size[0]),
                                             static_cast<std::size_t>(size[1]),
                                             static_cast<std::size_t>(size[2])};
    return shape(std::span<const std::size_t>(extents));
}
std::size_t flat(const position& size, const position& at) {
    return static_cast<std::size_t>((at[0] * size[1] + at[1]) * size[2] + at[2]);
}

template <class T>
void compute(drawn_stencil& of, const context& ctx) {
    const position memory_size = of.is_transposed ? position{of.size[2], of.size[1], of.size[0]} : of.size;
    std::vector<T> x(box_of(of.size).count());
    for (T& each : x) each = static_cast<T>(of.pick(7));
    const position target_size = of.is_compact ? position{of.inside(0), of.inside(1), of.inside(2)} : of.size;
    std::vector<T> expected = of.is_in_place ? x : std::vector<T>(box_of(target_size).count(), T(1));
    vector<T> X(ctx, x), target(ctx, expected);
    vector<T>& into = of.is_in_place ? X : target;

    const auto memory = view(X, box_of(memory_size));
    const auto source = of.is_transposed ? memory.transpose() : memory;
    const auto moved = [&](const position& by) {
        const auto of_dimension = [&](std::size_t d) {
            return slice(of.reach[d] + by[d], of.size[d] - of.reach[d] + by[d]);
        };
        return source(of_dimension(0), of_dimension(1), of_dimension(2));
    };
    const auto weight = [](std::size_t k) { return static_cast<T>(k % 3 + 1); };
    expr<T> sum = cast<T>(weight(0) * moved(of.shifts[0]));
    for (std::size_t k = 1; k < of.shifts.size(); ++k)
        sum = cast<T>(std::move(sum) + weight(k) * moved(of.shifts[k]));
    auto all = view(into, box_of(target_size));
    if (of.is_compact)
        all = sum;
    else
        all(slice(of.reach[0], of.size[0] - of.reach[0]), slice(of.reach[1], of.size[1] - of.reach[1]),
            slice(of.reach[2], of.size[2] - of.reach[2])) = sum;

    position at{};
    for (at[0] = 0; at[0] < of.inside(0); ++at[0])
        for (at[1] = 0; at[1] < of.inside(1); ++at[1])
            for (at[2] = 0; at[2] < of.inside(2); ++at[2]) {
                T value = 0;
                position to = at;
                for (std::size_t k = 0; k < of.shifts.size(); ++k) {
                    position from;
                    for (std::size_t d = 0; d < 3; ++d) from[d] = at[d] + of.reach[d] + of.shifts[k][d];
                    if (of.is_transposed) std::swap(from[0], from[2]);
                    value = static_cast<T>(value + weight(k) * x[flat(memory_size, from)]);
                }
                for (std::size_t d = 0; d < 3 && !of.is_compact; ++d) to[d] += of.reach[d];
                expected[flat(target_size, to)] = value;
            }
    const auto got = into.to_host();
    for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_EQ(got[k], expected[k]) << k;
}

TEST(B13_shifted_views, are_what_the_host_computes) {
    on_all_contexts([&](const context& ctx) {
        for (std::size_t k = 0; k < case_count(12) && !testing::Test::HasFailure(); ++k) {
            drawn_stencil drawn(seed() + k);
            SCOPED_TRACE("BALM_TEST_CASES=1 BALM_TEST_SEED=" + std::to_string(seed() + k));
            switch (drawn.pick(4)) {
                case 0: compute<double>(drawn, ctx); break;
                case 1: compute<int>(drawn, ctx); break;
                case 2: compute<long>(drawn, ctx); break;
                default: compute<float>(drawn, ctx);
            }
        }
    });
}

TEST(B13_shifted_views_of_three_devices, are_the_same) {
    run_on_three_devices("test_array", "B13_shifted_views.are_what*");
}

TEST(B13_shifted_views, of_one_stencil_share_a_kernel) {
    on_all_contexts([&](const context& ctx) {
        const auto smooth = [&](std::int64_t rows, std::int64_t columns) {
            const auto n = static_cast<std::size_t>(rows * columns);
            vector<float> x(ctx, n, 1.f), y(ctx, n, 0.f);
            const shape box{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
            const auto X = view(x, box);
            const auto Y = view(y, box);
            const auto row = slice(1, rows - 1), column = slice(1, columns - 1);
            Y(row, column) = X(slice(0, rows - 2), column) + X(slice(2, rows), column) +
                             X(row, slice(0, columns - 2)) + X(row, slice(2, columns));
            EXPECT_EQ(y[static_cast<std::size_t>(columns) + 1], 4.f);
        };
        smooth(20, 32);
        smooth(21, 33);
        int compiled = 0;
        kernels::observe_compilations([&](const ir::function&, const ir::launch_facts&) { ++compiled; });
        smooth(24, 64);
        smooth(50, 31);
        EXPECT_EQ(compiled, 0);
        compile_kernels_with_nvrtc_again();
    });
}

}  // namespace

}  // namespace balm::test
