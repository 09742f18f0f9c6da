// Scans along a dimension against sums in loops on the host.

#include "balm/scan_along.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithm/scan_ways.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

/// A box of three dimensions, the second of which is scanned.
struct three {
    std::size_t outer, rows, inner;
    std::size_t count() const { return outer * rows * inner; }
    std::string words() const {
        return std::to_string(outer) + " x " + std::to_string(rows) + " x " + std::to_string(inner);
    }
};

template <class R, class F>
std::vector<R> along_on_host(const std::vector<R>& x, const three& box, F&& combine, R init,
                             bool is_inclusive) {
    std::vector<R> made(x.size());
    for (std::size_t o = 0; o < box.outer; ++o)
        for (std::size_t i = 0; i < box.inner; ++i) {
            R sum = init;
            for (std::size_t r = 0; r < box.rows; ++r) {
                const std::size_t at = (o * box.rows + r) * box.inner + i;
                const R next = combine(sum, x[at]);
                made[at] = is_inclusive ? next : sum;
                sum = next;
            }
        }
    return made;
}
int wrapped_sum(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

void expect_inclusive(const context& ctx, std::mt19937_64& random, const three& box) {
    SCOPED_TRACE(box.words());
    const std::vector<int> x = random_ints(random, box.count());
    vector<int> v(ctx, x);
    expect_equal(vector<int>(inclusive_scan(view(v, {box.outer, box.rows, box.inner}), along(1))),
                 along_on_host(x, box, wrapped_sum, 0, true));
}
void expect_exclusive_in_place(const context& ctx, std::mt19937_64& random, const three& box) {
    SCOPED_TRACE(box.words());
    const std::vector<int> x = random_ints(random, box.count());
    vector<int> v(ctx, x);
    v = exclusive_scan(view(v, {box.outer, box.rows, box.inner}), 7, along(1));
    expect_equal(v, along_on_host(x, box, wrapped_sum, 7, false));
}
void expect_scans(const context& ctx, std::mt19937_64& random, const three& box) {
    expect_inclusive(ctx, random, box);
    expect_exclusive_in_place(ctx, random, box);
}
/// Rows, columns, and the dimension in between, short and long, few and many.
void expect_all(const context& ctx, std::mt19937_64& random, std::size_t scale) {
    for (const three& box :
         {three{1 + below(random, 50), 1 + below(random, 20), 1}, three{scale / 3 + below(random, 9), 3, 1},
          three{2, scale + below(random, 100), 1}, three{scale / 100, 64, 1},
          three{1, scale / 4 + below(random, 50), 2 + below(random, 3)},
          three{1, 1 + below(random, 20), scale / 20 + below(random, 50)},
          three{1 + below(random, 4), scale / 300 + below(random, 50), 30 + below(random, 40)}})
        expect_scans(ctx, random, box);
}

TEST(V15_scan_along, rows_columns_and_between) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        expect_all(ctx, random, 1000 + below(random, 50000));
        expect_scans(ctx, random, {3, 70000 + below(random, 9), 1});  // chunks of rows on CPUs
        expect_scans(ctx, random, {1, 70000 + below(random, 9), 3});
    });
}

TEST(V15_scan_along, strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) {
        const std::size_t row = 4 + below(random, 700);
        for (const three& box : {three{5000 / row, row, 1}, three{2, 5000 + below(random, 5), 1},
                                 three{1, 3000 + below(random, 99), 1 + below(random, 40)},
                                 three{1 + below(random, 4), 1 + below(random, 60), 2 + below(random, 99)}})
            expect_exclusive_in_place(ctx, random, box);
    });
}

TEST(V15_scan_along, reductions_and_functions_that_do_not_commute) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const three box{1, 1 + below(random, 300), 2 + below(random, 300)};
        SCOPED_TRACE(box.words());
        std::vector<std::uint64_t> maps(box.count());
        for (std::uint64_t& each : maps) each = random();
        const vector<std::uint64_t> f(ctx, maps);
        const auto composing = fold_of(view(f, {box.rows, box.inner}), unchanged, composition());
        expect_equal(vector<std::uint64_t>(exclusive_scan(composing, along(0))),
                     along_on_host(maps, box, composed_maps, unchanged, false));
        expect_equal(vector<std::uint64_t>(inclusive_scan(composing, along(1))),
                     along_on_host(maps, three{box.rows, box.inner, 1}, composed_maps, unchanged, true));

        const std::vector<int> x = random_ints(random, box.count());
        const vector<int> v(ctx, x);
        expect_equal(
            vector<int>(inclusive_scan(min_of(view(v, {box.rows, box.inner})), along(0))),
            along_on_host(
                x, box, [](int a, int b) { return std::min(a, b); }, std::numeric_limits<int>::max(), true));
    });
}

TEST(V15_scan_along, expressions_views_and_both_dimensions) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t rows = 1 + below(random, 200), columns = 2 + below(random, 200);
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
        const std::vector<int> x = random_ints(random, rows * columns);
        vector<int> v(ctx, x);
        const auto M = view(v, {rows, columns});
        std::vector<int> twice = x;
        for (int& each : twice) each *= 2;
        const std::vector<int> of_rows = along_on_host(twice, {rows, columns, 1}, wrapped_sum, 0, true);
        const std::vector<int> of_both = along_on_host(of_rows, {1, rows, columns}, wrapped_sum, 0, true);
        expect_equal(vector<int>(inclusive_scan(inclusive_scan(2 * M, along(1)), along(0)) - M), [&] {
            std::vector<int> made = of_both;
            for (std::size_t k = 0; k < x.size(); ++k) made[k] -= x[k];
            return made;
        }());

        std::vector<int> transposed;
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < rows; ++r) transposed.push_back(x[r * columns + c]);
        expect_equal(vector<int>(inclusive_scan(M.transpose(), along(0))),
                     along_on_host(transposed, {1, columns, rows}, wrapped_sum, 0, true));
        expect_equal(vector<int>(inclusive_scan(M.transpose(), along(1))),
                     along_on_host(transposed, {columns, rows, 1}, wrapped_sum, 0, true));
        M.transpose() = inclusive_scan(M.transpose(), along(1));
        expect_equal(v, along_on_host(x, {1, rows, columns}, wrapped_sum, 0, true));
    });
}

TEST(V15_scan_along, several_dimensions_and_no_elements) {
    on_all_contexts([](const context& ctx) {
        vector<int> v(ctx, std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
        expect_equal(vector<int>(inclusive_scan(v, along(0))),
                     (std::vector<int>{1, 3, 6, 10, 15, 21, 28, 36}));
        const auto T = view(v, {2, 1, 2, 2});
        expect_equal(vector<int>(inclusive_scan(T, along(2))), (std::vector<int>{1, 2, 4, 6, 5, 6, 12, 14}));
        expect_equal(vector<int>(inclusive_scan(T, along(1))),
                     v.to_host().size() == 8 ? std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8} : std::vector<int>{});
        vector<int> none(ctx, 0);
        EXPECT_EQ(vector<int>(inclusive_scan(view(none, {0, 3}), along(0))).size(), 0u);
        EXPECT_EQ(vector<int>(exclusive_scan(view(none, {3, 0}), 1, along(1))).size(), 0u);
    });
}

TEST(V15_scan_along, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        vector<int> v(ctx, 12, 1);
        const auto M = view(v, {3, 4});
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(inclusive_scan(M, along(2))); }),
                    HasSubstr("a scan cannot run along dimension 2 of 3 x 4, whose dimensions are 0 to 1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(inclusive_scan(M, along(-1))); }),
                    HasSubstr("-1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(inclusive_scan(M, along(0, 1))); }),
                    HasSubstr("a scan cannot run along 2 dimensions; name exactly one"));
    });
}

TEST(V15_scan_along, other_sizes_compile_nothing) {
    in_all_scan_strategies([](const context& ctx) {
        const auto scan_all = [&](std::size_t rows, std::size_t columns) {
            vector<int> v(ctx, rows * columns, 1);
            const vector<int> down = inclusive_scan(view(v, {rows, columns}), along(0)),
                              to_the_right = inclusive_scan(view(v, {rows, columns}), along(1));
            EXPECT_EQ(down[rows * columns - 1], static_cast<int>(rows));
            EXPECT_EQ(to_the_right[rows * columns - 1], static_cast<int>(columns));
        };
        scan_all(100, 200);
        EXPECT_EQ(compilations_of([&] { scan_all(120, 200); }), 0);
    });
}

// ---- with sub-groups, which devices may lack: in the interpreter, and compiled for CUDA

TEST(V15_scan_along, tiles_of_rows_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    const vector<unsigned> any(ctx, 9600);
    constexpr std::size_t tile = 4096;
    // Rows as long as runs of a tile, and longer ones, whose kernel is the same.
    for (const std::size_t shortest : {1u, 2u, 4u}) {
        const ir::function kernel = kernel_with_sub_groups([&] {
            return vector<unsigned>(inclusive_scan(view(any, {9600 / shortest, shortest}), along(1)));
        });
        const std::size_t row = shortest < 4 ? shortest : 4 * (1 + below(random, 80)),
                          count = 1 + below(random, 20000 / row);
        SCOPED_TRACE(std::to_string(count) + " rows of " + std::to_string(row));
        std::vector<unsigned> x(row * count), out(x.size());
        for (unsigned& each : x) each = static_cast<unsigned>(random());
        const std::size_t of_tile = tile / row * row, tiles = (x.size() + of_tile - 1) / of_tile;
        const named_arguments given{{"n", value_of(static_cast<std::int64_t>(x.size()))},
                                    {"row", value_of(static_cast<std::int64_t>(row))},
                                    {"elements_of_tile", value_of(static_cast<std::int64_t>(of_tile))},
                                    {"out", memory_of(out)},
                                    {"a", memory_of(x)}};
        std::vector<interpreter_argument> bound;
        for (const ir::parameter& each : kernel.parameters) bound.push_back(given.at(each.name));
        interpret(kernel, {{static_cast<std::int64_t>(256 * tiles), 1, 1}, {256, 1, 1}}, bound);
        EXPECT_EQ(out, along_on_host(
                           x, {count, row, 1}, [](unsigned a, unsigned b) { return a + b; }, 0u, true));
    }
}

TEST(V15_scan_along, over_three_devices) {
    run_on_three_devices("test_algorithm", "V15_scan_along.*-*sub_groups*:*compile_nothing");
}

}  // namespace

}  // namespace balm::test
