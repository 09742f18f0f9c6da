// Stencils and convolutions against loops on the host, of every border, reach and shape.

#include "balm/stencil.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "balm/reduce.hpp"
#include "balm/scan.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"

namespace balm::test {

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
        host_box box;
        const std::size_t dimensions = 1 + drawn(3);
        const std::size_t most = dimensions == 1 ? 3000 : dimensions == 2 ? 70 : 17;
        std::size_t count = 1;
        for (std::size_t d = 0; d < dimensions; ++d) {
            box.sizes.push_back(drawn(6) == 0 ? drawn(4) : 1 + drawn(most));
            count *= box.sizes.back();
        }
        box.values = random_values<std::int32_t>(random, count, -1000, 1000);
        std::vector<offsets> list(1 + drawn(5), offsets(dimensions));
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

TEST(V14_stencils, over_several_devices) {
    run_on_three_devices("test_algorithm", "V14_stencils.neighbours*:V14_convolutions.weights*");
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
    EXPECT_THAT(message([&] { stencil(border::wrap, own, M); }), HasSubstr("1 offsets in an array of 3 x 4"));
    EXPECT_THAT(message([&] {
                    stencil(
                        border::wrap, [](auto u, auto v) { return u(0) + v(0); }, x, M);
                }),
                HasSubstr("12 and of 3 x 4"));
    EXPECT_THAT(message([&] {
                    stencil(
                        border::wrap, [&](const auto& u) { return u(1) * other; }, x);
                }),
                HasSubstr("one more array"));
    EXPECT_THAT(message([&] {
                    stencil(
                        border::wrap, [&](const auto& u) { return u(1) + element_index(); }, x);
                }),
                HasSubstr("u.coordinate(dimension)"));
    EXPECT_THAT(message([&] {
                    stencil(
                        border::wrap, [](const auto& u) { return u.coordinate(1) + 0 * u(0); }, x);
                }),
                HasSubstr("dimension 1 of 12"));
    const std::vector<float> none, many(65, 1.f), two(2, 1.f);
    EXPECT_THAT(message([&] { convolve(border::wrap, x, none); }), HasSubstr("no weights"));
    EXPECT_THAT(message([&] { convolve(border::wrap, x, many); }), HasSubstr("65 weights; up to 64"));
    EXPECT_THAT(message([&] { convolve(border::wrap, x, two, {.centre = 2}); }), HasSubstr("weight 2 of 2"));
    EXPECT_THAT(message([&] { convolve(border::wrap, x, two, {.dimension = 1}); }),
                HasSubstr("dimension 1 of 12"));
}

}  // namespace

}  // namespace balm::test
