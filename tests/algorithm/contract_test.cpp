// Contractions against nested loops on the host.

#include "balm/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <vector>

#include "algorithm/contract/product_shapes.hpp"
#include "balm/error.hpp"
#include "balm/profiler.hpp"
#include "balm/reduce.hpp"
#include "balm/vector.hpp"
#include "host_contraction.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

struct products_as {
    explicit products_as(const array::forced_product& how) { array::force_products(how); }
    products_as(const products_as&) = delete;
    products_as& operator=(const products_as&) = delete;
    ~products_as() { array::force_products({}); }
};

/// Runs the body on every context; on CPU devices also with the kernels of GPUs, in small tiles: fewer turns,
/// since nearly each of them compiles a kernel.
template <class Body>
void with_products_of_all_devices(int turns, Body&& body) {
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < turns; ++turn) body(ctx);
        if (ctx.device(0).info().type != device_type::cpu) return;
        SCOPED_TRACE("as on GPUs");
        const products_as chosen({true, array::small_tile, 0});
        for (int turn = 0; turn < (turns + 3) / 4; ++turn) body(ctx);
    });
}

template <class T>
class V18_matmul : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(V18_matmul, floating_types);

TYPED_TEST(V18_matmul, of_any_extents_and_transposes) {
    using T = TypeParam;
    auto random = seeded_random();
    with_products_of_all_devices(4, [&](const context& ctx) {
        const std::size_t m = 2 + below(random, 60), n = 8 + below(random, 60), k = 1 + below(random, 70);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
        const auto a = small_numbers<T>(random, m * k), b = small_numbers<T>(random, k * n);
        const vector<T> x(ctx, a), y(ctx, b);
        const bool turn_a = below(random, 2) != 0, turn_b = below(random, 2) != 0;
        const shape box_a = turn_a ? shape(k, m) : shape(m, k), box_b = turn_b ? shape(n, k) : shape(k, n);
        const view<const T> A(x, box_a), B(y, box_b);
        const auto product = matmul(turn_a ? A.transpose() : A, turn_b ? B.transpose() : B);
        EXPECT_EQ(values_of<T>(product),
                  looped<T>(turn_a ? "ki" : "ik", box_a, a, turn_b ? "jk" : "kj", box_b, b, "ij"));
    });
}

TEST(V18_matmul_tiles, of_every_shape) {
    if (!has_cpu()) GTEST_SKIP() << "no CPU to compute as GPUs do";
    auto random = seeded_random();
    // Whole tiles and parts of them; elements that are loaded and stored four at a time.
    const std::size_t m = 140, k = 36, n = 260;
    const auto a = small_numbers<float>(random, m * k), b = small_numbers<float>(random, k * n);
    const auto expected = looped<float>("ik", {m, k}, a, "kj", {k, n}, b, "ij");
    on_all_contexts([&](const context& ctx) {
        const vector<float> x(ctx, a), y(ctx, b);
        const int tile = static_cast<int>(below(random, array::tile_choices));
        SCOPED_TRACE("tile " + std::to_string(tile));
        const products_as chosen({true, tile, 0});
        EXPECT_EQ(values_of<float>(matmul(balm::view(x, {m, k}), balm::view(y, {k, n}))), expected);
    });
}

/// Random subscripts of up to four letters an operand.
struct random_subscripts {
    explicit random_subscripts(std::mt19937_64& random) {
        const std::string letters = "abcdef";
        for (std::string* each : {&of_a, &of_b}) {
            const std::size_t axes = 1 + below(random, 4);
            for (std::size_t d = 0; d < axes; ++d) *each += letters[below(random, letters.size())];
        }
        for (const char c : letters) {
            const bool is_there = (of_a + of_b).find(c) != std::string::npos;
            if (is_there && below(random, 2) == 0) output += c;
        }
        std::shuffle(output.begin(), output.end(), random);
    }
    std::string words() const { return of_a + "," + of_b + "->" + output; }
    std::string of_a, of_b, output;
};

shape box_of_letters(const std::string& letters, const std::map<char, std::size_t>& extents) {
    std::vector<std::size_t> sizes;
    for (const char c : letters) sizes.push_back(extents.at(c));
    return shape(std::span<const std::size_t>(sizes));
}

TEST(V18_einsum, of_random_subscripts) {
    auto random = seeded_random();
    with_products_of_all_devices(8, [&](const context& ctx) {
        const random_subscripts drawn(random);
        std::map<char, std::size_t> extents;
        std::string words = drawn.words();
        for (const char c : std::string("abcdef")) {
            extents[c] = below(random, 25) == 0 ? 0 : 1 + below(random, 12);
            words += " " + std::to_string(extents[c]);
        }
        SCOPED_TRACE(words);
        const shape box_a = box_of_letters(drawn.of_a, extents), box_b = box_of_letters(drawn.of_b, extents);
        const auto a = small_numbers<double>(random, box_a.count()),
                   b = small_numbers<double>(random, box_b.count());
        const vector<double> x(ctx, a), y(ctx, b);
        EXPECT_EQ(values_of<double>(
                      einsum(drawn.words(), view<const double>(x, box_a), view<const double>(y, box_b))),
                  looped<double>(drawn.of_a, box_a, a, drawn.of_b, box_b, b, drawn.output));
    });
}

TEST(V18_einsum, of_batches_and_several_axes) {
    auto random = seeded_random();
    struct contraction {
        std::string of_a, of_b, output;
        std::map<char, std::size_t> extents;
    };
    // Fused axes, axes that are copied first, results in several orders, and two axes of a batch.
    const std::vector<contraction> all{
        {"bik", "bkj", "bij", {{'b', 3}, {'i', 17}, {'k', 9}, {'j', 20}}},
        {"ijk", "kjl", "il", {{'i', 18}, {'j', 5}, {'k', 6}, {'l', 19}}},
        {"cbik", "bcjk", "cbij", {{'b', 3}, {'c', 2}, {'i', 12}, {'j', 16}, {'k', 5}}},
        {"ikm", "kj", "jim", {{'i', 9}, {'j', 13}, {'k', 7}, {'m', 4}}},
        {"hts", "shd", "thd", {{'h', 3}, {'t', 11}, {'s', 10}, {'d', 16}}},
        {"ik", "kj", "ji", {{'i', 9}, {'j', 13}, {'k', 7}}}};
    with_products_of_all_devices(1, [&](const context& ctx) {
        std::vector<contraction> some = all;
        std::shuffle(some.begin(), some.end(), random);
        if (array::forced_products().as_on_gpus) some.resize(3);
        for (const contraction& each : some) {
            const std::string words = each.of_a + "," + each.of_b + "->" + each.output;
            SCOPED_TRACE(words);
            const shape box_a = box_of_letters(each.of_a, each.extents),
                        box_b = box_of_letters(each.of_b, each.extents);
            const auto a = small_numbers<double>(random, box_a.count()),
                       b = small_numbers<double>(random, box_b.count());
            const vector<double> x(ctx, a), y(ctx, b);
            const auto made = einsum(words, view<const double>(x, box_a), view<const double>(y, box_b));
            EXPECT_EQ(array::box_of(made.tape()), box_of_letters(each.output, each.extents));
            EXPECT_EQ(values_of<double>(made),
                      looped<double>(each.of_a, box_a, a, each.of_b, box_b, b, each.output));
        }
    });
}

// Kernels of tiles take inner axes that lie in other orders in the operands as they are, where the fast ones
// hold a multiple of a tile's depth.
TEST(V18_einsum, of_inner_axes_in_other_orders) {
    auto random = seeded_random();
    const auto check = [&]<class T>(const context& ctx, T) {
        std::string of_a = "ijkb", of_b = "ljkb", output = "ilb";
        std::map<char, std::size_t> extents{{'b', 1 + below(random, 2)}};
        for (const char c : std::string("ijl")) extents[c] = 2 + below(random, 2) * 2 + below(random, 9);
        extents['k'] = 16 * (1 + below(random, 3));
        for (std::string* each : {&of_a, &of_b, &output}) std::shuffle(each->begin(), each->end(), random);
        const std::string words = of_a + "," + of_b + "->" + output;
        SCOPED_TRACE(words);
        const shape box_a = box_of_letters(of_a, extents), box_b = box_of_letters(of_b, extents);
        const auto a = small_numbers<T>(random, box_a.count()), b = small_numbers<T>(random, box_b.count());
        const vector<T> x(ctx, a), y(ctx, b);
        EXPECT_EQ(values_of<T>(einsum(words, view<const T>(x, box_a), view<const T>(y, box_b))),
                  looped<T>(of_a, box_a, a, of_b, box_b, b, output));
    };
    on_all_contexts([&](const context& ctx) {
        const bool is_cpu = ctx.device(0).info().type == device_type::cpu;
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t splits = below(random, 4);
            const products_as chosen({is_cpu, is_cpu ? int{array::small_tile} : -1, splits});
            check(ctx, float{});
            check(ctx, double{});
        }
        const products_as chosen({is_cpu, array::small_tile, 0});
        const auto a = small_numbers<float>(random, 8 * 3 * 32),
                   b = small_numbers<float>(random, 32 * 3 * 12);
        const vector<float> x(ctx, a), y(ctx, b);
        vector<float> product(ctx, 8 * 12);
        const profiler prof(ctx.device(0));
        product = einsum("ijk,kjl->il", balm::view(x, {8, 3, 32}), balm::view(y, {32, 3, 12}));
        ctx.device(0).finish();
        ASSERT_EQ(prof.commands().size(), 1u) << "an operand was copied";
        EXPECT_EQ(prof.commands()[0].name, "multiply_tiles");
        EXPECT_EQ(values_of<float>(product),
                  looped<float>("ijk", {8, 3, 32}, a, "kjl", {32, 3, 12}, b, "il"));
    });
}

TEST(V18_einsum, of_one_operand) {
    auto random = seeded_random();
    const auto a = small_numbers<double>(random, 6 * 6 * 4);
    on_all_contexts([&](const context& ctx) {
        const vector<double> x(ctx, a);
        const view<const double> T(x, {6, 6, 4});
        const std::vector<double> one(1, 1.0);
        const auto expected = [&](const std::string& of, const std::string& output) {
            return looped<double>(of, {6, 6, 4}, a, "", shape(1), one, output);
        };
        EXPECT_EQ(values_of<double>(einsum("iij->j", T)), expected("iij", "j"));
        EXPECT_EQ(values_of<double>(einsum("iij->ji", T)), expected("iij", "ji"));
        EXPECT_EQ(values_of<double>(einsum("ijk->kij", T)), expected("ijk", "kij"));
        EXPECT_EQ(values_of<double>(einsum("ijk->", T)), expected("ijk", ""));
        EXPECT_EQ(values_of<double>(einsum("kij->ij", T * 2.0 - T)), expected("kij", "ij"));
        // Without an arrow: the letters that occur once, in alphabetical order.
        EXPECT_EQ(values_of<double>(einsum("iib", T)), expected("iib", "b"));
        EXPECT_EQ(values_of<double>(einsum(" b a c ", T)), expected("bac", "abc"));
    });
}

TEST(V18_einsum, of_two_operands_without_an_arrow) {
    auto random = seeded_random();
    const auto a = small_numbers<double>(random, 5 * 7), b = small_numbers<double>(random, 7 * 6),
               c = small_numbers<double>(random, 5);
    on_all_contexts([&](const context& ctx) {
        const vector<double> x(ctx, a), y(ctx, b), z(ctx, c);
        const view<const double> A(x, {5, 7}), B(y, {7, 6});
        EXPECT_EQ(values_of<double>(einsum("jk,ki", A, B)),
                  looped<double>("jk", {5, 7}, a, "ki", {7, 6}, b, "ij"));
        EXPECT_EQ(values_of<double>(einsum("ij,i", A, z)), looped<double>("ij", {5, 7}, a, "i", {5}, c, "j"));
        EXPECT_EQ(values_of<double>(einsum("i,i", z, z)), looped<double>("i", {5}, c, "i", {5}, c, ""));
        // What sums nothing is fused: no kernel but that of the assignment.
        const auto outer = einsum("i,j->ji", z, A(0, all));
        EXPECT_TRUE(outer.tape().produced.empty());
        EXPECT_EQ(values_of<double>(outer), looped<double>("i", {5}, c, "j", {7}, a, "ji"));
        EXPECT_EQ(values_of<double>(matmul(A, B(all, 0))),
                  values_of<double>(einsum("ij,j->i", A, B(all, 0))));
        EXPECT_EQ(values_of<double>(matmul(A(0, all), B)),
                  values_of<double>(einsum("i,ij->j", A(0, all), B)));
    });
}

TEST(V18_contract, sums_over_pairs_of_axes) {
    auto random = seeded_random();
    const auto a = small_numbers<double>(random, 9 * 4 * 5), b = small_numbers<double>(random, 5 * 4 * 11);
    on_all_contexts([&](const context& ctx) {
        const vector<double> x(ctx, a), y(ctx, b);
        const view<const double> S(x, {9, 4, 5}), T(y, {5, 4, 11});
        EXPECT_EQ(values_of<double>(contract(S, {2, 1}, T, {0, 1})),
                  looped<double>("ijk", {9, 4, 5}, a, "kjl", {5, 4, 11}, b, "il"));
        const auto one = contract(S, {2}, T, {0});
        EXPECT_EQ(array::box_of(one.tape()), shape(9, 4, 4, 11));
        EXPECT_EQ(values_of<double>(one), looped<double>("ijk", {9, 4, 5}, a, "kml", {5, 4, 11}, b, "ijml"));
        EXPECT_EQ(array::box_of(contract(S, {}, T(all, 0, 0), {}).tape()), shape(9, 4, 5, 5));
        EXPECT_EQ(values_of<double>(contract(S(0, all, all), {0, 1}, T(all, all, 0), {1, 0})),
                  values_of<double>(einsum("ij,ji", S(0, all, all), T(all, all, 0))));
    });
}

template <class T, class A, class B, class Numbers>
void expect_product(const context& ctx, std::mt19937_64& random, const Numbers& draw) {
    const std::size_t m = 9, k = 12, n = 11;
    std::vector<A> a(m * k);
    std::vector<B> b(k * n);
    for (A& each : a) each = draw(random, A());
    for (B& each : b) each = draw(random, B());
    const vector<A> x(ctx, a);
    const vector<B> y(ctx, b);
    EXPECT_EQ(values_of<T>(matmul(balm::view(x, {m, k}), balm::view(y, {k, n}))),
              looped<T>("ik", {m, k}, a, "kj", {k, n}, b, "ij"));
}

TEST(V18_contractions, of_every_kind_of_number) {
    auto random = seeded_random();
    const auto draw = [](std::mt19937_64& from, auto of) {
        using X = decltype(of);
        const auto number = [&] { return static_cast<float>(static_cast<int>(below(from, 9)) - 4); };
        if constexpr (std::is_arithmetic_v<X> || std::same_as<X, half>)
            return static_cast<X>(number());
        else
            return X(static_cast<typename X::value_type>(number()),
                     static_cast<typename X::value_type>(number()));
    };
    on_all_contexts([&](const context& ctx) {
        using complex64 = std::complex<float>;
        expect_product<float, half, half>(ctx, random, draw);
        expect_product<std::int32_t, std::int8_t, std::int16_t>(ctx, random, draw);
        expect_product<std::uint64_t, std::uint64_t, std::uint64_t>(ctx, random, draw);
        expect_product<complex64, complex64, complex64>(ctx, random, draw);
        expect_product<std::complex<double>, std::complex<double>, double>(ctx, random, draw);
        const vector<complex64> z(ctx, std::vector<complex64>{{1, 2}, {3, 4}, {5, 6}, {7, 9}});
        EXPECT_EQ(values_of<complex64>(einsum("ii", balm::view(z, {2, 2}))),
                  (std::vector<complex64>{{8, 11}}));
    });
    if (!has_cpu()) return;
    on_all_contexts([&](const context& ctx) {
        const products_as chosen({true, array::small_tile, 0});
        expect_product<float, half, half>(ctx, random, draw);
    });
}

TEST(V18_contractions, stand_in_expressions) {
    auto random = seeded_random();
    const shape box(24, 24);
    const auto a = small_numbers<double>(random, box.count()), b = small_numbers<double>(random, box.count());
    const auto product = looped<double>("ik", box, a, "kj", box, b, "ij");
    on_all_contexts([&](const context& ctx) {
        expect_products_in_expressions(ctx, random, multiply_by::own_kernels);
        const vector<double> x(ctx, a), y(ctx, b);
        const auto A = balm::view(x, box), B = balm::view(y, box);
        const double total = balm::sum(matmul(A, B) * matmul(A, B));
        double expected = 0;
        for (const double p : product) expected += p * p;
        EXPECT_EQ(total, expected);
        const auto twice = looped<double>("ik", box, product, "kj", box, b, "ij");
        EXPECT_EQ(values_of<double>(matmul(balm::view(matmul(A, B), box), B)), twice);
    });
}

TEST(V18_contractions, write_the_target_itself) {
    on_all_devices([](const device& dev) {
        const context ctx(std::vector<device>{dev});
        const std::size_t n = 40;
        const vector<double> x(ctx, std::vector<double>(n * n, 2.0)), y(ctx, std::vector<double>(n * n, 3.0));
        vector<double> z(ctx, n * n);
        const auto A = balm::view(x, {n, n}), B = balm::view(y, {n, n});
        z = matmul(A, B);
        EXPECT_EQ(z.to_host()[7], 6.0 * n);
        // It takes one kernel, for any extents, beside those that bring operands into their form.
        EXPECT_EQ(compilations_of([&] { z = matmul(A, B); }), 0);
        EXPECT_EQ(z.to_host()[0], 6.0 * n);
    });
}

TEST(V18_contractions, split_long_sums_in_one_order) {
    auto random = seeded_random();
    const std::size_t m = 9, n = 10, k = 2500;
    std::vector<float> a(m * k), b(k * n);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& each : a) each = uniform(random);
    for (float& each : b) each = uniform(random);
    const auto exact = looped<double>("ik", {m, k}, a, "kj", {k, n}, b, "ij");
    const auto check = [&](const context& ctx, bool as_on_gpus) {
        const products_as chosen({as_on_gpus, as_on_gpus ? int{array::small_tile} : -1, 3});
        const vector<float> x(ctx, a), y(ctx, b);
        const auto product = matmul(balm::view(x, {m, k}), balm::view(y, {k, n}));
        const auto got = values_of<float>(product);
        for (std::size_t j = 0; j < m * n; ++j) EXPECT_NEAR(got[j], exact[j], 1e-4) << j;
        EXPECT_EQ(values_of<float>(product), got);
    };
    on_all_contexts([&](const context& ctx) {
        check(ctx, false);
        if (ctx.device(0).info().type == device_type::cpu) check(ctx, true);
    });
}

TEST(V18_contractions, of_nothing) {
    on_all_contexts([](const context& ctx) {
        const vector<double> none(ctx, 0), x(ctx, std::vector<double>(12, 1.0));
        const view<const double> A(none, {3, 0}), B(none, {0, 4}), X(x, {3, 4});
        EXPECT_EQ(values_of<double>(matmul(A, B)), std::vector<double>(12, 0.0));
        EXPECT_EQ(array::box_of(matmul(B, X.transpose()).tape()), shape(0, 3));
        EXPECT_TRUE(values_of<double>(matmul(B, X.transpose())).empty());
        EXPECT_EQ(values_of<double>(einsum("ij->i", A)), std::vector<double>(3, 0.0));
        EXPECT_EQ(values_of<double>(einsum("bij,bjk->ik", view<const double>(none, {0, 9, 9}),
                                           view<const double>(none, {0, 9, 9}))),
                  std::vector<double>(81, 0.0));
    });
}

TEST(V18_contractions, say_what_does_not_fit) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const context ctx(std::vector<device>{present_devices()[0]});
    const vector<double> x(ctx, std::vector<double>(12, 1.0));
    const view<const double> A(x, {3, 4}), T(x, {3, 2, 2});
    const auto says = [](const std::string& words, auto&& body) {
        EXPECT_THAT(message_of<usage_error>(body), HasSubstr(words));
    };
    says("the first operand has 4 columns, and the second 3 rows", [&] { static_cast<void>(matmul(A, A)); });
    says("it takes two dimensions, rows x columns, or one", [&] { static_cast<void>(matmul(T, A)); });
    says("contains the character '-'; subscripts are letters",
         [&] { static_cast<void>(einsum("i-,j", A, A)); });
    says("contains an ellipsis", [&] { static_cast<void>(einsum("...i->i", A)); });
    says("has subscripts for 1 operands, but got 2", [&] { static_cast<void>(einsum("ij->i", A, A)); });
    says("has subscripts for 2 operands, but got 1", [&] { static_cast<void>(einsum("ij,jk->ik", A)); });
    says("names 3 axes of operand 2, an array of 3 x 4 with 2",
         [&] { static_cast<void>(einsum("ij,jkl->i", A.transpose(), A)); });
    says("balm::view(x, {rows, columns}) makes a vector an array",
         [&] { static_cast<void>(einsum("ij->i", x)); });
    says("has axis 'j' of 4 elements in operand 1 and of 3 in operand 2",
         [&] { static_cast<void>(einsum("ij,jk->ik", A, A)); });
    says("has axis 'i' of 3 elements in operand 1 and of 4 in operand 1",
         [&] { static_cast<void>(einsum("ii->i", A)); });
    says("has an axis 'z', which no operand has", [&] { static_cast<void>(einsum("ij->iz", A)); });
    says("names the axis 'i' twice", [&] { static_cast<void>(einsum("ij->ii", A)); });
    says("its axes are letters", [&] { static_cast<void>(einsum("ij->i,j", A)); });
    says("has 9 axes; arrays have at most eight", [&] {
        static_cast<void>(einsum("abcde,fghi->abcdefghi", view<const double>(x, {1, 1, 1, 3, 4}),
                                 view<const double>(x, {1, 1, 3, 4})));
    });
    says("names axis 2 of its first operand", [&] { static_cast<void>(contract(A, {2}, A, {0})); });
    says("names axis 1 of its second operand twice", [&] {
        static_cast<void>(contract(T, {1, 2}, T, {1, 1}));
    });
    says("names 1 axes of its first operand and 2 of its second", [&] {
        static_cast<void>(contract(T, {1}, T, {1, 2}));
    });
    says("axis 0 of 3 elements with axis 1 of 4", [&] { static_cast<void>(contract(A, {0}, A, {1})); });
}

TEST(V18_contractions, devices_compute_parts_of_the_result) {
    if (!devices_are_together()) GTEST_SKIP() << "one device: over_several_devices runs it";
    auto random = seeded_random();
    // The first device has nothing, and parts begin inside rows.
    const context all(present_devices());
    std::vector<double> weights(all.size(), 3);
    weights[0] = 0;
    weights[1] = 2;
    const context ctx = all.weighted(weights);
    constexpr std::size_t rows = 37, inner = 21, columns = 18;
    const auto a = small_numbers<double>(random, rows * inner),
               b = small_numbers<double>(random, inner * columns);
    const vector<double> on_a(ctx, a), on_b(ctx, b);
    const view<const double> A(on_a, {rows, inner}), B(on_b, {inner, columns});
    vector<double> y(ctx, rows * columns);
    y = matmul(A, B);
    const auto wanted = looped<double>("ik", {rows, inner}, a, "kj", {inner, columns}, b, "ij");
    EXPECT_EQ(values_of<double>(y), wanted);
    EXPECT_EQ(values_of<double>(einsum("kj,ik->ji", B, A)),
              looped<double>("kj", {inner, columns}, b, "ik", {rows, inner}, a, "ji"));
    // A batch of more products than devices.
    const view<const double> many(on_a, {7, 37, 3}), others(on_a, {7, 3, 37});
    EXPECT_EQ(values_of<double>(einsum("bik,bkj->bij", others, many)),
              looped<double>("bik", {7, 3, 37}, a, "bkj", {7, 37, 3}, a, "bij"));
}

TEST(V18_contractions, over_several_devices) {
    run_on_three_devices("test_algorithm", "V18_contract.*:V18_contractions.devices_*");
}

}  // namespace
}  // namespace balm::test
