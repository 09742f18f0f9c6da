// Reductions along dimensions against loops on the host, over what a view shows.

#include "balm/along.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

/// Runs the body on every context; on CPU devices also with the kernels of GPUs.
template <class Body>
void in_all_shapes(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        const bool has_other = ctx.device(0).info().type == device_type::cpu;
        for (const bool as_on_gpus : {false, true}) {
            if (as_on_gpus && !has_other) continue;
            SCOPED_TRACE(as_on_gpus ? "as on GPUs" : "as ever");
            const shapes_of_gpus chosen(as_on_gpus);
            body(ctx);
        }
    });
}

/// The lists of elements that a reduction along some dimensions makes one of, in row-major order.
template <class T>
std::vector<std::vector<T>> grouped(const host_array<T>& elements, const shape& box,
                                    const std::vector<int>& over) {
    const auto is_over = [&](int d) { return std::find(over.begin(), over.end(), d) != over.end(); };
    std::size_t groups = 1;
    for (int d = 0; d < box.dimensions(); ++d) groups *= is_over(d) ? 1 : box[d];
    std::vector<std::vector<T>> made(groups);
    for (std::size_t flat = 0; flat < box.count(); ++flat) {
        std::size_t rest = flat, place = 0, stride = 1;
        for (int d = box.dimensions(); d-- > 0; rest /= box[d]) {
            if (is_over(d)) continue;
            place += rest % box[d] * stride;
            stride *= box[d];
        }
        made[place].push_back(elements[flat]);
    }
    return made;
}

array::dimension_list list_of(const std::vector<int>& over) {
    array::dimension_list list;
    for (const int d : over) list.each[static_cast<std::size_t>(list.count++)] = d;
    return list;
}

std::vector<int> random_dimensions(std::mt19937_64& random, int dimensions) {
    std::vector<int> all;
    for (int d = 0; d < dimensions; ++d) all.push_back(d);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(1 + below(random, all.size()));
    return all;
}

template <class T, class F>
auto of_each(const std::vector<std::vector<T>>& groups, F&& f) {
    std::vector<decltype(f(groups[0]))> made;
    for (const std::vector<T>& each : groups) made.push_back(f(each));
    return made;
}

template <class T>
class V10_along : public testing::Test {};
using reduced_types = testing::Types<float, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(V10_along, reduced_types);

/// Two of what a view can be reduced to, along these dimensions: each one is a kernel to compile.
template <class T>
void expect_reduced(std::mt19937_64& random, const view<const T>& v, const std::vector<int>& over) {
    using S = decltype(sum(vector<T>()));
    const auto groups = grouped(v.to_host(), v.extents(), over);
    const array::dimension_list along_them = list_of(over);
    const auto position = [](auto found, const std::vector<T>& of) {
        return static_cast<std::int64_t>(found - of.begin());
    };
    EXPECT_EQ(values_of<S>(sum(v, along_them)), of_each(groups, [](const std::vector<T>& x) {
                  S total = 0;
                  for (const T each : x) total = static_cast<S>(total + static_cast<S>(each));
                  return total;
              }));
    switch (below(random, 5)) {
        case 0:
            EXPECT_EQ(values_of<T>(min(v, along_them)), of_each(groups, [](const std::vector<T>& x) {
                          return *std::min_element(x.begin(), x.end());
                      }));
            break;
        case 1:
            EXPECT_EQ(values_of<T>(max(v, along_them)), of_each(groups, [](const std::vector<T>& x) {
                          return *std::max_element(x.begin(), x.end());
                      }));
            break;
        case 2:
            EXPECT_EQ(values_of<std::int64_t>(arg_min(v, along_them)),
                      of_each(groups, [&](const std::vector<T>& x) {
                          return position(std::min_element(x.begin(), x.end()), x);
                      }));
            break;
        case 3:
            EXPECT_EQ(values_of<std::int64_t>(arg_max(v, along_them)),
                      of_each(groups, [&](const std::vector<T>& x) {
                          return position(std::max_element(x.begin(), x.end()), x);
                      }));
            break;
        default:
            EXPECT_EQ(values_of<std::int64_t>(count(v > T(2), along_them)),
                      of_each(groups, [](const std::vector<T>& x) {
                          return static_cast<std::int64_t>(
                              std::count_if(x.begin(), x.end(), [](T each) { return each > T(2); }));
                      }));
    }
}

TYPED_TEST(V10_along, rows_and_columns_of_all_lengths) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_shapes([&](const context& ctx) {
        struct extents {
            std::size_t rows, columns;
        };
        // A kernel takes half a second to compile: each type takes two of these a run.
        std::vector<extents> sizes{{3, 1},       {5, 7},      {1001, 8},  {33, 31},
                                   {1000, 1000}, {2, 100003}, {100003, 3}};
        std::shuffle(sizes.begin(), sizes.end(), random);
        sizes.resize(2);
        for (const auto [rows, columns] : sizes) {
            SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(columns));
            const vector<T> x(ctx, small_numbers<T>(random, rows * columns));
            const view<const T> v(x, {rows, columns});
            for (const std::vector<int>& over : {std::vector{0}, {1}}) {
                SCOPED_TRACE("along " + std::to_string(over[0]));
                expect_reduced(random, v, over);
            }
        }
    });
}

/// A random view in one to five dimensions.
template <class T>
std::optional<view<const T>> random_view(std::mt19937_64& random, const vector<T>& x) {
    std::vector<std::size_t> extents;
    std::size_t count = 1;
    const std::size_t dimensions = 1 + below(random, 5);
    for (std::size_t d = 0; d < dimensions; ++d) {
        const std::size_t most = std::max<std::size_t>(x.size() / count, 1);
        extents.push_back(1 + below(random, std::min<std::size_t>(most, d == 0 ? 300 : 20)));
        count *= extents.back();
    }
    std::shuffle(extents.begin(), extents.end(), random);
    const std::size_t offset = below(random, x.size() - count + 1);
    std::optional<view<const T>> v;
    const view<const T> part =
        x(slice(static_cast<std::int64_t>(offset), static_cast<std::int64_t>(offset + count)));
    v.emplace(part.reshape(shape(std::span<const std::size_t>(extents))));
    if (below(random, 2) == 0) v.emplace(view<const T>(v->transpose()));
    if (dimensions == 3 && below(random, 2) == 0) {
        v.emplace(view<const T>(v->transpose({1, 2, 0})));
        v.emplace(
            view<const T>((*v)(reversed, all, slice(0, static_cast<std::int64_t>(v->extents()[2]), 2))));
    }
    if (dimensions == 2 && below(random, 2) == 0) {
        v.emplace(view<const T>((*v)(slice(static_cast<std::int64_t>(v->extents()[0]) - 1, -1, -3), all)));
    }
    if (dimensions < 4 && below(random, 3) == 0) {
        std::vector<std::size_t> wider{1 + below(random, 9)};
        for (int d = 0; d < v->extents().dimensions(); ++d)
            wider.push_back(v->extents()[d] == 1 ? 1 + below(random, 5) : v->extents()[d]);
        v.emplace(v->broadcast(shape(std::span<const std::size_t>(wider))));
    }
    return v;
}

TEST(V10_along_dimensions, of_any_view) {
    using T = double;
    auto random = seeded_random();
    in_all_shapes([&](const context& ctx) {
        const vector<T> x(ctx, small_numbers<T>(random, 20000));
        for (int turn = 0; turn < 4; ++turn) {
            const view<const T> v = *random_view(random, x);
            const std::vector<int> over = random_dimensions(random, v.extents().dimensions());
            std::string words = to_string(v.extents()) + " along";
            for (const int d : over) words += " " + std::to_string(d);
            SCOPED_TRACE(words);
            expect_reduced(random, v, over);
        }
    });
}

TEST(V10_along_dimensions, every_reduction) {
    auto random = seeded_random();
    const std::size_t rows = 40, columns = 50;
    const auto values = random_values<double>(random, rows * columns, -1.0, 1.0);
    const auto larger = function("larger", [](Double a, Double b) { return max(abs(a), abs(b)); });
    in_all_shapes([&](const context& ctx) {
        const vector<double> x(ctx, values);
        const auto M = balm::view(x, {rows, columns});
        const auto close = [&](const std::vector<double>& got, auto&& of_row) {
            ASSERT_EQ(got.size(), rows);
            for (std::size_t i = 0; i < rows; ++i) {
                const std::vector<double> row(
                    values.begin() + static_cast<std::ptrdiff_t>(i * columns),
                    values.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
                const double expected = of_row(row);
                EXPECT_NEAR(got[i], expected, 1e-14 * columns * std::max(1.0, std::abs(expected))) << i;
            }
        };
        const auto added = [](const std::vector<double>& row) {
            long double total = 0;
            for (const double v : row) total += v;
            return static_cast<double>(total);
        };
        close(values_of<double>(sum(M, along(1))), added);
        close(values_of<double>(sum_compensated(M, along(1))), added);
        close(values_of<double>(product(M + 1.0, along(1))), [](const std::vector<double>& row) {
            long double all = 1;
            for (const double v : row) all *= 1 + static_cast<long double>(v);
            return static_cast<double>(all);
        });
        close(values_of<double>(fold(M, 0.0, larger, along(1))), [](const std::vector<double>& row) {
            double most = 0;
            for (const double v : row) most = std::max(most, std::abs(v));
            return most;
        });
        const auto any_large = values_of<bool>(any(M > 0.95, along(1)));
        const auto all_small = values_of<bool>(balm::all(M < 0.95, along(1)));
        for (std::size_t i = 0; i < rows; ++i) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * columns);
            const auto last = first + static_cast<std::ptrdiff_t>(columns);
            EXPECT_EQ(any_large[i], std::any_of(first, last, [](double v) { return v > 0.95; })) << i;
            EXPECT_EQ(all_small[i], std::all_of(first, last, [](double v) { return v < 0.95; })) << i;
        }
    });
}

TEST(V10_along_dimensions, pass_over_nan) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    in_all_shapes([&](const context& ctx) {
        const vector<double> x(ctx, {nan, 2, 1, nan, nan, nan, 3, nan, 4});
        const auto M = balm::view(x, {3, 3});
        const auto least = values_of<double>(min(M, along(1)));
        EXPECT_EQ(least[0], 1);
        EXPECT_TRUE(std::isnan(least[1]));
        EXPECT_EQ(least[2], 3);
        EXPECT_EQ(values_of<std::int64_t>(arg_max(M, along(1))), (std::vector<std::int64_t>{1, 0, 2}));
        const auto most = values_of<double>(max(M, along(0)));
        EXPECT_EQ(most, (std::vector<double>{3, 2, 4}));
        EXPECT_EQ(values_of<std::int64_t>(arg_min(M, along(0))), (std::vector<std::int64_t>{2, 0, 0}));
    });
}

TEST(V10_along_dimensions, are_expressions) {
    auto random = seeded_random();
    const std::size_t a = 6, b = 70, c = 9;
    const auto values = small_numbers<double>(random, a * b * c);
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, values), y(ctx, a), back(ctx, a);
        y = balm::cast<double>(element_index());
        const auto T = balm::view(x, {a, b, c});
        const auto at = [&](std::size_t i, std::size_t j, std::size_t k) {
            return values[(i * b + j) * c + k];
        };
        // Beside a vector, twice in one expression, and of each other.
        const auto totals = sum(T, along(1, 2));
        const auto got = vector<double>(totals * totals + y).to_host();
        const auto of_sums = vector<double>(max(sum(T, along(1)), along(1))).to_host();
        const double least = balm::min(totals), everything = balm::sum(sum(T, along(2, 0)));
        double expected_least = 1e9, expected_all = 0;
        std::vector<double> expected;
        for (std::size_t i = 0; i < a; ++i) {
            double total = 0, most = -1e9;
            for (std::size_t k = 0; k < c; ++k) {
                double of_column = 0;
                for (std::size_t j = 0; j < b; ++j) of_column += at(i, j, k);
                total += of_column;
                most = std::max(most, of_column);
            }
            expected.push_back(total);
            EXPECT_EQ(got[i], total * total + static_cast<double>(i));
            EXPECT_EQ(of_sums[i], most);
            expected_least = std::min(expected_least, total);
            expected_all += total;
        }
        EXPECT_EQ(least, expected_least);
        EXPECT_EQ(everything, expected_all);
        // What remains has extents: it goes with views of the same, and not with others.
        const auto rest = sum(T, along(1));
        vector<double> z(ctx, a * c);
        balm::view(z, {a, c}) = rest + 1.0;
        EXPECT_EQ(
            z[c + 2], 1 + [&] {
                double total = 0;
                for (std::size_t j = 0; j < b; ++j) total += at(1, j, 2);
                return total;
            }());
        EXPECT_THAT(message_of<usage_error>([&] { balm::view(z, {c, a}) = rest; }), HasSubstr("9 x 6"));
        // Read at positions, and as positions; the target may be among what is reduced.
        back = totals[std::int64_t(a) - 1 - element_index(0, a)];
        EXPECT_EQ(back[0], expected[a - 1]);
        y = 0.0;
        y[count(T > 1000.0, along(1, 2))] = 5.0;  // none are: all positions are 0
        EXPECT_EQ(y[0], 5);
        EXPECT_EQ(y[1], 0);
        auto M = balm::view(x, {a, b * c});
        M -= balm::view(sum(M, along(0)) / double(a), {1, b * c}).broadcast({a, b * c});
        const auto centred = vector<double>(sum(M, along(0))).to_host();
        for (const double each : centred) EXPECT_NEAR(each, 0, 1e-12);
    });
}

/// What of these is computed over several devices: in a process of its own, where PoCL can be told to have
/// them.
TEST(V10_along_dimensions, of_vectors_over_several_devices) {
    run_on_three_devices("test_algorithm", "V10_along_dimensions*-*every_reduction");
}

TEST(V10_along_dimensions, are_written_where_they_are_assigned) {
    on_all_contexts([](const context& ctx) {
        if (ctx.size() > 1) return;
        const std::size_t rows = 37, columns = 50, planes = 3;
        vector<float> x(ctx, planes * rows * columns), y(ctx, planes * rows), z(ctx, rows);
        x = cast<float>(balm::element_index() % 7);
        const auto M = balm::view(x, {planes, rows, columns});
        std::vector<std::string> names;
        kernels::observe_compilations(
            [&](const ir::function& f, const ir::launch_facts&) { names.push_back(f.name); });
        y = max(M * 1.25f, along(2));
        z = max(M * 1.5f, along(0, 2));
        compile_kernels_with_nvrtc_again();
        EXPECT_THAT(names, testing::Not(testing::Contains(testing::HasSubstr("elementwise"))));
        EXPECT_THAT(y.to_host(), testing::Each(7.5f));
        EXPECT_THAT(z.to_host(), testing::Each(9.f));
        // What is read is not written yet; other views than the whole result's go through one.
        x = sum(balm::view(x, {planes * rows * columns, 1}) * 2.f, along(1));
        EXPECT_THAT(x.to_host(), testing::Contains(12.f));
        const auto sums = balm::view(sum(M, along(2)), {planes, rows});
        vector<float> t(ctx, planes * rows);
        t = sums.transpose();
        const auto straight = values_of<float>(sum(M, along(2))), turned = values_of<float>(t);
        for (std::size_t k = 0; k < planes * rows; ++k)
            EXPECT_EQ(turned[k % rows * planes + k / rows], straight[k]);
    });
}

// GPUs count in 32 bits what can be counted so.
TEST(V10_along_dimensions, of_more_than_31_bits_count) {
    in_all_shapes([&](const context& ctx) {
        constexpr std::size_t n = (std::size_t{1} << 30) + 5;
        vector<std::int64_t> x(ctx, std::vector<std::int64_t>{3, 5});
        const std::vector<std::int64_t> wanted{3 * std::int64_t{n}, 5 * std::int64_t{n}};
        EXPECT_EQ(values_of<std::int64_t>(sum(view(x, {2, 1}).broadcast({2, n}), along(1))), wanted);
        EXPECT_EQ(values_of<std::int64_t>(sum(view(x, {1, 2}).broadcast({n, 2}), along(0))), wanted);
    });
}

TEST(V10_along_dimensions, of_nothing) {
    on_all_contexts([](const context& ctx) {
        const vector<float> x(ctx, 0);
        const auto M = balm::view(x, {4, 0});
        EXPECT_EQ(values_of<float>(sum(M, along(1))), std::vector<float>(4));
        EXPECT_EQ(values_of<float>(product(M, along(1))), std::vector<float>(4, 1));
        EXPECT_EQ(values_of<bool>(balm::all(M > 0, along(1))), std::vector<bool>(4, true));
        EXPECT_EQ(vector<float>(sum(M, along(0))).size(), 0u);
        EXPECT_EQ(vector<float>(max(M, along(0))).size(), 0u);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(min(M, along(1))); }),
                    HasSubstr("4 x 0"));
    });
}

TEST(V10_along_dimensions, are_checked) {
    on_all_contexts([](const context& ctx) {
        const vector<float> x(ctx, 12, 1);
        const auto M = balm::view(x, {3, 4});
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(sum(M, along(2))); }),
                    HasSubstr("dimension 2 of 3 x 4, whose dimensions are 0 to 1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(sum(M, along(-1))); }),
                    HasSubstr("dimension -1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(sum(M, along(1, 1))); }),
                    HasSubstr("twice along dimension 1"));
        EXPECT_EQ(values_of<float>(sum(x, along(0))), std::vector<float>{12});
    });
}

}  // namespace

}  // namespace balm::test
