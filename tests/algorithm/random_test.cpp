// Random numbers against the Random123 headers, against the host, and against what chance allows.

#include "balm/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "balm/balm.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/random_reference.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// Indices where something may go wrong: the first, those about powers of two, the last, and some others.
std::vector<std::uint64_t> telling_indices() {
    std::vector<std::uint64_t> all(40);
    std::iota(all.begin(), all.end(), 0);
    for (int bit = 6; bit < 64; ++bit)
        for (int beside = -2; beside <= 2; ++beside)
            all.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(beside));
    for (std::uint64_t k = 1; k <= 5; ++k) all.push_back(~std::uint64_t{0} - k + 1);
    auto random = seeded_random();
    for (int k = 0; k < 100; ++k) all.push_back(random());
    return all;
}

bool same_bits(const auto& a, const auto& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Pair>
class V9_random : public testing::Test {};

template <class G, class E>
struct drawn {
    using generator = G;
    using element = E;
};
using every_kind =
    testing::Types<drawn<philox, bool>, drawn<philox, std::int8_t>, drawn<philox, std::uint8_t>,
                   drawn<philox, std::int16_t>, drawn<philox, std::uint16_t>, drawn<philox, std::int32_t>,
                   drawn<philox, std::uint32_t>, drawn<philox, std::int64_t>, drawn<philox, std::uint64_t>,
                   drawn<philox, float>, drawn<philox, double>, drawn<threefry, std::uint32_t>,
                   drawn<threefry, std::uint64_t>, drawn<threefry, float>, drawn<threefry, double>>;
TYPED_TEST_SUITE(V9_random, every_kind);

TYPED_TEST(V9_random, is_random123s_on_the_host) {
    using T = typename TypeParam::element;
    using G = typename TypeParam::generator;
    auto random = seeded_random();
    const uniform<T, G> number;
    for (const std::uint64_t index : telling_indices()) {
        const std::uint64_t seed = random(), stream = random();
        ASSERT_EQ(number(index, seed, stream), (reference_uniform<G, T>(index, seed, stream))) << index;
    }
    EXPECT_EQ(number(7, 3), (reference_uniform<G, T>(7, 3, 0)));
    EXPECT_EQ(number(7, -1), (reference_uniform<G, T>(7, ~std::uint64_t{0}, 0)));
}

TYPED_TEST(V9_random, is_the_hosts_in_kernels_and_expressions) {
    using T = typename TypeParam::element;
    const uniform<T, typename TypeParam::generator> number;
    const std::vector<std::uint64_t> indices = telling_indices();
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    const auto draw = balm::kernel<1>("draw(seed, stream, index, out)",
                                      [&](ULong s, ULong t, In<std::uint64_t> index, Out<T> out) {
                                          Index i = global_id(0);
                                          out[i] = number(index[i], s, t);
                                      });
    on_all_contexts([&](const context& on) {
        const device& dev = on.device(0);
        auto index = dev.in_buffer<std::uint64_t>(indices.size());
        auto out = dev.out_buffer<T>(indices.size());
        index.write(indices);
        dev.execute(draw(seed, stream, index, out), {indices.size()});
        const auto got = out.read();
        for (std::size_t k = 0; k < indices.size(); ++k)
            ASSERT_TRUE(same_bits(got[k], number(indices[k], seed, stream))) << indices[k];

        constexpr std::size_t n = 1003;
        const std::int64_t first = (std::int64_t{1} << 34) - 500;
        vector<T> x(on, n);
        x = number(element_index(first), seed, stream);
        const auto computed = x.to_host();
        for (std::size_t k = 0; k < n; ++k)
            ASSERT_TRUE(same_bits(computed[k], number(first + static_cast<std::int64_t>(k), seed, stream)))
                << k;
    });
}

/// The blocks of one short vector are not neighbours where its indices pass zero.
TEST(V9_random_lanes, are_the_hosts_on_both_sides_of_zero) {
    constexpr std::size_t n = 64;
    const uniform<float, threefry> number;
    on_all_contexts([&](const context& on) {
        vector<float> x(on, n);
        for (const std::int64_t first : {-4, -8, -12, -28}) {
            x = copysign(number(element_index(first), 7), 1.f);  // kept in lanes by what is no operator
            const auto computed = x.to_host();
            for (std::size_t k = 0; k < n; ++k)
                ASSERT_EQ(computed[k], number(first + static_cast<std::int64_t>(k), 7))
                    << first << " + " << k;
        }
    });
}

// ---- vectors -------------------------------------------------------------------------------------------

template <class T>
class V9_random_vectors : public testing::Test {};
using some_vectors =
    testing::Types<vec<float, 2>, vec<float, 3>, vec<float, 4>, vec<double, 2>, vec<double, 4>,
                   vec<std::uint32_t, 8>, vec<std::uint8_t, 2>, vec<std::int64_t, 3>, vec<float, 16>>;
TYPED_TEST_SUITE(V9_random_vectors, some_vectors);

TYPED_TEST(V9_random_vectors, are_made_of_the_words_behind_one_another) {
    using V = TypeParam;
    using T = std::remove_cvref_t<decltype(V{}[0])>;
    constexpr std::uint64_t lanes = sizeof(V) / sizeof(T);  // four for three
    constexpr std::uint64_t size = sizeof(T) == 8 ? 2 : 1;
    const uniform<V> number;
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    const auto draw = balm::kernel<1>("draw_vectors(seed, stream, out)", [&](ULong s, ULong t, Out<V> out) {
        out[global_id(0)] = number(global_id(0), s, t);
    });
    constexpr std::size_t n = 65;
    const auto expected = [&](std::size_t i, std::size_t lane) {
        const auto word = [&](std::uint64_t j) {
            return std::uint64_t{reference_word<philox>(i, lanes * size, lane * size + j, seed, stream)};
        };
        if constexpr (std::same_as<T, float>)
            return static_cast<float>(std::ldexp(static_cast<double>(word(0) >> 8), -24));
        else if constexpr (std::same_as<T, double>)
            return std::ldexp(static_cast<double>((word(0) | word(1) << 32) >> 11), -53);
        else
            return static_cast<T>(size == 2 ? word(0) | word(1) << 32 : word(0));
    };
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<V>(n);
        on.execute(draw(seed, stream, out), {n});
        const auto got = out.read();
        for (std::size_t i = 0; i < n; ++i)
            for (int lane = 0; lane < balm::detail::random_element<V>::lanes; ++lane) {
                ASSERT_EQ(got[i][lane], expected(i, static_cast<std::size_t>(lane))) << i << ' ' << lane;
                ASSERT_EQ(number(i, seed, stream)[lane], got[i][lane]) << i << ' ' << lane;
            }
    });
}

// ---- normal numbers ------------------------------------------------------------------------------------

template <class Pair>
class V9_normal : public testing::Test {};
using every_normal = testing::Types<drawn<philox, float>, drawn<philox, double>, drawn<threefry, float>,
                                    drawn<threefry, double>>;
TYPED_TEST_SUITE(V9_normal, every_normal);

TYPED_TEST(V9_normal, is_box_and_mullers_on_the_host) {
    using T = typename TypeParam::element;
    using G = typename TypeParam::generator;
    const normal<T, G> number;
    auto random = seeded_random();
    long double worst = 0;
    const auto check = [&](std::uint64_t index, std::uint64_t seed, std::uint64_t stream) {
        const long double wanted = reference_normal<G, T>(index, seed, stream);
        // Of a number near 0 the angle's last bit decides; the radius is of the order of 1.
        const long double unit = std::numeric_limits<T>::epsilon() * std::max(1.0L, std::fabs(wanted));
        worst = std::max(worst, std::fabs(number(index, seed, stream) - wanted) / unit);
    };
    for (const std::uint64_t index : telling_indices()) check(index, random(), random());
    const std::uint64_t seed = random();
    for (std::uint64_t index = 0; index < 200'000; ++index) check(index, seed, 1);
    this->RecordProperty("worst", std::to_string(static_cast<double>(worst)));
    EXPECT_LT(worst, 3);
}

TYPED_TEST(V9_normal, is_the_hosts_bit_for_bit_on_every_device) {
    using T = typename TypeParam::element;
    const normal<T, typename TypeParam::generator> number;
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    constexpr std::size_t n = 100'003;
    on_all_contexts([&](const context& on) {
        vector<T> x(on, n);
        x = number(element_index(3), seed, stream);
        const auto got = x.to_host();
        for (std::size_t k = 0; k < n; ++k) ASSERT_TRUE(same_bits(got[k], number(k + 3, seed, stream))) << k;
    });
}

/// The kernel of `x = 2 * number(element_index(), seed, stream)` as GPUs get it, in OpenCL C.
template <class Numbers>
std::string text_for_gpus(const Numbers& number) {
    std::string text;
    kernels::observe_compilations([&](const ir::function& kernel, const ir::launch_facts& facts) {
        ir::launch_facts gpu = facts;
        gpu.on_cpu = gpu.loops_over_items = false;
        text = emit::print(ir::lower(kernel, gpu).kernel, runtime::dialect::opencl_c);
    });
    using T = typename Numbers::value_type;
    const context where;
    vector<T> x(where, 1);
    x = constant(T(2)) * number(element_index(), 1, 2);  // which no other test has had compiled
    compile_kernels_with_nvrtc_again();
    return text;
}

// Several blocks a work-item where all of them are inside, one after the other where not: on any device,
// whatever the form that its own kernels have.
TYPED_TEST(V9_normal, is_the_same_from_the_kernels_of_gpus) {
    using T = typename TypeParam::element;
    const normal<T, typename TypeParam::generator> number;
    const std::string text = text_for_gpus(number);
    ASSERT_THAT(text, testing::HasSubstr("} else {"));
    const auto draw =
        source_kernel<1, void(std::int64_t, Out<T>, std::int64_t, std::uint64_t, std::uint64_t)>(
            "elementwise", text);
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    on_all_devices([&](const device& on) {
        for (const std::size_t n : {1, 3, 4, 79, 80, 81, 1003}) {
            auto out = on.out_buffer<T>(n);
            // As few work-items as cover all, each with four vectors of four, and some more, as whole groups
            // have.
            const std::size_t items = (n + 15) / 16 + n % 3;
            on.execute(draw(static_cast<std::int64_t>(n), out, std::int64_t{7}, seed, stream), {items});
            const auto got = out.read();
            for (std::size_t k = 0; k < n; ++k)
                ASSERT_TRUE(same_bits(got[k], 2 * number(4 * 7 + k, seed, stream))) << k << " of " << n;
        }
    });
}

/// How often a text calls the function.
std::size_t calls_in(const std::string& text, const std::string& function) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(" " + function + "(", at)) != std::string::npos; ++at) ++count;
    return count - 1;  // it is defined once
}

// Four neighbours share a block where the kernel says that they are.
TEST(V9_random_numbers, of_neighbouring_indices_in_a_kernel_share_their_block) {
    const uniform<float> number;
    const auto sums = balm::kernel<1>("sums(seed, out)", [&](ULong seed, Out<float> out) {
        Index i = global_id(0), first = 4 * i;
        Float sum = named("sum", 0.f);
        for (std::int64_t k = -1; k < 5; ++k) sum = sum * 2.f + number(first + k + 8, seed);
        out[i] = sum;
    });
    const auto apart = balm::kernel<1>("apart(seed, out)", [&](ULong seed, Out<float> out) {
        Index i = global_id(0);
        out[i] = number(i, seed) + 2.f * number(i + 1, seed) + 4.f * number(4 * i, seed) +
                 8.f * number(4 * i, seed + 1);
    });
    const auto looped = balm::kernel<1>("looped(seed, out)", [&](ULong seed, Out<float> out) {
        Float sum = named("sum", 0.f);
        for (Long i : range(Long(std::int64_t{0}), Long(std::int64_t{64}), std::int64_t{4}))
            for (std::int64_t k = 0; k < 4; ++k) sum = sum * 0.5f + number(i + k, seed);
        out[global_id(0)] = sum;
    });
    const auto text_of = [](const auto& kernel) {
        return emit::print(ir::lower(*kernel.function(), {}).kernel, runtime::dialect::opencl_c);
    };
    // Elements -1, 0 … 3 and 4 belong to three fours, of which two have but one.
    EXPECT_EQ(calls_in(text_of(sums), "philox_uniform_f32x4"), 1u);
    EXPECT_EQ(calls_in(text_of(sums), "philox_uniform_f32"), 2u);
    EXPECT_THAT(text_of(apart), testing::Not(testing::HasSubstr("philox_uniform_f32x4")));
    EXPECT_EQ(calls_in(text_of(looped), "philox_uniform_f32x4"), 1u);
    EXPECT_THAT(text_of(looped), testing::Not(testing::HasSubstr("philox_uniform_f32(")));

    auto random = seeded_random();
    const std::uint64_t seed = random();
    constexpr std::size_t n = 1000;
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float>(n);
        on.execute(sums(seed, out), {n});
        const auto got = out.read();
        on.execute(apart(seed, out), {n});
        const auto other = out.read();
        on.execute(looped(seed, out), {n});
        const auto third = out.read();
        float whole = 0;
        for (std::size_t i = 0; i < 64; ++i) whole = std::fma(whole, 0.5f, number(i, seed));
        for (std::size_t i = 0; i < n; ++i) {
            float wanted = 0;
            for (std::size_t k = 7; k < 13; ++k) wanted = std::fma(wanted, 2.f, number(4 * i + k, seed));
            ASSERT_EQ(got[i], wanted) << i;
            const float sum = number(i, seed) + 2 * number(i + 1, seed) + 4 * number(4 * i, seed) +
                              8 * number(4 * i, seed + 1);
            ASSERT_NEAR(other[i], sum, 1e-5) << i;
            ASSERT_EQ(third[i], whole);
        }
    });
}

// A CPU's compiler makes vectors of several fours; what it makes none of is computed in short vectors.
TEST(V9_random_numbers, of_a_cpu_come_in_fours_beside_arithmetic) {
    const uniform<float> number;
    const auto text_of = [&](auto&& of) {
        const auto stored = balm::kernel<1>("stored(n, seed, out)", [&](Index n, ULong seed, Out<float> out) {
            for (Index i : grid_range(n)) out[i] = of(number(i, seed));
        });
        return emit::print(ir::lower(*stored.function(), {.on_cpu = true, .grid_covers_loop = true}).kernel,
                           runtime::dialect::opencl_c);
    };
    const std::string arithmetic = text_of([](const Float& x) { return sqrt(2.f * x - 1.f); });
    EXPECT_EQ(calls_in(arithmetic, "philox_uniform_f32x4"), 1u) << arithmetic;
    EXPECT_THAT(arithmetic, testing::Not(testing::HasSubstr("float16")));
    const std::string function = text_of([](const Float& x) { return exp(x); });
    EXPECT_THAT(function, testing::HasSubstr("float16"));

    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 4095u, 4096u, 4097u, 10000u}) {
            vector<float> x(ctx, n, 3.f), y(ctx, n), z(ctx, n);
            tie(y, z) = std::tuple(x * number(element_index(8), 42), number(element_index(3), 42) - x);
            const auto first = y.to_host(), second = z.to_host();
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_EQ(first[i], 3 * number(i + 8, 42)) << i << " of " << n;
                ASSERT_EQ(second[i], number(i + 3, 42) - 3) << i << " of " << n;
            }
            // The points of a reduction are those of the host.
            const auto drawn = number(element_index(0, n), 7, 2);
            std::int64_t wanted = 0;
            for (std::size_t i = 0; i < n; ++i) wanted += number(i, 7, 2) * number(i, 7, 2) < 0.5f;
            EXPECT_EQ(sum(drawn * drawn < 0.5f * x / 3.f), wanted) << n;
        }
    });
}

TEST(V9_normal_vectors, have_their_pairs_in_neighbouring_lanes) {
    const auto draw =
        balm::kernel<1>("draw_normals(seed, a, b)", [](ULong seed, Out<float4> a, Out<double2> b) {
            a[global_id(0)] = normal<float4>()(global_id(0), seed);
            b[global_id(0)] = normal<double2>()(global_id(0), seed);
        });
    on_all_devices([&](const device& on) {
        constexpr std::size_t n = 33;
        auto a = on.out_buffer<float4>(n);
        auto b = on.out_buffer<double2>(n);
        on.execute(draw(5u, a, b), {n});
        const auto singles = a.read();
        const auto doubles = b.read();
        for (std::size_t i = 0; i < n; ++i) {
            for (int lane = 0; lane < 4; ++lane)
                ASSERT_EQ(singles[i][lane], normal<float>()(4 * i + static_cast<std::size_t>(lane), 5));
            for (int lane = 0; lane < 2; ++lane)
                ASSERT_EQ(doubles[i][lane], normal<double>()(2 * i + static_cast<std::size_t>(lane), 5));
        }
    });
}

// ---- chance --------------------------------------------------------------------------------------------

/// The largest distance between the share of numbers below x and the probability of that, times sqrt(n);
/// above 2.5 once in 135,000 runs (Kolmogorov's distribution: 2 exp(-2 x^2)).
template <class T, class Probability>
double kolmogorov(std::vector<T> numbers, Probability&& probability) {
    std::sort(numbers.begin(), numbers.end());
    const auto n = static_cast<double>(numbers.size());
    double worst = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const double p = probability(static_cast<double>(numbers[k]));
        worst = std::max({worst, p - static_cast<double>(k) / n, static_cast<double>(k + 1) / n - p});
    }
    return worst * std::sqrt(n);
}
constexpr double unlikely = 2.5;

/// The first n numbers of the kind from an index on.
template <class T, class Numbers>
std::vector<T> drawn_on(const context& on, const Numbers& number, std::size_t n, std::uint64_t seed,
                        std::uint64_t stream, std::int64_t first = 0) {
    vector<T> x(on, n);
    x = number(element_index(first), seed, stream);
    const auto got = x.to_host();
    return {got.begin(), got.end()};
}

TEST(V9_random_numbers, are_distributed_as_they_should_be) {
    constexpr std::size_t n = 1 << 18;
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    const auto normal_probability = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
    const auto same = [](double x) { return x; };
    on_all_contexts([&](const context& on) {
        const auto drawn_of = [&]<class T>(T, const auto& number) {
            return drawn_on<T>(on, number, n, seed, stream);
        };
        EXPECT_LT(kolmogorov(drawn_of(float{}, uniform<float>()), same), unlikely);
        EXPECT_LT(kolmogorov(drawn_of(double{}, uniform<double>()), same), unlikely);
        EXPECT_LT(kolmogorov(drawn_of(float{}, uniform<float, threefry>()), same), unlikely);
        EXPECT_LT(kolmogorov(drawn_of(float{}, normal<float>()), normal_probability), unlikely);
        EXPECT_LT(kolmogorov(drawn_of(double{}, normal<double>()), normal_probability), unlikely);
    });
}

TEST(V9_random_numbers, of_neighbouring_indices_seeds_and_streams_are_independent) {
    constexpr std::size_t n = 1 << 18;
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    const auto correlation = [](const auto& a, const auto& b) {  // of n pairs, in standard deviations
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += (a[k] - 0.5) * (b[k] - 0.5);
        return std::fabs(12 * sum / std::sqrt(static_cast<double>(n)));
    };
    constexpr double rare = 5.5;  // once in 26 million
    on_all_contexts([&](const context& on) {
        const auto drawn_at = [&](std::int64_t first, std::uint64_t s, std::uint64_t t) {
            return drawn_on<double>(on, uniform<double>(), n, s, t, first);
        };
        const auto a = drawn_at(0, seed, stream);
        for (std::int64_t lag : {1, 2, 3, 4, 8}) EXPECT_LT(correlation(a, drawn_at(lag, seed, stream)), rare);
        EXPECT_LT(correlation(a, drawn_at(0, seed + 1, stream)), rare);
        EXPECT_LT(correlation(a, drawn_at(0, seed, stream + 1)), rare);
        EXPECT_LT(correlation(a, drawn_at(0, stream, seed)), rare);
    });
}

// Five tests of those that batteries are made of. Each gives a number of standard deviations, or nearly;
// above 5.5 it is once in 26 million.

constexpr double improbable = 5.5;

/// How far a chi-square sum of `count` equally likely cells is from what is expected (Wilson and Hilferty).
double chi_square(const std::vector<std::uint32_t>& cells) {
    const auto degrees = static_cast<double>(cells.size() - 1);
    const double expected =
        std::accumulate(cells.begin(), cells.end(), 0.0) / static_cast<double>(cells.size());
    double sum = 0;
    for (const std::uint32_t count : cells) sum += (count - expected) * (count - expected) / expected;
    return std::fabs(std::cbrt(sum / degrees) - (1 - 2 / (9 * degrees))) / std::sqrt(2 / (9 * degrees));
}
/// Eight bits of each word, from each of its four bytes on.
double worst_byte(const std::vector<std::uint32_t>& drawn) {
    double worst = 0;
    for (int byte = 0; byte < 4; ++byte) {
        std::vector<std::uint32_t> cells(256);
        for (const std::uint32_t word : drawn) ++cells[word >> (8 * byte) & 255];
        worst = std::max(worst, chi_square(cells));
    }
    return worst;
}
/// The upper halves of bytes that follow each other, in cells of 16 by 16.
double pairs(const std::vector<std::uint32_t>& drawn) {
    std::vector<std::uint32_t> cells(256);
    for (std::size_t k = 0; k + 1 < drawn.size(); k += 2) ++cells[drawn[k] >> 28 << 4 | drawn[k + 1] >> 28];
    return chi_square(cells);
}
/// How often each of the 32 bits is set.
double worst_bit(const std::vector<std::uint32_t>& drawn) {
    const auto n = static_cast<double>(drawn.size());
    double worst = 0;
    for (int bit = 0; bit < 32; ++bit) {
        const auto set =
            std::count_if(drawn.begin(), drawn.end(), [&](std::uint32_t w) { return (w >> bit & 1) != 0; });
        worst = std::max(worst, std::fabs(static_cast<double>(set) - n / 2) / std::sqrt(n / 4));
    }
    return worst;
}
/// How often the numbers change from one half of their range to the other (Wald and Wolfowitz, the halves
/// being known).
double runs(const std::vector<std::uint32_t>& drawn) {
    double changes = 0;
    for (std::size_t k = 0; k + 1 < drawn.size(); ++k) changes += (drawn[k] ^ drawn[k + 1]) >> 31;
    const auto n = static_cast<double>(drawn.size() - 1);
    return std::fabs(changes - n / 2) / std::sqrt(n / 4);
}
/// Marsaglia's birthdays: of 4,096 in 2^32 days, how many spacings are equal is Poisson's with 4096^3 / 2^34
/// = 4.
double birthday_spacings(const std::vector<std::uint32_t>& drawn) {
    constexpr std::size_t birthdays = 4096;
    double equal = 0;
    std::vector<std::uint32_t> days(birthdays);
    for (std::size_t first = 0; first + birthdays <= drawn.size(); first += birthdays) {
        std::copy_n(drawn.begin() + static_cast<std::ptrdiff_t>(first), birthdays, days.begin());
        std::sort(days.begin(), days.end());
        std::adjacent_difference(days.begin(), days.end(), days.begin());
        std::sort(days.begin() + 1, days.end());
        for (std::size_t k = 2; k < birthdays; ++k) equal += days[k] == days[k - 1];
    }
    const double expected = 4.0 * static_cast<double>(drawn.size() / birthdays);
    return std::fabs(equal - expected) / std::sqrt(expected);
}

void expect_chance(const std::vector<std::uint32_t>& drawn, const char* what) {
    EXPECT_LT(worst_byte(drawn), improbable) << what;
    EXPECT_LT(pairs(drawn), improbable) << what;
    EXPECT_LT(worst_bit(drawn), improbable) << what;
    EXPECT_LT(runs(drawn), improbable) << what;
    EXPECT_LT(birthday_spacings(drawn), improbable) << what;
}

template <class Generator>
class V9_statistics : public testing::Test {};
using every_generator = testing::Types<philox, threefry>;
TYPED_TEST_SUITE(V9_statistics, every_generator);

TYPED_TEST(V9_statistics, of_indices_seeds_and_streams_are_those_of_chance) {
    constexpr std::size_t n = 1 << 20;
    auto random = seeded_random();
    const std::uint64_t index = random(), seed = random(), stream = random();
    const uniform<std::uint32_t, TypeParam> number;
    on_all_contexts([&](const context& on) {
        vector<std::uint32_t> x(on, n);
        const auto count = cast<std::uint64_t>(element_index());
        const auto list = [&] {
            const auto got = x.to_host();
            return std::vector<std::uint32_t>(got.begin(), got.end());
        };
        x = number(element_index(), seed, stream);
        expect_chance(list(), "one index after the other");
        x = number(index, seed + count, stream);
        expect_chance(list(), "one seed after the other");
        x = number(index, seed, stream + count);
        expect_chance(list(), "one stream after the other");
        x = number(count << 32, seed, stream);
        expect_chance(list(), "indices 2^32 apart");
    });
}

// What the tests are worth: sequences that are not random, though evenly spread, are found.
TEST(V9_statistics, find_what_is_not_random) {
    constexpr std::size_t n = 1 << 20;
    std::vector<std::uint32_t> counted(n), congruential(n), stuck(n), sticky(n);
    auto random = seeded_random();
    std::uint32_t state = 1;
    for (std::size_t k = 0; k < n; ++k) {
        const auto fair = static_cast<std::uint32_t>(random());
        counted[k] = static_cast<std::uint32_t>(k) << 12;
        congruential[k] = state = state * 1664525u + 1013904223u;
        stuck[k] = fair | 0x10u;
        sticky[k] = k > 0 && random() % 50 == 0 ? sticky[k - 1] : fair;
    }
    EXPECT_GT(pairs(counted), improbable);
    EXPECT_GT(worst_byte(congruential), improbable);  // the lower bits of a power of two's modulus repeat
    EXPECT_GT(birthday_spacings(counted), improbable);
    EXPECT_GT(worst_bit(stuck), improbable);
    EXPECT_GT(runs(sticky), improbable);
}

}  // namespace

}  // namespace balm::test
