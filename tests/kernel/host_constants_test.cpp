// Host scalars beside device values take their type; one that would turn into another number is refused where
// its number counts. And ++ and -- of variables and elements.

#include <gtest/gtest.h>

#include <limits>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

template <class Body>
std::string refusal_of_constants(Body&& body) {
    return message_of<trace_error>(
        [&] { balm::kernel<1>("refused", [&](Int x, Out<int> out) { body(x, out); }); });
}

}  // namespace

TEST(C8_host_constants, beyond_the_range_of_a_signed_type_are_refused_by_number) {
    using testing::HasSubstr;
    const std::string message =
        refusal_of_constants([](Int x, Out<int> out) { out[0] = cast<int>(x > 3000000000u); });
    EXPECT_THAT(message, HasSubstr("3000000000"));
    EXPECT_THAT(message, HasSubstr("i32"));
    EXPECT_THAT(message, HasSubstr("cast<std::uint32_t>(x)"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = cast<int>(x == 3000000000); }),
                HasSubstr("3000000000"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = x + 0x80000000u; }),
                HasSubstr("2147483648"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = min(x, 0xffffffffu); }),
                HasSubstr("4294967295"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = select(x > 0, x, 3000000000u); }),
                HasSubstr("3000000000"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) {
                    Long wide = Long(x) * 10000000000000000000u;
                    out[0] = cast<int>(wide);
                }),
                HasSubstr("i64"));
}

TEST(C8_host_constants, that_do_not_fit_are_refused_with_their_value_and_the_line) {
    using testing::AllOf, testing::HasSubstr;
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = x - (-10000000000); }),
                AllOf(HasSubstr("host_constants_test.cpp:"),
                      HasSubstr("the host constant -10000000000 does not fit the device type i32")));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) {
                    out[0] = cast<int>(cast<std::uint32_t>(x) + 10000000000000000000u);
                }),
                HasSubstr("the host constant 10000000000000000000 does not fit the device type u32"));
    EXPECT_THAT(refusal_of_constants([](Int x, Out<int> out) { out[0] = x + 3000000000u; }),
                HasSubstr("host_constants_test.cpp:"));
}

TEST(C8_host_constants, stand_for_their_bits_in_operations_on_bits) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("masks", [](Int x, Out<int> out) {
            out[0] = x & 0x80000000u;
            out[1] = x | 0xffff0000u;
            out[2] = x ^ 0xffffffff;
            out[3] = bitselect(x, 0xffffffffu, 0xf0000000u);
            Int all_ones = 0xffffffffu;
            out[4] = all_ones;
        });
        auto out = on.out_buffer<int>(5);
        on.execute(kernel(-5, out), {1});
        const auto got = out.read();
        EXPECT_EQ(got[0], std::numeric_limits<int>::min());
        EXPECT_EQ(got[1], -5);
        EXPECT_EQ(got[2], 4);
        EXPECT_EQ(got[3], -5);
        EXPECT_EQ(got[4], -1);
    });
}

TEST(C8_host_constants, that_fit_or_are_negative_beside_unsigned_ones_are_those_of_cpp) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("fits", [](Int x, UInt u, Out<int> out) {
            out[0] = cast<int>(x < 2147483647u);
            out[1] = cast<int>(u == -1);
            out[2] = cast<int>(u > 3000000000u);
            out[3] = cast<int>(u + 1 == 0);
        });
        auto out = on.out_buffer<int>(4);
        on.execute(kernel(7, 0xffffffffu, out), {1});
        for (int each : out.read()) EXPECT_EQ(each, 1);
    });
}

TEST(V4_host_constants, beyond_the_range_of_a_signed_type_are_refused_in_arrays) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, 4);
        vector<int> y(ctx, 4);
        x = 5;
        EXPECT_THAT(message_of<usage_error>([&] { y = x + 3000000000u; }), testing::HasSubstr("3000000000"));
        EXPECT_THAT(message_of<usage_error>([&] { y = select(x > 0, x, 3000000000u); }),
                    testing::HasSubstr("3000000000"));
        y = x & 0x80000000u;
        EXPECT_EQ(y[0], 0);
    });
}

TEST(C8_counting, of_variables_and_elements_is_that_of_cpp) {
    on_all_devices([](const device& on) {
        auto random = seeded_random();
        constexpr std::size_t n = 64;
        auto counts = random_values<std::int8_t>(random, n, -100, 100);
        auto memory = on.mixed_buffer<std::int8_t>(n);
        memory.write(std::span<const std::int8_t>(counts));
        const auto kernel = balm::kernel<1>("count", [](Mixed<std::int8_t> x, Out<int> out) {
            Index i = global_id(0);
            Int before = x[i]++;
            Int after = ++x[i];
            Int down = x[i]--;
            Int back = --x[i];
            Int v = before;
            Int old = v++;
            Int same = ++v;
            v--;
            --v;
            ++x[i];
            out[i * 7 + 0] = before;
            out[i * 7 + 1] = after;
            out[i * 7 + 2] = down;
            out[i * 7 + 3] = back;
            out[i * 7 + 4] = old;
            out[i * 7 + 5] = same;
            out[i * 7 + 6] = v;
        });
        auto out = on.out_buffer<int>(7 * n);
        on.execute(kernel(memory, out), {n});
        const auto got = out.read();
        const auto left = memory.read();
        for (std::size_t i = 0; i < n; ++i) {
            const int c = counts[i];
            const int expected[] = {c, c + 2, c + 2, c, c, c + 2, c};
            for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(got[7 * i + k], expected[k]) << k;
            EXPECT_EQ(left[i], c + 1);
        }
    });
}

TEST(C10_small_integers, are_kept_by_functions_and_promoted_by_operators) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("small", [](Char c, UChar u, Bool yes, Out<int> out) {
            out[0] = add_sat(c, c);
            out[1] = c + c;
            out[2] = clz(u);
            out[3] = clz(select(yes, u, UChar(9)));  // the chosen one is no int either
            out[4] = add_sat(c, 100);
            out[5] = abs_diff(c, Char(-100));
            out[6] = upsample(c, 7);
            out[7] = popcount(Char(-1));
            out[8] = mul_hi(u, u);
            out[9] = rotate(u, 4);
        });
        auto out = on.out_buffer<int>(10);
        on.execute(kernel(100, 0x13, true, out), {1});
        const auto got = out.read();
        const int expected[] = {127, 200, 3, 3, 127, 200, 100 * 256 + 7, 8, 1, 0x31};
        for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(got[k], expected[k]) << k;
    });
}

}  // namespace balm::test
