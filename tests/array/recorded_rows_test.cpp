// Reductions along rows of a recording, which share a kernel with the statements over these rows on GPUs. On
// CPUs the tests use the kernels of GPUs, where statements without library functions do the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using balm::along;

/// Rows of which each is one, few and many work-items', whose work-items have equally many elements or not.
constexpr std::size_t row_lengths[] = {2, 3, 8, 20, 64, 100, 256, 1000, 8192};

/// The same for a program of one vector of so many rows of that length.
void expect_rows_alike(const std::function<void(world&, std::size_t columns)>& statements,
                       std::size_t most_commands) {
    const shapes_of_gpus there(true);
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t columns : row_lengths) {
            const std::size_t size = columns * 32 * (1 + random() % 3);
            SCOPED_TRACE(std::to_string(size / columns) + " rows of " + std::to_string(columns));
            const recording step = expect_recorded_alike(
                context({on}), [&](world& w) { statements(w, columns); }, random(), size);
            EXPECT_LE(step.size(), most_commands) << step.describe();
        }
    });
}

TEST(B4_recorded_rows, subtract_the_greatest_and_divide_by_the_sum) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const vector<float> most = balm::max(in_rows(w.a, columns), along(1));
            vector<float> apart = w.a - of_rows(most, columns);
            apart = 1.f / (1.f + apart * apart);
            const vector<float> sum = balm::sum(in_rows(apart, columns), along(1));
            in_rows(w.b, columns) = in_rows(apart, columns) / of_rows(sum, columns);
        },
        1);
}

TEST(B4_recorded_rows, are_one_expression) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const auto X = in_rows(w.d, columns);
            const std::size_t count = w.d.size() / columns;
            const auto wide = [&](auto&& of_row) {
                return view(of_row, {count, std::size_t{1}}).broadcast({count, columns});
            };
            const auto apart = X - wide(balm::sum(X, along(1)) / static_cast<double>(columns));
            in_rows(w.e, columns) = apart / (1.0 + wide(balm::sum(apart * apart, along(1))));
        },
        2);
}

TEST(B4_recorded_rows, compute_with_results_of_rows) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const auto factor = 1.f / static_cast<float>(columns);
            vector<float> mean = balm::sum(in_rows(w.a, columns), along(1)) * factor;
            w.a = w.a - of_rows(mean, columns);
            vector<float> spread = balm::sum(in_rows(w.a, columns) * in_rows(w.a, columns), along(1));
            spread = 1.f / (spread * factor + 0.01f);
            mean = mean * spread;
            w.c = w.a * of_rows(spread, columns) - w.b * of_rows(mean, columns);
        },
        2);
}

TEST(B4_recorded_rows, reduce_in_every_way) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const auto X = in_rows(w.a, columns);
            const auto K = in_rows(w.k, columns);
            const vector<std::int64_t> at = balm::arg_min(X, along(1));
            const vector<std::int64_t> total = balm::sum(cast<std::int64_t>(K), along(1));
            const vector<bool> any = balm::any(K > 98, along(1));
            const vector<std::int64_t> count = balm::count(X > 0.f, along(1));
            const vector<float> product = balm::product(1.f + X * 0.001f, along(1));
            const vector<float> exact = balm::sum_compensated(X, along(1));
            static const auto larger = function("larger(a, b)", [](Float a, Float b) { return max(a, b); });
            const vector<float> folded = balm::fold(X, -10.f, larger, along(1));
            w.k = w.k + select(of_rows(any, columns), 1, 2) + cast<std::int32_t>(of_rows(at, columns));
            w.d = cast<double>(of_rows(total, columns) + of_rows(count, columns)) * 0.125;
            w.b = w.b * of_rows(product, columns) + of_rows(exact, columns) - of_rows(folded, columns);
        },
        1);
}

TEST(B4_recorded_rows, contract_products_that_all_elements_of_a_row_share) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const vector<float> sum = balm::sum(in_rows(w.a, columns), along(1));
            w.b = w.b - of_rows(sum, columns) * 0.01f;
            const vector<float> both =
                balm::sum(in_rows(w.b, columns) * 0.3f + of_rows(sum, columns) * 0.07f, along(1));
            w.c = w.a * 0.5f + of_rows(both, columns) * 0.03f;
        },
        1);
}

TEST(B4_recorded_rows, keep_results_that_other_rows_or_later_replays_read) {
    expect_rows_alike(
        [](world& w, std::size_t columns) {
            const auto last = static_cast<std::int64_t>(w.a.size() / columns) - 1;
            vector<float> most(w.ctx, w.a.size() / columns);
            most = 0.5f;
            w.a = w.a - of_rows(most, columns);  // before it is overwritten
            most = balm::max(in_rows(w.a, columns), along(1));
            w.b = w.b + of_rows(most, columns);
            w.c =
                most[last - (balm::element_index() / static_cast<std::int64_t>(columns))];  // of another row
        },
        4);
}

TEST(B4_recorded_rows, read_what_the_replay_before_has_stored) {
    const shapes_of_gpus there(true);
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t rows = 50, columns = 70;
        vector<double> x(ctx, rows * columns), total(ctx, rows);
        x = 1.0;
        total = 1.0;
        const recording step = record(ctx, [&] {
            x = x * of_rows(total, columns);
            total = balm::sum(in_rows(x, columns), along(1)) / 70.0 + total;
        });
        EXPECT_LE(step.size(), 2u);
        step.repeat(3);
        double value = 1, sum = 1;
        for (int k = 0; k < 3; ++k) {
            value *= sum;
            sum += value;
        }
        for (const double each : x.to_host()) ASSERT_EQ(each, value);
        for (const double each : total.to_host()) ASSERT_EQ(each, sum);
    });
}

TEST(B4_recorded_rows, have_several_leading_or_trailing_dimensions) {
    const shapes_of_gpus there(true);
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto alike = [&](const program_text& statements) {
            const recording step = expect_recorded_alike(context({on}), statements, random(), 1920);
            EXPECT_EQ(step.size(), 1u) << step.describe();
        };
        alike([](world& w) {
            const auto T = view(w.a, {4, 6, 80});
            const vector<float> most = balm::max(T, along(2));
            view(w.b, {4, 6, 80}) = T - view(most, {4, 6, 1}).broadcast({4, 6, 80});
        });
        alike([](world& w) {
            const auto T = view(w.a, {4, 6, 80});
            const vector<float> sum = balm::sum(T * T, along(1, 2));
            view(w.b, {4, 6, 80}) = T * view(sum, {4, 1, 1}).broadcast({4, 6, 80});
        });
    });
}

TEST(B4_recorded_rows, are_the_last_dimensions_in_order) {
    const shapes_of_gpus there(true);
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto alike = [&](std::size_t size, const program_text& statements) {
            expect_recorded_alike(context({on}), statements, random(), size);
        };
        alike(1024, [](world& w) {
            w.few_rows = balm::sum(in_rows(w.a, 32).transpose(), along(0));
            w.few_rows = w.few_rows * 2.f;
        });
        alike(1024, [](world& w) {
            const vector<std::int64_t> at = balm::arg_max(in_rows(w.a, 32).transpose(), along(0));
            w.few_rows = cast<float>(at + std::int64_t{1});
        });
        alike(1024, [](world& w) {
            const auto repeated = view(w.few_rows, {std::size_t{1}, std::size_t{32}})
                                      .broadcast({std::size_t{32}, std::size_t{32}});
            const vector<float> sum = balm::sum(repeated, along(0));
            w.b = w.b - of_rows(sum, 32);
        });
        alike(9600, [](world& w) {
            const vector<float> sum = balm::sum(in_rows(w.a, 100)(balm::all, balm::reversed), along(1));
            w.b = w.b - of_rows(sum, 100);
        });
        alike(9600, [](world& w) {  // alone: the views decide its order
            w.rows = balm::sum(view(w.a, {300, 32}) * view(w.b, {32, 300}).transpose(), along(1));
        });
        alike(9600, [](world& w) {
            w.rows =
                balm::sum(view(w.a, {300, 32}) * view(w.b, {300, 32})(balm::all, balm::reversed), along(1));
        });
    });
}

TEST(B4_recorded_rows, store_only_what_is_read_afterwards) {
    const shapes_of_gpus there(true);
    on_all_devices([&](const device& on) {
        const recording step = expect_recorded_alike(
            context({on}),
            [](world& w) {
                const vector<float> mean = balm::sum(in_rows(w.a, 32), along(1)) * (1.f / 32);
                const vector<float> apart = w.a - of_rows(mean, 32);
                const vector<float> square = balm::sum(in_rows(apart, 32) * in_rows(apart, 32), along(1));
                w.b = apart / of_rows(square, 32);
            },
            5);
        EXPECT_EQ(step.size(), 1u);
        EXPECT_NE(step.describe().find("reads 4096 bytes, writes 4096\n"), std::string::npos)
            << step.describe();
    });
}

TEST(B4_recorded_rows, do_not_read_at_positions_of_others) {
    const shapes_of_gpus there(true);
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t rows = 3, columns = 9;
        vector<float> x(ctx, rows * columns), y(ctx, rows * columns), table(ctx, rows * columns);
        vector<float> most(ctx, rows), sum(ctx, rows);
        vector<std::int64_t> at(ctx, rows * columns);
        x = 1.f;
        table = cast<float>(balm::element_index());
        at = balm::element_index();
        const recording step = record(ctx, [&] {
            most = balm::max(in_rows(x, columns), along(1));
            y = table[at];
            at = at + std::int64_t{100000000000};  // overwritten where another work-item reads
            sum = balm::sum(in_rows(y, columns), along(1));
        });
        step();
        expect_each(y.to_host(), [](std::size_t i) { return static_cast<float>(i); });
        expect_each(sum.to_host(), [](std::size_t r) { return static_cast<float>(81 * r + 36); });
    });
}

TEST(B4_recorded_rows, take_no_more_local_memory_than_there_is) {
    const shapes_of_gpus there(true);
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, 4 * 2048);
        x = cast<double>(balm::element_index() % std::int64_t{5});
        std::vector<vector<double>> sums(20), direct(20);
        const auto statements = [&](std::vector<vector<double>>& into) {
            for (std::size_t k = 0; k < into.size(); ++k)
                into[k] = balm::sum_compensated(view(x, {4, 2048}) + 0.1 * static_cast<double>(k), along(1));
        };
        for (auto* each : {&sums, &direct})
            for (vector<double>& v : *each) v = vector<double>(ctx, 4);
        statements(direct);
        record(ctx, [&] { statements(sums); })();
        for (std::size_t k = 0; k < sums.size(); ++k)
            expect_each(sums[k].to_host(),
                        [&, wanted = direct[k].to_host()](std::size_t i) { return wanted[i]; });
    });
}

TEST(B4_recorded_rows, scale_and_shift_by_column) {
    const shapes_of_gpus there(true);
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const recording step = expect_recorded_alike(
            context({on}),
            [](world& w) {
                const std::size_t columns = 32, count = w.a.size() / columns;
                const auto of_column = [&](auto& v) {
                    return view(v, {std::size_t{1}, columns}).broadcast({count, columns});
                };
                const vector<float> mean = balm::sum(in_rows(w.a, columns), along(1)) / 32.f;
                in_rows(w.b, columns) =
                    (in_rows(w.a, columns) - of_rows(mean, columns)) * of_column(w.few_rows) +
                    of_column(w.few_rows);
            },
            random(), 9600);
        EXPECT_LE(step.size(), 1u) << step.describe();
    });
}

TEST(B4_recorded_rows, are_as_long_as_work_items_can_hold) {
    const shapes_of_gpus there(true);
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const recording step = expect_recorded_alike(
            context({on}),
            [](world& w) {
                const std::size_t columns = w.a.size() / 2;  // more than 8,192: kernels of their own
                const vector<float> most = balm::max(in_rows(w.a, columns), along(1));
                w.b = w.b - of_rows(most, columns);
            },
            random(), 40960);
        EXPECT_GE(step.size(), 2u);
    });
}

TEST(B4_recorded_rows, have_the_softmax_of_the_host) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t rows = 40, columns = 300;
        std::vector<double> given(rows * columns);
        std::uniform_real_distribution<double> any(-20, 20);
        for (double& each : given) each = any(random);
        vector<double> x(ctx, given), y(ctx, given.size());
        const recording step = record(ctx, [&] {
            const vector<double> most = balm::max(in_rows(x, columns), along(1));
            const vector<double> weight = exp(x - of_rows(most, columns));
            const vector<double> sum = balm::sum(in_rows(weight, columns), along(1));
            y = weight / of_rows(sum, columns);
        });
        EXPECT_LE(step.size(), on.info().type == device_type::gpu ? 1u : 4u) << step.describe();
        step();
        const auto got = y.to_host();
        for (std::size_t r = 0; r < rows; ++r) {
            const auto row = given.begin() + static_cast<std::ptrdiff_t>(r * columns);
            const double most = *std::max_element(row, row + columns);
            double sum = 0;
            for (std::size_t c = 0; c < columns; ++c) sum += std::exp(given[r * columns + c] - most);
            for (std::size_t c = 0; c < columns; ++c)
                ASSERT_NEAR(got[r * columns + c], std::exp(given[r * columns + c] - most) / sum, 1e-12);
        }
    });
}

}  // namespace

}  // namespace balm::test
