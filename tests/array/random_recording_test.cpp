// Random programs of statements: the same bits recorded, recorded without fusion, and not recorded.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "array/recorded_world.hpp"
#include "support/case_count.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
struct statement {
    std::uint64_t kind;
    program_text run;
};
program_text program_of(const std::vector<statement>& all) {
    return [all](world& w) {
        for (const statement& each : all) each.run(w);
    };
}
/// The statements that remain if each is dropped whose absence leaves a difference.
std::string shortened(const context& ctx, std::vector<statement> program, std::uint64_t seed,
                      std::size_t size) {
    for (std::size_t k = program.size(); k-- > 0;) {
        std::vector<statement> less = program;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(k));
        if (!recorded_and_compared(ctx, program_of(less), seed, size).fault.empty()) program = less;
    }
    const recorded_program left = recorded_and_compared(ctx, program_of(program), seed, size);
    std::string words = left.fault + "statements of kinds";
    for (const statement& each : program) words += " " + std::to_string(each.kind);
    return words + ", as\n" + left.step.describe();
}

/// A random statement of the drawn kinds: elementwise ones of all types, other elements, aliases, reductions,
/// algorithms; the last ones assign to views and at computed positions.
constexpr std::uint64_t kinds = 70, first_of_views = 60;
program_text drawn(std::mt19937_64& random, std::uint64_t kind) {
    const auto below = [&](std::uint64_t count) { return random() % count; };
    using floats = vector<float> world::*;
    static constexpr floats names[] = {&world::a, &world::b, &world::c};
    const floats to = names[below(3)], x = names[below(3)], y = names[below(3)];
    using doubles = vector<double> world::*;
    static constexpr doubles wide[] = {&world::d, &world::e};
    const doubles into = wide[below(2)], u = wide[below(2)], v = wide[below(2)];
    const auto number = static_cast<float>(static_cast<int>(below(9)) - 4) / 3.7f;  // products are inexact
    static constexpr floats single[] = {&world::s, &world::t};
    static constexpr doubles wide_single[] = {&world::f, &world::g};
    const floats one = single[below(2)], other = single[below(2)];
    const doubles wide_one = wide_single[below(2)];
    const auto order = below(4) == 0 ? balm::policy::portable : balm::policy::run_to_run;
    switch (kind) {
        case 0: return [=](world& w) { w.*to = w.*x * w.*y + number; };
        case 1: return [=](world& w) { w.*to = w.*x * w.*y; };
        case 2: return [=](world& w) { w.*to += number * w.*x; };
        case 3: return [=](world& w) { w.*to = max(w.*x, w.*y) - w.*to; };
        case 4: return [=](world& w) { w.*into = w.*u * w.*v - w.*u; };
        case 5: return [=](world& w) { w.*into = cast<double>(w.*x) / (1.0 + w.*v * w.*v); };
        case 6: return [=](world& w) { w.*to = cast<float>(w.*u) * 0.5f + w.s; };
        case 7: return [=](world& w) { w.k = select(w.*x > w.*y, w.k + 1, w.k * 3 - w.k); };
        case 8: return [=](world& w) { w.m = cast<std::uint8_t>(w.k + cast<std::int32_t>(w.m)); };
        case 9: return [=](world& w) { w.*to = cast<float>(cast<std::int32_t>(w.m) - 128) / 64.f; };
        case 10: return [=](world& w) { w.*to = w.*x; };
        case 11: return [=](world& w) { w.*to = number; };
        case 12:
            return
                [=](world& w) { w.*to = (w.*x)[(balm::element_index() + 3) % w.a.size()] - w.*y * number; };
        case 13:
            return [=](world& w) {
                const vector<float> product = w.*x * w.*y;
                const vector<float> more = product + w.*to * number;
                w.*to = more - w.*x;
            };
        case 14: return [=](world& w) { tie(w.*to, w.*into) = std::tuple(w.*y * 0.5f, w.*u * w.*v + 1.0); };
        case 15: return [=](world& w) { sum_into(w.*one, w.*x * 0.001f); };
        case 16: return [=](world& w) { w.*to = tanh(balm::inclusive_scan(w.*x * 0.01f)); };
        case 17: return [=](world& w) { w.*to = sin(w.*x) * number + w.*y; };
        case 18: return [=](world& w) { w.*into = exp(-abs(w.*u)) - w.*v; };
        case 19: return [=](world& w) { w.p = select(w.k > 0, w.p, w.*x > w.*y); };
        case 20: return [=](world& w) { w.h = w.*x * number; };
        case 21: return [=](world& w) { w.*to = w.h * 2.f + w.*y; };
        case 22: return [=](world& w) { w.z = w.z * number + balm::polar(w.*x, w.*y); };
        case 23: return [=](world& w) { sum_into(w.*one, w.*x * w.*y * 0.001f, order); };
        case 24: return [=](world& w) { sum_into(w.*wide_one, w.*u * w.*v + number, order); };
        case 25: return [=](world& w) { max_into(w.*one, w.*x * w.*y); };
        case 26: return [=](world& w) { min_into(w.*wide_one, cast<double>(w.*x) - w.*u); };
        case 27: return [=](world& w) { sum_into(w.q, cast<std::int64_t>(w.k)); };
        case 28:
            return [=](world& w) {
                balm::reduce_into(order, std::tie(w.s, w.f), balm::max_of(w.*x),
                                  balm::sum_of(w.*u * w.*u * 0.001));
            };
        case 29: return [=](world& w) { w.*one = w.*other * number + w.*one; };
        case 30: return [=](world& w) { w.*one = sqrt(abs(w.*other)) / (1.f + abs(w.*one)); };
        case 31: return [=](world& w) { w.*wide_one = cast<double>(w.*one) * 0.25 - w.*wide_one * 0.125; };
        case 32: return [=](world& w) { w.*one = sin(w.*other) + cast<float>(w.q % std::int64_t{7}); };
        case 33: return [=](world& w) { w.*to = tanh(w.*x) + w.*one * w.*y * 0.001f; };
        case 34: return [=](world& w) { w.*into = w.*u * 0.5 + w.*wide_one * w.*v * 0.001; };
        case 35:
            return [=](world& w) {
                vector<float> square = w.*x * w.*x;
                vector<float> length(w.ctx, 1);
                sum_into(length, square + w.*y);
                w.*one = length * 0.001f;
                w.*to = square - w.*y;
            };
        case 39:
            return [=](world& w) {
                const auto size = static_cast<std::int64_t>(w.a.size());
                sum_into(w.*one, (w.*x)[(balm::element_index() + 5) % size] * w.*y * 0.001f);
            };
        case 40: return [=](world& w) { w.*to = w.*y * number - w.*to; };
        case 36:
            return [=](world& w) {
                static const auto around = function("around(x, i)", [](In<float> x, Index i) {
                    return x[(i + 1) % 32] * 0.25f + x[i] - x[i / 2] * x[i];
                });
                static const auto wave = function("wave(x)", [](Float x) { return sin(x) * 0.5f + x * x; });
                w.*to = around(w.*x, balm::element_index()) - wave(w.*y) * number;
            };
        case 37:
            return [=](world& w) {
                static const auto around = function("near(x, i)", [](In<double> x, Index i) {
                    return x[max(i - 3, Index(0))] * 0.25 + x[i];
                });
                w.*into = around(w.*u, balm::element_index());
                sum_into(w.*wide_one, w.*into * w.*u);
            };
        case 38: return [=](world& w) { any_into(w.flag, w.p && w.k > 10); };
        case 42: return [=](world& w) { w.rows = balm::max(in_rows(w.*x, 32), balm::along(1)); };
        case 43:
            return
                [=](world& w) { w.rows = balm::sum(in_rows(w.*x, 32) * in_rows(w.*y, 32), balm::along(1)); };
        case 44: return [=](world& w) { w.*to = w.*x - of_rows(w.rows, 32) * number; };
        case 45: return [=](world& w) { w.rows = w.rows * number + 1.f / (1.f + abs(w.rows)); };
        case 46:
            return [=](world& w) {
                w.rows_of_8 = balm::sum(in_rows(w.*u, 8) * number - in_rows(w.*v, 8), balm::along(1));
                w.*into = w.*u / (1.0 + abs(of_rows(w.rows_of_8, 8)));
            };
        case 47: return [=](world& w) { in_rows(w.*into, 8) = in_rows(w.*u, 8) + of_rows(w.rows_of_8, 8); };
        case 48:
            return [=](world& w) {
                const std::size_t columns = w.a.size() / 32;
                auto M = in_rows(w.*to, columns);
                vector<float> most = balm::max(M, balm::along(1));
                vector<float> apart = w.*to - of_rows(most, columns);
                apart = apart * apart + 0.5f;
                const vector<float> sum = balm::sum(in_rows(apart, columns), balm::along(1));
                w.few_rows = sum + most;
                M = in_rows(apart, columns) / of_rows(sum, columns);
            };
        case 49:
            return [=](world& w) {
                const std::size_t columns = w.a.size() / 32;
                w.few_rows = balm::product(in_rows(w.*x, columns) * 0.01f + 1.f, balm::along(1));
                w.few_rows +=
                    balm::sum(in_rows(w.*y, columns) * of_rows(w.few_rows, columns), balm::along(1)) * 0.01f;
            };
        case 54: return [=](world& w) { w.*to = w.*x - w.*one * number; };
        case 55: return [=](world& w) { w.*into = w.*u + w.*wide_one * 0.3 - w.*v * w.*wide_one; };
        case 50:
            return [=](world& w) {
                const vector<std::int64_t> at = balm::arg_max(in_rows(w.*x, 32), balm::along(1));
                w.*to = cast<float>(of_rows(at, 32)) * 0.01f + w.*y;
            };
        case 51:
            return [=](world& w) {
                const vector<bool> any = balm::any(in_rows(w.k, 32) > 60, balm::along(1));
                w.k = select(of_rows(any, 32), w.k - 1, w.k);
                w.rows = select(any, w.rows, -w.rows);
            };
        case 52:
            return [=](world& w) {
                const vector<float> columns = balm::sum(in_rows(w.*x, 32), balm::along(0));
                in_rows(w.*to, 32) =
                    in_rows(w.*x, 32) - view(columns, {std::size_t{1}, std::size_t{32}})
                                                .broadcast({w.a.size() / 32, std::size_t{32}}) *
                                            0.01f;
            };
        case 53:
            return [=](world& w) {
                w.*to = exp(w.*x - of_rows(w.rows, 32)) * 0.01f;
                w.rows = balm::sum(in_rows(w.*to, 32), balm::along(1));
                w.*to = w.*to / (1.f + abs(of_rows(w.rows, 32)));
            };
        case 56:
            return [=](world& w) {
                const std::size_t rows = w.a.size() / 32;
                const auto of_columns = [&](const vector<float>& each) {
                    return view(each, {std::size_t{1}, std::size_t{32}}).broadcast({rows, std::size_t{32}});
                };
                const vector<float> mean = balm::sum(in_rows(w.*x, 32), balm::along(0)) * (1.f / 64);
                const vector<float> apart = w.*x * number - of_columns(mean) * of_columns(mean);
                const vector<float> squares =
                    balm::sum(in_rows(apart, 32) * in_rows(apart, 32) - in_rows(w.*y, 32), balm::along(0));
                w.*to = apart * (1.f / (1.f + abs(of_columns(squares))));
            };
        case 57:
            return [=](world& w) {
                const vector<float> apart = w.*x * number - w.*one * w.*one;
                vector<float> sum(w.ctx, 1);
                sum_into(sum, apart * apart);
                w.*to = apart / (1.f + sum) - w.*y;
                w.few_rows = balm::max(view(apart, {std::size_t{1}, w.a.size()}).broadcast({32, w.a.size()}),
                                       balm::along(1));
            };
        case 58:
            return [=](world& w) {
                const vector<double> twice = w.*u + w.*u * 0.25, more = twice - w.*wide_one;
                sum_into(w.*wide_one, more);
                w.*into = twice * more;
                w.rows_of_8 = balm::sum(in_rows(more, 8), balm::along(1));
                w.*into = more - w.*into * w.*wide_one;
            };
        case 59:
            return [=](world& w) {
                const vector<float> columns =
                    balm::sum(in_rows(w.*x, 8) * number + in_rows(w.*y, 8), balm::along(0));
                w.*to = w.*to * columns[balm::element_index() % std::int64_t{8}] * 0.01f;
            };
        case 60: return [=](world& w) { w.*to = w.*x - w.*y * number; };
        case 61:
            return [=](world& w) {
                const auto end = static_cast<std::int64_t>(w.a.size() / 8);
                const auto inside = balm::slice(1, end - 1), columns = balm::slice(1, 7);
                const auto from = in_rows(w.*x, 8), also = in_rows(w.*y, 8);
                in_rows(w.*to, 8)(inside, columns) = from(balm::slice(0, end - 2), columns) * number +
                                                     from(balm::slice(2, end), columns) -
                                                     also(inside, columns) * also(inside, balm::slice(0, 6));
            };
        case 62:
            return [=](world& w) {
                w.*to = balm::stencil(
                    balm::border::wrap,
                    [&](const auto& p, const auto& q) {
                        return p(0, 1) * number + p(-1, 0) - q(0, 0) * q(0, -1) * p(0, 0);
                    },
                    in_rows(w.*x, 8), in_rows(w.*y, 8));
            };
        case 63:
            return [=](world& w) {
                w.*into = balm::stencil(
                    balm::border::clamp,
                    [](const auto& p, const auto& q) { return p(-1, 0) * 0.5 + q(1, 0) * q(0, 1); },
                    in_rows(w.*u, 8), in_rows(w.*v, 8));
            };
        case 64:
            return [=](world& w) {
                const std::size_t size = w.a.size();
                view(w.*to, {size})(balm::reversed) = w.*x * number - w.*y;
            };
        case 65:
            return [=](world& w) {
                const auto size = static_cast<std::int64_t>(w.a.size());
                (w.*to)[(balm::element_index() + 7) % size] = w.*x * w.*y + number;
            };
        case 66:
            return [=](world& w) {
                const auto end = static_cast<std::int64_t>(w.a.size() / 8);
                in_rows(w.*into, 8)(balm::slice(1, end - 1), balm::slice(1, 7)) +=
                    in_rows(w.*u, 8)(balm::slice(0, end - 2), balm::slice(2, 8)) * 0.25 +
                    cast<double>(in_rows(w.*x, 8)(balm::slice(1, end - 1), balm::slice(1, 7)));
            };
        case 67:
            return [=](world& w) {
                const auto end = static_cast<std::int64_t>(w.a.size() / 8);
                const auto inside = balm::slice(1, end - 1), columns = balm::slice(1, 7);
                max_into(w.*one, abs(in_rows(w.*x, 8)(inside, columns) - in_rows(w.*y, 8)(inside, columns)));
            };
        case 68:
            return [=](world& w) {
                balm::tie(in_rows(w.*to, 8)(balm::all, balm::slice(0, 4)),
                          in_rows(w.*into, 8)(balm::all, balm::slice(4, 8))) =
                    std::tuple(in_rows(w.*x, 8)(balm::all, balm::slice(2, 6)) * number,
                               in_rows(w.*u, 8)(balm::all, balm::slice(4, 8)) + 0.5);
            };
        case 69: return [=](world& w) { in_rows(w.*to, 8)(balm::all, balm::slice(4, 8)) = number; };
        default:
            return [=](world& w) {
                auto M = view(w.*to, {w.a.size() / 32, 32});
                M(balm::all, 5) = M(balm::all, 9) * number;
            };
    }
}

TEST(B4_recordings, random_programs_have_the_same_bits) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const shapes_of_gpus there(seed() % 2 == 0);
    for_each_case(case_count(8), [&](std::size_t k) {
        std::mt19937_64 random(seed() + k);
        const device& on = present_devices()[k % present_devices().size()];
        std::vector<statement> program;
        const std::uint64_t first = random() % 4 == 0 ? first_of_views : 0;
        for (std::size_t length = 3 + random() % 14; program.size() < length;) {
            const std::uint64_t kind = first + random() % (kinds - first);
            program.push_back({kind, drawn(random, kind)});
        }
        constexpr std::size_t sizes[] = {n, n, 32, 96, 1920, 9600, 40960};
        const std::size_t size = sizes[random() % std::size(sizes)];
        const std::uint64_t numbers = random();
        const context ctx({on});
        if (recorded_and_compared(ctx, program_of(program), numbers, size).fault.empty()) return;
        ADD_FAILURE() << "BALM_TEST_SEED=" << seed() + k << " on " << words(on) << ", " << size
                      << " elements: " << shortened(ctx, program, numbers, size);
    });
}

}  // namespace

}  // namespace balm::test
