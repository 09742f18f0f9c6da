// Stencils and convolutions against loops on the host, of every border, reach and shape.

#include "balm/stencil.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "algorithm/stencil/convolution_strategy.hpp"
#include "balm/error.hpp"
#include "balm/reduce.hpp"
#include "balm/scan.hpp"
#include "balm/structure.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

struct pixel {
    std::uint8_t red, green, blue;
};
BALM_STRUCT(pixel, red, green, blue)

namespace {

using offsets = std::vector<std::int64_t>;

/// What an index is brought back to, one step at a time; -1: nowhere.
std::int64_t brought_back(std::int64_t i, std::int64_t n, int beyond) {
    while (i < 0 || i >= n) switch (beyond) {
            case 0: return i < 0 ? 0 : n - 1;
            case 1: i += i < 0 ? n : -n; break;
            case 2: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
            default: return -1;
        }
    return i;
}

/// An array on the host of up to three dimensions.
struct host_box {
    std::vector<std::size_t> sizes;
    host_array<std::int32_t> values;

    std::int64_t size(std::size_t d) const { return static_cast<std::int64_t>(sizes[d]); }
    shape extents() const { return shape(sizes); }
    offsets index_of(std::size_t flat) const {
        offsets index(sizes.size());
        for (std::size_t d = sizes.size(); d-- > 0; flat /= sizes[d])
            index[d] = static_cast<std::int64_t>(flat % sizes[d]);
        return index;
    }
    std::int32_t neighbour(const offsets& of, const offsets& by, int beyond, std::int32_t constant) const {
        std::size_t flat = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const std::int64_t i = brought_back(of[d] + by[d], size(d), beyond);
            if (i < 0) return constant;
            flat = flat * sizes[d] + static_cast<std::size_t>(i);
        }
        return values.begin()[flat];
    }
};

/// Extents of one to three dimensions, some of them hardly any elements.
std::vector<std::size_t> random_extents(std::mt19937_64& random) {
    const std::size_t dimensions = 1 + random() % 3;
    const std::size_t most = dimensions == 1 ? 3000 : dimensions == 2 ? 70 : 17;
    std::vector<std::size_t> sizes;
    for (std::size_t d = 0; d < dimensions; ++d)
        sizes.push_back(random() % 6 == 0 ? random() % 4 : 1 + random() % most);
    return sizes;
}

/// f(beyond) for the border of a number; the last one is constant.
template <class F>
void with_border(int number, std::int32_t constant, F&& f) {
    if (number == 3) return f(constant_border{constant});
    f(static_cast<border>(number));
}

TEST(V14_stencils, neighbours_beyond_each_border) {
    const std::vector<std::int32_t> x{1, 2, 3, 4, 5};
    on_all_contexts([&](const context& ctx) {
        const vector<std::int32_t> X(ctx, x);
        const auto moved = [&](const auto& beyond, std::int64_t by) {
            const auto got = vector<std::int32_t>(stencil(
                                                      beyond, [&](const auto& u) { return u(by); }, X))
                                 .to_host();
            return std::vector<std::int32_t>(got.begin(), got.end());
        };
        EXPECT_EQ(moved(border::clamp, -2), (std::vector{1, 1, 1, 2, 3}));
        EXPECT_EQ(moved(border::clamp, 7), (std::vector{5, 5, 5, 5, 5}));
        EXPECT_EQ(moved(border::wrap, 2), (std::vector{3, 4, 5, 1, 2}));
        EXPECT_EQ(moved(border::wrap, -11), (std::vector{5, 1, 2, 3, 4}));
        EXPECT_EQ(moved(border::mirror, -2), (std::vector{2, 1, 1, 2, 3}));
        EXPECT_EQ(moved(border::mirror, 6), (std::vector{4, 3, 2, 1, 1}));
        EXPECT_EQ(moved(constant_border{9}, 1), (std::vector{2, 3, 4, 5, 9}));
        EXPECT_EQ(moved(constant_border{9}, 0), x);
    });
}

/// Random offsets in boxes of random sizes, among them boxes smaller than the reach.
TEST(V14_stencils, random_neighbours_in_random_boxes) {
    auto random = seeded_random();
    const auto drawn = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
    for (std::size_t n = case_count(6); n > 0; --n) {
        host_box box{random_extents(random), {}};
        const std::size_t count = box.extents().count();
        box.values = random_values<std::int32_t>(random, count, -1000, 1000);
        std::vector<offsets> list(1 + drawn(5), offsets(box.sizes.size()));
        const std::size_t reach = 1 + drawn(4);
        for (offsets& each : list)
            for (std::int64_t& by : each)
                by = static_cast<std::int64_t>(drawn(2 * reach + 1)) - static_cast<std::int64_t>(reach);
        const int number = static_cast<int>(drawn(4));
        SCOPED_TRACE(testing::PrintToString(box.sizes) + testing::PrintToString(list));
        on_all_contexts([&](const context& ctx) {
            const vector<std::int32_t> X(ctx, box.values);
            with_border(number, 77, [&](const auto& beyond) {
                const auto sum_of = [&](const auto& u) {
                    auto sum = 1 * u.at(list[0]);
                    for (std::size_t k = 1; k < list.size(); ++k)
                        sum = std::move(sum) + static_cast<int>(k + 1) * u.at(list[k]);
                    return sum;
                };
                const vector<std::int32_t> Y(stencil(beyond, sum_of, view(X, box.extents())));
                const auto got = Y.to_host();
                ASSERT_EQ(got.size(), count);
                for (std::size_t i = 0; i < count; ++i) {
                    std::int32_t wanted = 0;
                    for (std::size_t k = 0; k < list.size(); ++k)
                        wanted +=
                            static_cast<int>(k + 1) * box.neighbour(box.index_of(i), list[k], number, 77);
                    ASSERT_EQ(got.begin()[i], wanted) << "element " << i << ", border " << number;
                }
            });
        });
    }
}

TEST(V14_stencils, of_several_arrays_views_and_expressions) {
    auto random = seeded_random();
    const std::size_t rows = 37, columns = 53;
    const auto x = random_values<float>(random, rows * columns, -1.f, 1.f),
               k = random_values<float>(random, rows * columns, -1.f, 1.f);
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, x), K(ctx, k);
        const auto turned = view(X, {rows, columns}).transpose();
        const auto flux = [](const auto& u, const auto& c) {
            return c(0, 0) * (u(1, 0) - u(0, 0)) + cast<float>(u.coordinate(1));
        };
        vector<float> y(ctx, rows * columns, 0.f);
        view(y, {columns, rows}) =
            2 * stencil(border::wrap, flux, turned, view(K * 2, {columns, rows})) + turned;
        const auto got = y.to_host();
        const auto at = [&](std::size_t c, std::size_t r) { return x[r * columns + c % columns]; };
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < rows; ++r)
                ASSERT_NEAR(
                    got.begin()[c * rows + r],
                    2 * (2 * k[c * rows + r] * (at(c + 1, r) - at(c, r)) + static_cast<float>(r)) + at(c, r),
                    1e-4f);
        // In place, and twice in one expression.
        vector<float> z(ctx, x);
        const auto difference = [](const auto& u) { return u(1) - u(0); };
        z = stencil(constant_border{0}, difference, z);
        const auto in_place = z.to_host();
        for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_EQ(in_place.begin()[i], (i + 1 < x.size() ? x[i + 1] : 0.f) - x[i]);
        const auto laplace = [](const auto& u) { return u(1) - u(0) - (u(0) - u(-1)); };
        const vector<float> back(stencil(constant_border{0}, laplace, X) -
                                 stencil(constant_border{0}, laplace, X));
        EXPECT_EQ(sum(abs(back)), 0.f);
        // Of what is computed as a whole itself, once.
        const vector<std::int32_t> ones(ctx, 1000, 1);
        const vector<std::int32_t> steps(stencil(
            constant_border{0}, [](const auto& u) { return u(0) - u(-1); }, inclusive_scan(ones)));
        EXPECT_EQ(sum(abs(steps - 1)), 0);
        // Nothing.
        EXPECT_EQ(vector<float>(stencil(border::mirror, laplace, vector<float>(ctx, 0))).size(), 0u);
    });
}

TEST(V14_stencils, elements_that_are_more_than_scalars) {
    const std::size_t n = 301;
    std::vector<std::complex<float>> x;
    for (std::size_t i = 0; i < n; ++i)
        x.emplace_back(static_cast<float>(i % 17), static_cast<float>(i % 5) - 2.f);
    on_all_contexts([&](const context& ctx) {
        const vector<std::complex<float>> X(ctx, x);
        const auto product = [](const auto& u) { return u(-1) * u(2); };
        const auto got = vector<std::complex<float>>(stencil(border::mirror, product, X)).to_host();
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = [&](std::int64_t by) {
                return x[static_cast<std::size_t>(
                    brought_back(static_cast<std::int64_t>(i) + by, static_cast<std::int64_t>(n), 2))];
            };
            ASSERT_LE(std::abs(got.begin()[i] - at(-1) * at(2)), 1e-4f) << i;
        }
    });
}

/// In eight dimensions, from every side of the box, into a view of memory that the stencil reads.
TEST(V14_stencils, in_eight_dimensions_and_in_place) {
    const host_box box{{2, 1, 3, 2, 1, 2, 2, 3}, [] {
                           auto random = seeded_random();
                           return random_values<std::int32_t>(random, 144, -1000, 1000);
                       }()};
    const std::vector<offsets> list{
        {0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, -1, 0, 0, 0, 1, 2}, {-3, 1, 0, -1, 2, 0, 0, -1}};
    on_all_contexts([&](const context& ctx) {
        vector<std::int32_t> x(ctx, 2 * box.values.size(), 0);
        auto memory = view(x, {box.values.size(), 2});
        memory(all, 1) = vector<std::int32_t>(ctx, box.values);  // every other element
        auto own = memory(all, 1).reshape(box.extents());
        own = stencil(
            border::wrap,
            [&](const auto& u) {
                return u.at(list[0]) + 2 * u.at(list[1]) - u.at(list[2]) +
                       cast<std::int32_t>(u.coordinate(2));
            },
            own);
        const auto got = x.to_host();
        for (std::size_t i = 0; i < box.values.size(); ++i) {
            const offsets here = box.index_of(i);
            const auto at = [&](std::size_t k) { return box.neighbour(here, list[k], 1, 0); };
            ASSERT_EQ(got.begin()[2 * i + 1], at(0) + 2 * at(1) - at(2) + static_cast<std::int32_t>(here[2]));
            ASSERT_EQ(got.begin()[2 * i], 0);
        }
    });
}

/// Elements of 1, 2 and 3 bytes side by side; a work-item of a GPU takes a power of two of them.
TEST(V14_stencils, beside_structures_of_three_bytes) {
    auto random = seeded_random();
    const std::size_t n = 1003;
    const auto x = random_values<std::uint8_t>(random, n, 0, 60),
               z = random_values<std::uint8_t>(random, n, 0, 60);
    on_all_contexts([&](const context& ctx) {
        std::vector<pixel> pixels(n);
        for (std::size_t i = 0; i < n; ++i) pixels[i] = {0, x.begin()[i], 0};
        const vector<pixel> X(ctx, pixels);
        const vector<std::uint8_t> Z(ctx, z);
        vector<half> H(ctx, n);
        H = cast<float>(Z);
        vector<std::uint8_t> plain(ctx, n), y(ctx, n);
        plain = cast<std::uint8_t>(field<&pixel::green>(X) + Z);
        const auto sum = [](const auto& p, const auto& v, const auto& h) {
            return cast<std::uint8_t>(field<&pixel::green>(p(0)) + v(-1) + v(0) + v(1) + cast<int>(h(2)));
        };
        y = stencil(border::wrap, sum, X, Z, H);
        const auto got_plain = plain.to_host(), got = y.to_host();
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = [&](std::size_t by) { return z.begin()[(i + by) % n]; };
            ASSERT_EQ(got_plain.begin()[i], x.begin()[i] + at(0)) << i;
            ASSERT_EQ(got.begin()[i],
                      static_cast<std::uint8_t>(x.begin()[i] + at(n - 1) + at(0) + at(1) + at(2)))
                << i;
        }
    });
}

/// One for the elements inside, one for all borders; none for other extents.
TEST(V14_stencils, take_two_kernels) {
    const auto smooth = [](const context& ctx, std::size_t rows, std::size_t columns) {
        const vector<float> x(ctx, rows * columns, 1.f);
        const vector<float> y(stencil(
            border::clamp,
            [](const auto& u) { return u(-1, 0) + 3 * u(1, 0) + u(0, -2) + u(0, 1) + 9 * u(1, 1); },
            view(x, {rows, columns})));
        for (const float each : y.to_host()) ASSERT_EQ(each, 15.f);
    };
    if (devices_are_together()) GTEST_SKIP() << "each device has its own";
    on_all_contexts([&](const context& ctx) {
        EXPECT_EQ(compilations_of([&] { smooth(ctx, 20, 32); }), 2);
        EXPECT_EQ(compilations_of([&] { smooth(ctx, 24, 64); }), 0);
    });
}

TEST(V14_stencils_of_three_devices, do_the_same) {
    run_on_three_devices(
        "test_algorithm",
        "V14_stencils.neighbours*:V14_stencils.over*:V14_convolutions.weights*:V14_convolutions.with*boxes:"
        "V14_convolutions.with_more*");
}

/// Of every border and reach, also one beyond a device's part.
TEST(V14_stencils, over_several_devices_equal_those_of_one) {
    auto random = seeded_random();
    const std::vector<std::size_t> boxes[] = {{3000},      {100'003},   {400, 301},
                                              {3, 40'000}, {40'000, 3}, {60, 40, 35}};
    on_all_contexts([&](const context& ctx) {
        const device first = ctx.device(0);
        const context one({first});
        const context many[] = {ctx, context({first, first}),
                                context({first, first, first}).weighted({1, 0, 150})};
        for (const auto& sizes : boxes) {
            const shape box{std::span(sizes)};
            const auto x = random_values<std::int32_t>(random, box.count(), -1000, 1000);
            for (int number = 0; number < 4; ++number) {
                const auto reach = static_cast<std::int64_t>(
                    std::array<std::size_t, 4>{1, 10, 700, 1 + random() % 5}[random() % 4]);
                std::vector<offsets> list(3, offsets(sizes.size()));
                for (offsets& each : list)
                    for (std::int64_t& by : each)
                        by = static_cast<std::int64_t>(random() % static_cast<std::size_t>(2 * reach + 1)) -
                             reach;
                SCOPED_TRACE(testing::PrintToString(sizes) + testing::PrintToString(list) + " border " +
                             std::to_string(number));
                const auto computed_on = [&](const context& on) {
                    const vector<std::int32_t> X(on, x), K(on, box.count(), 3);
                    vector<std::int32_t> y(on, box.count(), 0);
                    with_border(number, 77, [&](const auto& beyond) {
                        const auto sum = [&](const auto& u, const auto& k) {
                            return u.at(list[0]) + 2 * u.at(list[1]) - k.at(list[1]) * u.at(list[2]);
                        };
                        y = stencil(beyond, sum, view(X, box), view(K, box));
                    });
                    return y.to_host();
                };
                const auto wanted = computed_on(one);
                for (const context& on : many) EXPECT_TRUE(computed_on(on) == wanted);
            }
        }
    });
}

TEST(V14_convolutions, weights_of_all_counts_and_centres) {
    auto random = seeded_random();
    const std::size_t n = 1013;
    const auto x = random_values<std::int32_t>(random, n, -100, 100);
    on_all_contexts([&](const context& ctx) {
        const vector<std::int32_t> X(ctx, x);
        for (const std::size_t count : {1u, 2u, 5u, 64u}) {
            const auto w = random_values<std::int32_t>(random, count, -9, 9);
            const std::size_t centre = random() % count;
            const int number = static_cast<int>(random() % 4);
            with_border(number, 5, [&](const auto& beyond) {
                const auto got = vector<std::int32_t>(convolve(beyond, X, w, {.centre = centre})).to_host();
                for (std::size_t i = 0; i < n; ++i) {
                    std::int32_t wanted = 0;
                    for (std::size_t k = 0; k < count; ++k) {
                        const auto from =
                            static_cast<std::int64_t>(i + centre) - static_cast<std::int64_t>(k);
                        const std::int64_t at = brought_back(from, static_cast<std::int64_t>(n), number);
                        wanted += w[k] * (at < 0 ? 5 : x[static_cast<std::size_t>(at)]);
                    }
                    ASSERT_EQ(got.begin()[i], wanted) << count << " " << centre << " " << i;
                }
            });
        }
    });
}

TEST(V14_convolutions, along_a_dimension_with_kept_type) {
    const std::size_t rows = 9, columns = 14;
    on_all_contexts([&](const context& ctx) {
        const vector<float> x(cast<float>(element_index(0, rows * columns)));
        const auto M = view(vector<float>(ctx, x.to_host()), {rows, columns});
        const auto down = convolve(border::clamp, M, {0.5, 0.25, 0.25}, {.dimension = 0});
        static_assert(std::same_as<decltype(down)::value_type, float>);
        const vector<float> y(down);
        const auto got = y.to_host();
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c) {
                const auto at = [&](std::size_t row) { return static_cast<float>(row * columns + c); };
                const float wanted =
                    0.5f * at(std::min(r + 1, rows - 1)) + 0.25f * at(r) + 0.25f * at(r > 0 ? r - 1 : 0);
                ASSERT_NEAR(got.begin()[r * columns + c], wanted, 1e-4f);
            }
    });
}

/// Runs the body on every context, and on a CPU with tiles as GPUs have them.
template <class Body>
void in_all_convolutions(Body&& body) {
    on_all_contexts([&](const context& ctx) { body(ctx); });
    if (devices_are_together() || !has_cpu()) return;
    const context cpu{filter::cpu};
    // PoCL 5 ends the process in an assertion (Kernel.cc:129, region_entry_barrier) when it compiles them.
    if (cpu.device(0).info().driver_version.starts_with("5.")) return;
    SCOPED_TRACE("tiles of groups");
    struct of_gpus {
        of_gpus() { array::force_convolutions_of_gpus(true); }
        of_gpus(const of_gpus&) = delete;
        ~of_gpus() { array::force_convolutions_of_gpus(false); }
    } const held;
    body(cpu);
}

/// Weights in memory, on boxes that tiles do not divide, and on random ones.
TEST(V14_convolutions, with_many_weights_in_boxes) {
    struct problem {
        std::vector<std::size_t> sizes;
        std::size_t along;
        std::vector<std::size_t> counts;
    };
    std::vector<problem> problems = {
        {{7013}, 0, {65, 481}},     // many tiles
        {{300, 29}, 1, {21}},       // rows shorter than a tile
        {{1, 1, 400, 3}, 2, {34}},  // few columns, and more of them than a sub-group's lanes
        {{3, 61, 41}, 1, {47, 8}}, {{6, 2, 2, 1, 1, 1, 1, 3}, 0, {15}},
    };
    auto random = seeded_random();
    for (std::size_t k = case_count(3); k > 0; --k) {
        const std::vector<std::size_t> sizes = random_extents(random);
        problems.push_back({sizes, random() % sizes.size(), {1 + random() % 150}});
    }
    for (const problem& each : problems)
        for (const std::size_t count : each.counts) {
            host_box box{each.sizes, {}};
            box.values = random_values<std::int32_t>(random, box.extents().count(), -1000, 1000);
            const auto w = random_values<std::int32_t>(random, count, -99, 99);
            const std::size_t centre = random() % count;
            const int number = static_cast<int>(random() % 4);
            SCOPED_TRACE(testing::PrintToString(each.sizes) + " by " + std::to_string(count) + ", centre " +
                         std::to_string(centre) + ", border " + std::to_string(number));
            in_all_convolutions([&](const context& ctx) {
                const vector<std::int32_t> X(ctx, box.values), W(ctx, w);
                with_border(number, 7, [&](const auto& beyond) {
                    const convolution how{centre, static_cast<int>(each.along)};
                    const auto M = view(X, box.extents());
                    const auto got = vector<std::int32_t>(convolve(beyond, M, W, how)).to_host();
                    std::size_t inner = 1;
                    for (std::size_t d = each.along + 1; d < each.sizes.size(); ++d) inner *= each.sizes[d];
                    const std::int64_t length = box.size(each.along);
                    for (std::size_t i = 0; i < got.size(); ++i) {
                        const auto here = static_cast<std::int64_t>(i / inner) % length;
                        const std::size_t line = i - static_cast<std::size_t>(here) * inner;
                        std::int32_t wanted = 0;
                        for (std::size_t k = 0; k < count; ++k) {
                            const std::int64_t from =
                                here + static_cast<std::int64_t>(centre) - static_cast<std::int64_t>(k);
                            const std::int64_t at = brought_back(from, length, number);
                            wanted +=
                                w.begin()[k] *
                                (at < 0 ? 7
                                        : box.values.begin()[line + static_cast<std::size_t>(at) * inner]);
                        }
                        ASSERT_EQ(got.begin()[i], wanted) << i;
                    }
                });
            });
        }
}

/// More weights than elements, and hardly any elements.
TEST(V14_convolutions, with_more_weights_than_elements) {
    auto random = seeded_random();
    const auto w = random_values<float>(random, 1001, -1.f, 1.f);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{40}}) {
        const auto x = random_values<float>(random, n, -1.f, 1.f);
        in_all_convolutions([&](const context& ctx) {
            const auto got =
                vector<float>(convolve(border::wrap, vector<float>(ctx, x), w, {.centre = 1000})).to_host();
            ASSERT_EQ(got.size(), n);
            for (std::size_t i = 0; i < n; ++i) {
                float wanted = 0;  // in the order of the weights, each product rounded with its sum
                for (std::size_t k = 0; k < w.size(); ++k)
                    wanted = std::fma(w[k], x[(i + 1000 - k) % n], wanted);
                ASSERT_EQ(got.begin()[i], wanted) << i;
            }
        });
    }
}

/// Of short vectors, complex numbers and halves; of expressions; in place; as part of an expression.
TEST(V14_convolutions, with_weights_in_memory_of_all_kinds) {
    auto random = seeded_random();
    const std::size_t n = 777, count = 65;
    const auto number = [&](std::size_t i, std::size_t k) {
        return static_cast<std::size_t>(
            brought_back(static_cast<std::int64_t>(i + count / 2 - k), static_cast<std::int64_t>(n), 2));
    };
    in_all_convolutions([&](const context& ctx) {
        const auto w = random_values<std::int32_t>(random, count, -5, 5),
                   x = random_values<std::int32_t>(random, n, -5, 5);
        const auto check = [&](const auto& got, const auto& value, const auto& weight) {
            for (std::size_t i = 0; i < n; ++i) {
                auto wanted = weight(0) * value(number(i, 0));
                for (std::size_t k = 1; k < count; ++k) wanted += weight(k) * value(number(i, k));
                ASSERT_EQ(got.begin()[i], wanted) << i;
            }
        };
        const auto as_int = [](const auto& list) { return [&](std::size_t k) { return list[k]; }; };
        const auto as_float = [](const auto& list) {
            return [&](std::size_t k) { return static_cast<float>(list[k]); };
        };
        const vector<std::int32_t> X(ctx, x), W(ctx, w);
        // Halves beside weights that are an expression of a view.
        vector<half> H(ctx, n);
        H = cast<float>(X);
        const auto halves = convolve(border::mirror, H, cast<float>(W[element_index(0, count)]));
        static_assert(std::same_as<decltype(halves)::value_type, float>);
        check(vector<float>(halves).to_host(), as_float(x), as_float(w));
        // Small integers are added up as ints; a pending result is part of an expression.
        vector<std::int8_t> S(ctx, n);
        S = cast<std::int8_t>(X);
        const auto small = convolve(border::mirror, S, w);
        static_assert(std::same_as<decltype(small)::value_type, std::int32_t>);
        check(vector<std::int32_t>(small + 0 * X).to_host(), as_int(x), as_int(w));
        // Complex numbers by real weights of the host, and in place.
        using complex = std::complex<float>;
        vector<complex> C(ctx, n);
        C = compose<complex>(cast<float>(X), cast<float>(X * X));
        C = convolve(border::mirror, C, std::vector<float>(w.begin(), w.end()));
        const auto complex_value = [&](std::size_t k) {
            return complex(static_cast<float>(x[k]), static_cast<float>(x[k] * x[k]));
        };
        check(C.to_host(), complex_value, as_float(w));
        // Short vectors, every other element of an expression.
        vector<double4> V(ctx, 2 * n);
        const auto twice = cast<double>(element_index() / 2);
        V = compose<double4>(twice, 2 * twice, twice * twice, -twice);
        const auto even = view(expr<double4>(V * 2.0), {n, 2})(all, 0);
        const auto got = vector<double4>(convolve(border::mirror, even, cast<double>(W))).to_host();
        for (std::size_t i = 0; i < n; ++i) {
            double wanted = 0, square = 0;
            for (std::size_t k = 0; k < count; ++k) {
                const auto at = static_cast<double>(number(i, k));
                wanted += 2 * w[k] * at;
                square += 2 * w[k] * at * at;
            }
            ASSERT_EQ(got.begin()[i][1], 2 * wanted) << i;
            ASSERT_EQ(got.begin()[i][2], square) << i;
        }
    });
}

TEST(V14_convolutions, other_weights_in_memory_compile_nothing) {
    const auto smooth = [&](const context& ctx, std::size_t n, std::size_t count) {
        const vector<float> x(ctx, n, 1.f), w(ctx, count, 0.5f);
        const vector<float> y(convolve(border::clamp, x, w));
        EXPECT_EQ(y[n / 2], 0.5f * static_cast<float>(count));
    };
    in_all_convolutions([&](const context& ctx) {
        // Smaller groups compute fewer results of many weights at once: another kernel.
        if (ctx.device(0).info().max_work_group_size < 256) return;
        smooth(ctx, 30000, 104);
        EXPECT_EQ(compilations_of([&] { smooth(ctx, 31000, 208); }), 0);
    });
}

TEST(V14_stencils, refused_ones_are_explained) {
    const vector<float> x(context(), 12, 1.f), other(context(), 12, 1.f);
    const auto message = [](auto&& f) {
        try {
            f();
        } catch (const usage_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    using testing::HasSubstr;
    const auto M = view(x, {3, 4});
    const auto own = [](const auto& u) { return u(0) * 2; };
    EXPECT_THAT(message([&] { static_cast<void>(stencil(border::wrap, own, M)); }),
                HasSubstr("1 offsets in an array of 3 x 4"));
    EXPECT_THAT(message([&] {
                    static_cast<void>(stencil(
                        border::wrap, [](auto u, auto v) { return u(0) + v(0); }, x, M));
                }),
                HasSubstr("12 and of 3 x 4"));
    EXPECT_THAT(message([&] {
                    static_cast<void>(stencil(
                        border::wrap, [&](const auto& u) { return u(1) * other; }, x));
                }),
                HasSubstr("an array that it captures"));
    EXPECT_THAT(message([&] {
                    static_cast<void>(stencil(
                        border::wrap, [&](const auto& u) { return u(1) + element_index(); }, x));
                }),
                HasSubstr("u.coordinate(dimension)"));
    EXPECT_THAT(message([&] {
                    static_cast<void>(stencil(
                        border::wrap, [](const auto& u) { return u.coordinate(1) + 0 * u(0); }, x));
                }),
                HasSubstr("dimension 1 of 12"));
    const std::vector<float> none, two(2, 1.f);
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, x, none)); }),
                HasSubstr("at least one weight"));
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, x, vector<float>(context(), 0))); }),
                HasSubstr("at least one weight"));
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, x, M)); }),
                HasSubstr("3 x 4; they must have one dimension"));
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, M, other, {.centre = 12})); }),
                HasSubstr("weight 12 cannot be the centre"));
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, x, two, {.centre = 2})); }),
                HasSubstr("weight 2 cannot be the centre"));
    EXPECT_THAT(message([&] { static_cast<void>(convolve(border::wrap, x, two, {.dimension = 1})); }),
                HasSubstr("dimension 1 of 12"));
}

}  // namespace

}  // namespace balm::test
