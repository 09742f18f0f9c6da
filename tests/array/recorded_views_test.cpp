// Statements of a recording that assign to views, and values that a kernel computes again instead of loading
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "algorithm/reduce_ways.hpp"
#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// ---- views as targets

const auto inside = balm::slice(1, 31), up = balm::slice(0, 30), down = balm::slice(2, 32);

TEST(B4_recorded_views, of_one_box_share_a_kernel) {
    expect_recorded_alike(
        [](world& w) {
            const auto a = in_rows(w.a, 32), b = in_rows(w.b, 32);
            in_rows(w.c, 32)(inside, inside) = a(up, inside) + a(down, inside) - a(inside, inside) * 0.5f;
            in_rows(w.d, 32)(inside, inside) = cast<double>(b(inside, up) * a(inside, inside)) + 0.25;
            const vector<float> product = view(a(inside, inside) * b(inside, inside), {std::size_t{900}});
            in_rows(w.k, 32)(inside, inside) = cast<std::int32_t>(view(product, {30, 30}) * 10.f);
        },
        1);
}

TEST(B4_recorded_views, in_any_order_of_elements) {
    expect_recorded_alike(
        [](world& w) {
            view(w.a, {n})(balm::reversed) = w.b * 2.f;
            w.c = w.b - 1.f;
            w.d[(balm::element_index() + 5) % static_cast<std::int64_t>(n)] = w.e + 0.5;
            tie(w.k, view(w.m, {n})(balm::reversed)) =
                std::tuple(cast<std::int32_t>(w.b), cast<std::uint8_t>(w.k));
        },
        1);
}

TEST(B4_recorded_views, wait_for_what_they_overwrite_and_are_waited_for) {
    expect_recorded_alike(
        [](world& w) {
            const auto a = in_rows(w.a, 32);
            in_rows(w.b, 32)(inside, inside) = a(up, inside) * 0.5f;
            a(inside, inside) = in_rows(w.c, 32)(inside, inside);    // which the first one reads elsewhere
            in_rows(w.c, 32)(inside, up) = a(inside, inside) + 1.f;  // what the second one writes
            in_rows(w.c, 32)(inside, down) = 0.25f;                  // partly the same elements
            w.d = cast<double>(w.c);
        },
        5);
}

TEST(B4_recorded_views, that_are_updated_in_place_share_a_kernel) {
    expect_recorded_alike(
        [](world& w) {
            in_rows(w.a, 32)(inside, inside) += in_rows(w.b, 32)(up, inside);
            in_rows(w.d, 32)(inside, inside) *= 0.5;
        },
        1);
}

TEST(B4_recorded_views, do_not_join_reductions) {
    expect_recorded_alike(
        [](world& w) {
            in_rows(w.a, 32)(inside, inside) = in_rows(w.b, 32)(up, inside);
            max_into(w.s, in_rows(w.a, 32)(inside, inside) - in_rows(w.b, 32)(inside, inside));
            in_rows(w.c, 32)(inside, inside) = 0.5f;
            w.rows = balm::sum(in_rows(w.b, 32), balm::along(1));
            view(w.rows, {w.rows.size()})(balm::reversed) = 0.5f * view(w.few_rows, {w.rows.size()});
        },
        6);
}

TEST(B4_recorded_views, of_scattered_elements_keep_functions_of_vectors_apart) {
    expect_recorded_alike(
        [](world& w) {
            w.a[(balm::element_index() + 7) % static_cast<std::int64_t>(n)] = w.b * w.c + 0.5f;
            w.e = exp(-abs(w.d)) - w.d;
        },
        2);
}

TEST(B4_recorded_views, let_stencils_of_the_same_arrays_share_a_kernel) {
    expect_recorded_alike(
        [](world& w) {
            const auto mixed = [&](vector<float>& into, float by) {
                into = balm::stencil(
                    balm::border::wrap,
                    [&](const auto& p, const auto& q) {
                        return p(0, 0) + by * (p(-1, 0) + p(0, 1)) - q(0, 0) * p(0, 0) * q(0, -1);
                    },
                    in_rows(w.a, 32), in_rows(w.b, 32));
            };
            vector<float> first(w.ctx, n), second(w.ctx, n);
            mixed(first, 0.25f);
            mixed(second, 0.125f);
            w.a = first;
            w.b = second;
        },
        4);
}

TEST(B4_recorded_views, count_equal_scalars_once) {
    on_all_devices([](const device& on) {
        const context ctx({on});
        const auto side = static_cast<std::int64_t>(32);
        const auto around = [side](const vector<float>& x) {
            const auto i = balm::element_index(), r = i / side, c = i % side;
            return x[r * side + (c + 1) % side] + x[r * side + (c + side - 1) % side] +
                   x[(r + 1) % side * side + c] + x[(r + side - 1) % side * side + c] - 4.f * x;
        };
        const recording step = expect_recorded_alike(
            ctx,
            [&](world& w) {
                const vector<float> u = w.a + 0.16f * around(w.a) - w.b, v = w.b + 0.08f * around(w.b) + w.a;
                w.c = u * v;
            },
            7);
        EXPECT_EQ(step.size(), 1u) << step.describe();
    });
}

// ---- computed again

/// The elements of each column, less its mean, over what they are on average.
void standardise(world& w) {
    const auto of_columns = [](const vector<float>& each) {
        return view(each, {std::size_t{1}, std::size_t{32}}).broadcast({n / 32, std::size_t{32}});
    };
    const vector<float> mean = balm::sum(in_rows(w.a, 32), balm::along(0)) * (1.f / 32);
    const vector<float> apart = w.a - of_columns(mean) * 0.7f * of_columns(mean);
    const vector<float> square =
        balm::sum(in_rows(apart, 32) * in_rows(apart, 32), balm::along(0)) * (1.f / 32);
    const vector<float> scale = 1.f / (1.f + square);
    w.b = apart * of_columns(scale);
}

TEST(B4_recorded_values, are_computed_again_by_reductions_of_columns) {
    for (const bool as_on_gpus : {false, true}) {
        const shapes_of_gpus there(as_on_gpus);
        on_all_devices([](const device& on) {
            const recording step = expect_recorded_alike(context({on}), standardise, 11);
            EXPECT_THAT(step.describe(), HasSubstr("    computes a statement of another kernel again\n"));
            const std::string text = step.describe();
            std::size_t stored = 0;  // kernels that store all elements
            for (std::size_t at = 0; (at = text.find("writes 4096\n", at)) != std::string::npos; ++at)
                ++stored;
            EXPECT_EQ(stored, 1u) << text;
        });
    }
}

TEST(B4_recorded_values, are_computed_again_after_a_reduction) {
    on_all_devices([](const device& on) {
        const recording step = expect_recorded_alike(
            context({on}),
            [](world& w) {
                const vector<float> apart = w.a * 1.5f - w.s * w.s;
                sum_into(w.t, apart * apart);
                w.b = apart / (1.f + w.t);
                w.c = apart - w.b;
            },
            13);
        EXPECT_THAT(step.describe(), HasSubstr("    computes a statement of another kernel again\n"));
    });
}

/// Whether a vector that the program has from elsewhere is computed again.
bool is_computed_again(const context& ctx, const program_text& statements) {
    return expect_recorded_alike(ctx, statements, 17).describe().find("of another kernel again") !=
           std::string::npos;
}

TEST(B4_recorded_values, are_loaded_if_computing_them_moves_more) {
    on_all_devices([](const device& on) {
        EXPECT_FALSE(is_computed_again(context({on}), [](world& w) {
            const vector<float> both = w.a * w.b;
            sum_into(w.t, both);
            w.c = both * w.t;
        }));
        EXPECT_TRUE(is_computed_again(context({on}), [](world& w) {
            const vector<float> both = w.a * w.b;
            sum_into(w.t, both);
            w.c = both * w.t + w.b;  // reads one of them anyway
        }));
        EXPECT_FALSE(is_computed_again(context({on}), [](world& w) {
            const vector<float> wave = sin(w.a);
            sum_into(w.t, wave);
            w.c = wave * w.t;
        }));
    });
}

TEST(B4_recorded_values, are_loaded_if_what_they_depend_on_has_changed) {
    on_all_devices([](const device& on) {
        EXPECT_FALSE(is_computed_again(context({on}), [](world& w) {
            const vector<float> apart = w.a - 0.5f;
            w.a = apart * 0.25f;
            sum_into(w.t, apart * apart);
            w.c = apart * w.t;
        }));
        EXPECT_FALSE(is_computed_again(context({on}), [](world& w) {
            const vector<float> apart = w.a - w.s;
            sum_into(w.s, apart * apart);
            w.c = apart * w.s;
        }));
        EXPECT_FALSE(is_computed_again(context({on}), [](world& w) {
            const vector<float> apart = w.a - 0.5f;
            sum_into(w.t, apart * apart);
            w.b = balm::inclusive_scan(w.c);
            w.a = w.b * w.t;
            w.c = apart * w.t;
        }));
    });
}

}  // namespace

}  // namespace balm::test
