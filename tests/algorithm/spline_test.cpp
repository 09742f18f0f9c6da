// Splines against the formulas of the papers, evaluated on the host in extended precision: multilevel
// approximations as sums of a lattice for each level, interpolants by solving their equations.

#include "balm/spline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/spline/scattered_strategy.hpp"
#include "balm/error.hpp"
#include "balm/reduce.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using real = long double;

/// The cubic B-spline over [-2, 2], as a sum of truncated powers.
real b_spline(real x) {
    const auto cube = [](real y) { return y > 0 ? y * y * y : real(0); };
    return (cube(x + 2) - 4 * cube(x + 1) + 6 * cube(x) - 4 * cube(x - 1) + cube(x - 2)) / 6;
}

/// A sum of B-splines of D dimensions: control point j of a dimension is the one at position j - 1.
template <int D>
struct host_spline {
    spline_bounds<D> bounds;
    std::array<std::size_t, D> cells{};
    std::vector<real> control;

    explicit host_spline(const spline_bounds<D>& where, const std::array<std::size_t, D>& grid)
        : bounds(where), cells(grid) {
        std::size_t count = 1;
        for (const std::size_t each : cells) count *= each + 3;
        control.resize(count);
    }
    /// Calls f(control point's number, its basis function at x) for all that may not be 0 there.
    template <class F>
    void for_each_near(const std::array<real, D>& x, F&& f) const {
        std::array<real, D> u{};
        std::array<std::int64_t, D> first{};
        for (std::size_t d = 0; d < D; ++d) {
            const real count = static_cast<real>(cells[d]);
            u[d] = (x[d] - bounds.lower[d]) / (real(bounds.upper[d]) - bounds.lower[d]) * count;
            u[d] = std::clamp(u[d], real(0), count);
            first[d] = std::min(static_cast<std::int64_t>(u[d]), static_cast<std::int64_t>(cells[d]) - 1);
        }
        for (int q = 0; q < 1 << 2 * D; ++q) {
            std::size_t number = 0;
            real weight = 1;
            for (std::size_t d = 0; d < D; ++d) {
                const std::int64_t j = first[d] + (q >> 2 * d & 3);
                number = number * (cells[d] + 3) + static_cast<std::size_t>(j);
                weight *= b_spline(u[d] - static_cast<real>(j - 1));
            }
            f(number, weight);
        }
    }
    real at(const std::array<real, D>& x) const {
        real sum = 0;
        for_each_near(x, [&](std::size_t c, real weight) { sum += weight * control[c]; });
        return sum;
    }
};

/// The points of a test, and where else the spline is looked at.
template <int D, class T>
struct scattered_points {
    spline_bounds<D> bounds;
    std::array<std::vector<T>, D> x;
    std::vector<T> values;

    std::array<real, D> point(std::size_t k) const {
        std::array<real, D> at{};
        for (std::size_t d = 0; d < D; ++d) at[d] = x[d][k];
        return at;
    }
};

template <int D, class T>
scattered_points<D, T> random_points(std::mt19937_64& random, std::size_t count) {
    scattered_points<D, T> made;
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::size_t d = 0; d < D; ++d) {
        made.bounds.lower[d] = static_cast<T>(4 * unit(random) - 2);
        made.bounds.upper[d] = static_cast<T>(made.bounds.lower[d] + 0.5 + unit(random));
    }
    const bool is_clustered = random() % 3 == 0;
    for (std::size_t k = 0; k < count; ++k) {
        const bool is_again = k > 0 && random() % 8 == 0;
        for (std::size_t d = 0; d < D; ++d) {
            const double lower = made.bounds.lower[d], upper = made.bounds.upper[d];
            double share = is_clustered && k % 16 != 0 ? 0.7 + 0.05 * unit(random) : unit(random);
            switch (random() % 16) {
                case 0: share = 0; break;
                case 1: share = 1; break;
                case 2: share = static_cast<double>(random() % 9) / 8; break;
                default: break;
            }
            const T at = share == 1 ? static_cast<T>(upper) : static_cast<T>(lower + share * (upper - lower));
            made.x[d].push_back(is_again ? made.x[d][random() % k] : std::min(at, static_cast<T>(upper)));
        }
        made.values.push_back(static_cast<T>(20 * unit(random) - 5));
    }
    return made;
}

/// The least-squares plane of the points by normal equations, in coordinates about the points' mean.
template <int D, class T>
std::array<real, D + 1> plane_of(const scattered_points<D, T>& p) {
    std::array<std::array<real, D + 2>, D + 1> rows{};
    for (std::size_t k = 0; k < p.values.size(); ++k) {
        std::array<real, D + 2> v{};
        for (std::size_t d = 0; d < D; ++d)
            v[d] = (real(p.x[d][k]) - p.bounds.lower[d]) / (real(p.bounds.upper[d]) - p.bounds.lower[d]);
        v[D] = 1;
        v[D + 1] = p.values[k];
        for (std::size_t i = 0; i <= D; ++i)
            for (std::size_t j = 0; j < D + 2; ++j) rows[i][j] += v[i] * v[j];
    }
    for (std::size_t i = 0; i <= D; ++i)
        for (std::size_t other = 0; other <= D; ++other) {
            if (other == i) continue;
            const real factor = rows[other][i] / rows[i][i];
            for (std::size_t j = 0; j < D + 2; ++j) rows[other][j] -= factor * rows[i][j];
        }
    std::array<real, D + 1> solution{};
    for (std::size_t i = 0; i <= D; ++i) solution[i] = rows[i][D + 1] / rows[i][i];
    return solution;
}

/// Multilevel B-spline approximation without refinement: the levels are summed up where they are looked at.
template <int D, class T>
class host_fit {
public:
    host_fit(const scattered_points<D, T>& p, const scattered_options<D>& how, int levels)
        : bounds_(p.bounds) {
        if (how.trend == spline_trend::linear) {
            plane_ = plane_of(p);
        } else if (how.trend == spline_trend::mean) {
            for (const T each : p.values) plane_[D] += each;
            plane_[D] /= static_cast<real>(p.values.size());
        }
        std::array<std::size_t, D> cells = how.cells;
        for (int level = 0; level < levels; ++level) {
            host_spline<D> next(p.bounds, cells);
            std::vector<real> squares(next.control.size());
            for (std::size_t k = 0; k < p.values.size(); ++k) {
                real all = 0;
                next.for_each_near(p.point(k), [&](std::size_t, real w) { all += w * w; });
                const real left = p.values[k] - at(p.point(k));
                next.for_each_near(p.point(k), [&](std::size_t c, real w) {
                    next.control[c] += w * w * (w * left / all);
                    squares[c] += w * w;
                });
            }
            for (std::size_t c = 0; c < squares.size(); ++c)
                next.control[c] = squares[c] == 0 ? 0 : next.control[c] / squares[c];
            levels_.push_back(std::move(next));
            for (std::size_t& each : cells) each *= 2;
        }
    }
    real at(const std::array<real, D>& x) const {
        real sum = plane_[D];
        for (std::size_t d = 0; d < D; ++d)
            sum += plane_[d] *
                   (std::clamp(x[d], real(bounds_.lower[d]), real(bounds_.upper[d])) - bounds_.lower[d]) /
                   (real(bounds_.upper[d]) - bounds_.lower[d]);
        for (const host_spline<D>& each : levels_) sum += each.at(x);
        return sum;
    }

private:
    spline_bounds<D> bounds_;
    std::array<real, D + 1> plane_{};
    std::vector<host_spline<D>> levels_;
};

template <std::size_t N, class T, class F>
auto with_each(const std::array<std::vector<T>, N>& x, F&& f) {
    return std::apply(f, x);
}

template <class T>
std::vector<T> list_of(const host_array<T>& values) {
    return {values.begin(), values.end()};
}

template <int D, class T>
scattered_spline<D, T> fitted_on_device(const context& ctx, const scattered_points<D, T>& p,
                                        const scattered_options<D>& how) {
    return with_each(p.x, [&](const auto&... x) {
        return scattered_spline<D, T>(ctx, p.bounds, std::tie(x...), p.values, how);
    });
}
template <int D, class T>
host_array<T> values_at(const context& ctx, const scattered_spline<D, T>& s,
                        const std::array<std::vector<T>, D>& x) {
    return with_each(x, [&](const auto&... each) {
        vector<T> y(ctx, x[0].size());
        y = s(vector<T>(ctx, each)...);
        return y.to_host();
    });
}

struct as_on_gpus {
    as_on_gpus() { array::force_scattered_fits_of_gpus(true); }
    as_on_gpus(const as_on_gpus&) = delete;
    ~as_on_gpus() { array::force_scattered_fits_of_gpus(false); }
};
/// With work-items of each device's own number, and with as many as on GPUs.
template <class Body>
void in_both_ways(Body&& body) {
    body();
    SCOPED_TRACE("as on GPUs");
    const as_on_gpus held;
    body();
}

template <int D, class T>
void compare_with_the_paper(std::size_t count, int levels, double tolerance) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < 3; ++turn) {
            const scattered_points<D, T> p = random_points<D, T>(random, count);
            scattered_options<D> how;
            how.levels = levels;
            how.trend = static_cast<spline_trend>(turn);
            for (std::size_t& each : how.cells) each = 1 + random() % 3;
            const host_fit<D, T> expected(p, how, levels);
            std::array<std::vector<T>, D> other = random_points<D, T>(random, 300).x;  // outside, too
            in_both_ways([&] {
                const scattered_spline<D, T> s = fitted_on_device(ctx, p, how);
                EXPECT_EQ(s.levels(), levels);
                real most = 0, squares = 0;
                const host_array<T> at_points = values_at<D, T>(ctx, s, p.x),
                                    elsewhere = values_at<D, T>(ctx, s, other);
                for (std::size_t k = 0; k < count; ++k) {
                    const real wanted = expected.at(p.point(k));
                    ASSERT_NEAR(at_points[k], wanted, tolerance) << "point " << k << " of turn " << turn;
                    most = std::max(most, std::abs(p.values[k] - wanted));
                    squares += (p.values[k] - wanted) * (p.values[k] - wanted);
                }
                EXPECT_NEAR(s.residual_max(), most, tolerance);
                EXPECT_NEAR(s.residual_rms(), std::sqrt(squares / static_cast<real>(count)), tolerance);
                for (std::size_t k = 0; k < elsewhere.size(); ++k) {
                    std::array<real, D> at{};
                    for (std::size_t d = 0; d < D; ++d) at[d] = other[d][k];
                    ASSERT_NEAR(elsewhere[k], expected.at(at), tolerance) << "place " << k << " of " << turn;
                }
            });
        }
    });
}

TEST(V20_scattered_spline, of_one_dimension_of_floats_as_in_the_paper) {
    compare_with_the_paper<1, float>(700, 5, 2e-3);
}
TEST(V20_scattered_spline, of_two_dimensions_as_in_the_paper) {
    compare_with_the_paper<2, double>(900, 4, 1e-11);
}
TEST(V20_scattered_spline, of_three_dimensions_as_in_the_paper) {
    compare_with_the_paper<3, double>(400, 2, 1e-11);
}

TEST(V20_scattered_spline, interpolates_points_that_are_in_cells_apart) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        scattered_points<2, double> p;
        p.bounds = {{0, 0}, {1, 1}};
        std::uniform_real_distribution<double> unit(0, 1);
        for (int i = 0; i < 5; ++i)
            for (int j = 0; j < 5; ++j) {
                p.x[0].push_back((i + 0.2 * unit(random)) / 4.2);
                p.x[1].push_back((j + 0.2 * unit(random)) / 4.2);
                p.values.push_back(unit(random));
            }
        scattered_options<2> how;
        how.levels = 6;
        const auto all = fitted_on_device(ctx, p, how);
        EXPECT_LT(all.residual_max(), 1e-14);
        EXPECT_EQ(all.lattice_extents(), shape(35, 35));

        how.tolerance = 1e-10;  // cells of 1/32 have a point each, and nothing is left for the sixth level
        how.levels = 9;
        const auto some = fitted_on_device(ctx, p, how);
        EXPECT_LT(some.levels(), 9);
        EXPECT_LE(some.residual_max(), 1e-10);
        EXPECT_LE(some.residual_rms(), some.residual_max());
    });
}

TEST(V20_scattered_spline, of_points_in_one_place_or_on_a_line) {
    on_all_contexts([&](const context& ctx) {
        const spline_bounds<2> bounds{{0, 0}, {1, 1}};
        scattered_options<2> how;
        how.levels = 4;
        // One point, on the upper corner: it is interpolated, and the mean is 3 everywhere.
        in_both_ways([&] {
            const std::vector<double> one{1}, three{3};
            const scattered_spline<2> s(ctx, bounds, std::tie(one, one), three, how);
            EXPECT_NEAR(s.residual_max(), 0, 1e-14);
            vector<double> y(ctx, {0, 0.3, 1}), z(ctx, 3);
            z = s(y, 0.7 * y);
            for (const double each : z.to_host()) EXPECT_NEAR(each, 3, 1e-13);
        });
        // Many points in one place: their mean.
        in_both_ways([&] {
            const std::vector<double> x(5000, 0.25), y(5000, 0.75);
            std::vector<double> values;
            for (int k = 0; k < 5000; ++k) values.push_back(k % 2);
            const scattered_spline<2> s(ctx, bounds, std::tie(x, y), values, how);
            EXPECT_NEAR(s.residual_max(), 0.5, 1e-12);
            EXPECT_NEAR(s.residual_rms(), 0.5, 1e-12);
        });
        // On a line a linear function of one coordinate is reproduced, and continued along it.
        const std::vector<double> x{0.1, 0.2, 0.3, 0.5}, y(4, 0.5), values{1.1, 1.2, 1.3, 1.5};
        const scattered_spline<2> s(ctx, bounds, std::tie(x, y), values, how);
        EXPECT_LT(s.residual_max(), 1e-14);
        vector<double> at(ctx, {0, 0.9, 1}), z(ctx, 3);
        z = s(at, at);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(z[k], 1 + at[k], 1e-12);
    });
}

TEST(V20_scattered_spline, has_as_many_levels_as_suit_the_points) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const scattered_points<2, double> p = random_points<2, double>(random, 1000);
        const auto s = fitted_on_device(ctx, p, {});
        EXPECT_EQ(s.levels(), 6);  // 32 x 32 cells; 64 x 64 are more than four a point
        EXPECT_EQ(s.lattice().size(), 35u * 35);
        EXPECT_THAT(describe(s),
                    AllOf(HasSubstr("6 levels, 35 x 35 control points (9.6 KiB); residuals of 1000 "
                                    "points: "),
                          HasSubstr(" at most, "), HasSubstr(" rms")));
    });
}

TEST(V20_scattered_spline, is_the_same_in_each_run_and_part_of_expressions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const scattered_points<2, double> p = random_points<2, double>(random, 3000);
        const vector<double> x(ctx, p.x[0]), y(ctx, p.x[1]), values(ctx, p.values);
        in_both_ways([&] {
            const scattered_spline<2> s(p.bounds, std::tie(x, y), values);
            const scattered_spline<2> again(p.bounds, std::tuple(1.0 * x, y), values + 0.0);
            const host_array<double> a = s.lattice().to_host(), b = again.lattice().to_host();
            ASSERT_EQ(a.size(), b.size());
            EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
        });
        const scattered_spline<2> s(p.bounds, std::tie(x, y), values);
        vector<double> single(ctx, x.size()), z(ctx, x.size());
        single = s(x, y);
        z = 2.0 * s(x, y) + s(x, p.bounds.lower[1]) * y;
        vector<double> edge(ctx, x.size());
        edge = s(x, p.bounds.lower[1] - 1e300);
        const auto got = z.to_host(), at = single.to_host(), below = edge.to_host();
        for (std::size_t k = 0; k < z.size(); ++k)
            ASSERT_NEAR(got[k], 2 * at[k] + below[k] * p.x[1][k], 1e-11);
        EXPECT_LE(std::abs(sum(abs(values - s(x, y))) / 3000.0), s.residual_max());
    });
}

TEST(V20_scattered_spline, beyond_the_bounds_and_of_nan) {
    on_all_contexts([&](const context& ctx) {
        const std::vector<float> x{0, 1, 2}, values{5, 6, 9};
        const scattered_spline<1, float> s(ctx, {{0}, {2}}, std::tie(x), values, {.levels = 5});
        constexpr float inf = std::numeric_limits<float>::infinity();
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        const vector<float> at(ctx, {-inf, -1e30f, -1, 0, 2, 2.5f, 1e30f, inf, nan});
        vector<float> y(ctx, 9);
        y = s(at);
        const auto got = y.to_host();
        for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(got[k], k < 4 ? 5 : 9, 1e-5) << k;
        EXPECT_TRUE(std::isnan(got[8]));
        vector<float> none(ctx, 0);
        none = s(none);
        EXPECT_TRUE(none.empty());
    });
}

TEST(V20_scattered_spline, in_kernels) {
    using namespace dsl;
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        const std::vector<double> x{0, 0.5, 1, 1}, y{0, 1, 0, 1}, values{1, 2, 3, 4};
        const scattered_spline<2> s(ctx, {{0, 0}, {1, 1}}, std::tie(x, y), values, {.levels = 3});
        const auto look = kernel<1>("look", [&](In<double> lattice, In<double> at, Out<double> result) {
            const Index i = global_id(0);
            result[i] = s(lattice, at[i], 0.5);
        });
        vector<double> at(ctx, {0.1, 0.4, 0.9}), result(ctx, 3), expected(ctx, 3);
        on.execute(look(s.lattice(), at, result), {3});
        expected = s(at, 0.5);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(result[k], expected[k], 1e-14);
    });
}

TEST(V20_scattered_spline, refuses_what_is_no_fit) {
    on_all_contexts([&](const context& ctx) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> two{0.25, 0.5}, three{0.1, 0.2, 0.3}, none, outside{0.5, 1.5},
            bad{0.5, nan};
        const auto refused = [&](const spline_bounds<2>& bounds, const auto& x, const auto& y, const auto& z,
                                 const scattered_options<2>& how = {}) {
            return message_of<usage_error>([&] { scattered_spline<2>(ctx, bounds, std::tie(x, y), z, how); });
        };
        const spline_bounds<2> unit{{0, 0}, {1, 1}};
        EXPECT_THAT(refused(unit, two, three, two),
                    HasSubstr("3 coordinates along dimension 1 and 2 values"));
        EXPECT_THAT(refused(unit, none, none, none), HasSubstr("no points; it needs at least one"));
        EXPECT_THAT(refused({{0, 1}, {1, 1}}, two, two, two),
                    HasSubstr("dimension 1 are 1 and 1; the lower one must be less"));
        EXPECT_THAT(refused({{nan, 0}, {1, 1}}, two, two, two),
                    HasSubstr("dimension 0 are nan and 1; they and their difference must be finite"));
        EXPECT_THAT(refused({{0, -1.5e308}, {1, 1.5e308}}, two, two, two),
                    HasSubstr("they and their difference must be finite"));
        EXPECT_THAT(refused({{0, 0}, {1, 1e-320}}, two, two, two), HasSubstr("scale the coordinates"));
        EXPECT_THAT(refused(unit, two, outside, two),
                    AllOf(HasSubstr("point 1 of a scattered spline has the coordinate 1.5 along dimension 1, "
                                    "which is outside the bounds 0 and 1"),
                          HasSubstr("from 0.5 to 1.5: set bounds that contain them")));
        EXPECT_THAT(refused(unit, bad, two, two), HasSubstr("the coordinate nan along dimension 0"));
        EXPECT_THAT(refused(unit, two, two, bad),
                    HasSubstr("the value of point 1 of a scattered spline is nan"));
        EXPECT_THAT(refused(unit, two, two, two, {.levels = -1}), HasSubstr("cannot have -1 levels"));
        EXPECT_THAT(refused(unit, two, two, two, {.levels = 32}), HasSubstr("set 1 to 31"));
        EXPECT_THAT(refused(unit, two, two, two, {.tolerance = nan}),
                    HasSubstr("the tolerance of a scattered"));
        EXPECT_THAT(
            refused(unit, two, two, two, {.levels = 20}),
            HasSubstr("level 20 of a scattered spline would have more than 2147483647 control points"));
        EXPECT_THAT(refused(unit, two, two, two, {.cells = {std::size_t{1} << 40, 1}, .levels = 31}),
                    HasSubstr("ask for fewer levels or cells"));
        EXPECT_THAT(refused(unit, two, two, two, {.cells = {std::size_t(-1), 1}}),
                    HasSubstr("the first level"));
        vector<double> x(ctx, two);
        EXPECT_THAT(message_of<usage_error>([&] { x = scattered_spline<1>()(x); }),
                    HasSubstr("this spline has no control points"));
    });
}

/// The control points of a line of values, by Gaussian elimination of all n + 2 equations.
std::vector<real> solved_line(const std::vector<real>& values, spline_ends ends) {
    const std::size_t n = values.size(), size = n + 2;
    std::vector<std::vector<real>> rows(size, std::vector<real>(size + 1));
    for (std::size_t i = 0; i < n; ++i) {
        rows[i + 1][i] = rows[i + 1][i + 2] = real(1) / 6;
        rows[i + 1][i + 1] = real(2) / 3;
        rows[i + 1][size] = values[i];
    }
    std::vector<real> condition{1, -2, 1};
    if (ends == spline_ends::flat) condition = {-1, 0, 1};
    if (ends == spline_ends::not_a_knot && n > 3) condition = {1, -4, 6, -4, 1};
    for (std::size_t k = 0; k < condition.size(); ++k) {
        rows[0][k] = condition[k];
        rows[size - 1][size - 1 - k] = condition[k];
    }
    for (std::size_t i = 0; i < size; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i; r < size; ++r)
            if (std::abs(rows[r][i]) > std::abs(rows[pivot][i])) pivot = r;
        std::swap(rows[i], rows[pivot]);
        for (std::size_t r = 0; r < size; ++r) {
            if (r == i || rows[r][i] == 0) continue;
            const real factor = rows[r][i] / rows[i][i];
            for (std::size_t c = i; c <= size; ++c) rows[r][c] -= factor * rows[i][c];
        }
    }
    std::vector<real> solution(size);
    for (std::size_t i = 0; i < size; ++i) solution[i] = rows[i][size] / rows[i][i];
    return solution;
}

/// The same along each dimension of a box.
std::vector<real> solved_box(std::vector<real> values, std::vector<std::size_t> extents, spline_ends ends) {
    for (std::size_t d = 0; d < extents.size(); ++d) {
        std::size_t outer = 1, inner = 1;
        for (std::size_t k = 0; k < d; ++k) outer *= extents[k];
        for (std::size_t k = d + 1; k < extents.size(); ++k) inner *= extents[k];
        const std::size_t n = extents[d];
        std::vector<real> all(outer * (n + 2) * inner);
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t i = 0; i < inner; ++i) {
                std::vector<real> line(n);
                for (std::size_t k = 0; k < n; ++k) line[k] = values[(o * n + k) * inner + i];
                const std::vector<real> solution = solved_line(line, ends);
                for (std::size_t k = 0; k < n + 2; ++k) all[(o * (n + 2) + k) * inner + i] = solution[k];
            }
        values = std::move(all);
        extents[d] += 2;
    }
    return values;
}

template <int D, class T>
void compare_with_equations(const std::vector<std::array<std::size_t, D>>& boxes, double tolerance) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::array<std::size_t, D>& extents : boxes) {
            std::size_t count = 1;
            for (const std::size_t each : extents) count *= each;
            const host_array<T> values = random_values<T>(random, count, T(-1), T(1));
            const auto ends = static_cast<spline_ends>(random() % 3);
            spline_bounds<D> bounds;
            for (std::size_t d = 0; d < D; ++d) bounds.upper[d] = static_cast<double>(extents[d] - 1);
            const cubic_spline<D, T> s(ctx, bounds, values, extents, ends);
            const std::vector<real> wanted =
                solved_box({values.begin(), values.end()}, {extents.begin(), extents.end()}, ends);
            const host_array<T> got = s.lattice().to_host();
            ASSERT_EQ(got.size(), wanted.size());
            real most = 1;  // beyond corners control points may be large
            for (const real each : wanted) most = std::max(most, std::abs(each));
            for (std::size_t k = 0; k < got.size(); ++k)
                ASSERT_NEAR(got[k], wanted[k], tolerance * most)
                    << "control point " << k << " of " << to_string(s.lattice_extents()) << ", ends "
                    << static_cast<int>(ends);
            // At the nodes it has the values.
            std::array<std::vector<T>, D> x;
            for (std::size_t k = 0; k < count; ++k) {
                std::size_t rest = k;
                for (std::size_t d = D; d-- > 0; rest /= extents[d])
                    x[d].push_back(static_cast<T>(rest % extents[d]));
            }
            const host_array<T> back = with_each(x, [&](const auto&... each) {
                vector<T> y(ctx, count);
                y = s(vector<T>(ctx, each)...);
                return y.to_host();
            });
            for (std::size_t k = 0; k < count; ++k)
                ASSERT_NEAR(back[k], values[k], tolerance * most) << "node " << k;
        }
    });
}

TEST(V20_cubic_spline, of_lines_of_every_small_size) {
    std::vector<std::array<std::size_t, 1>> sizes;
    for (std::size_t n = 2; n < 80; n += n < 12 ? 1 : 13) sizes.push_back({n});
    compare_with_equations<1, double>(sizes, 2e-14);
}
TEST(V20_cubic_spline, of_boxes) {
    compare_with_equations<2, double>({{2, 2}, {3, 41}, {34, 2}, {17, 23}}, 5e-14);
}
TEST(V20_cubic_spline, of_boxes_of_floats) {
    compare_with_equations<3, float>({{2, 3, 4}, {9, 11, 19}}, 4e-6);
}

TEST(V20_cubic_spline, reproduces_cubics) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto p = [](real x, real y) {
            return (1 + x * (2 - x * (3 - 5 * x))) * (2 - y * (1 + y * (2 - y)));
        };
        constexpr std::size_t rows = 9, columns = 6;
        vector<double> values(ctx, rows * columns);
        const auto k = element_index(0, rows * columns);
        const auto i = -1 + cast<double>(k / columns) / 4.0, j = cast<double>(k % columns) / 5.0;
        values = (1 + i * (2 - i * (3 - 5 * i))) * (2 - j * (1 + j * (2 - j)));
        const cubic_spline<2> s({{-1, 0}, {1, 1}}, view(values, {rows, columns}));
        const std::array<std::vector<double>, 2> at{list_of(random_values<double>(random, 500, -1, 1)),
                                                    list_of(random_values<double>(random, 500, 0, 1))};
        vector<double> z(ctx, 500);
        z = s(vector<double>(ctx, at[0]), vector<double>(ctx, at[1]));
        const auto got = z.to_host();
        for (std::size_t n = 0; n < 500; ++n) ASSERT_NEAR(got[n], p(at[0][n], at[1][n]), 1e-12);
    });
}

TEST(V20_cubic_spline, refuses_what_is_no_grid) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 12, 1.0);
        EXPECT_THAT(message_of<usage_error>([&] {
                        cubic_spline<2>({{0, 0}, {1, 1}}, x);
                    }),
                    HasSubstr("a cubic spline of 2 dimensions got values whose number of dimensions is 1 "
                              "(extents 12); set it"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        cubic_spline<2>({{0, 0}, {1, 1}}, view(x, {1, 12}));
                    }),
                    HasSubstr("got 1 value along dimension 0; it needs at least two"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        cubic_spline<2>({{0, 1}, {1, 0}}, view(x, {3, 4}));
                    }),
                    HasSubstr("dimension 1 are 1 and 0; the lower one must be less"));
        const std::vector<double> five(5);
        EXPECT_THROW(cubic_spline<1>(ctx, {{0}, {1}}, five, {6}), usage_error);
    });
}

TEST(V20_splines_of_three_devices, do_the_same) {
    run_on_three_devices(
        "test_algorithm",
        "V20_scattered_spline.*run*:V20_scattered_spline.*fit:V20_cubic_spline.of_boxes_of_floats");
}

}  // namespace

}  // namespace balm::test
