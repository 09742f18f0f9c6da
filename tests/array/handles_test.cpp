// Vectors that share elements, that are made like others, and where these say that they are.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(V3_shared_vectors, have_the_same_elements) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {0u, 1u, 1000u, 70001u}) {
            const auto values = random_values<float>(random, n, -4.f, 4.f);
            vector<float> x(ctx, values);
            vector<float> same = x.share(), copy = x;
            EXPECT_EQ(same.to_host(), std::span<const float>(values));
            same = 2.f * x + 1.f;  // in place: one vector
            expect_each(x.to_host(), [&](std::size_t i) { return 2.f * values[i] + 1.f; });
            x = 3.f;
            expect_each(same.to_host(), [](std::size_t) { return 3.f; });
            expect_each(copy.to_host(), [&](std::size_t i) { return values[i]; });
        }
    });
}

TEST(V3_shared_vectors, are_read_and_written_in_one_statement_as_one) {
    on_all_contexts([&](const context& ctx) {
        constexpr std::int64_t n = 50001;
        vector<std::int64_t> x(ctx, n);
        x = element_index();
        vector<std::int64_t> same = x.share();
        x = same[n - 1 - element_index()] + same;
        expect_each(x.to_host(), [](std::size_t) { return n - 1; });
    });
}

TEST(V3_shared_vectors, show_their_bytes_as_another_type) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {4u, 1000u, 70004u}) {
            const auto values = random_values<float>(random, n, -4.f, 4.f);
            vector<float> x(ctx, values);
            vector<std::uint32_t> bits = x.as<std::uint32_t>();
            ASSERT_EQ(bits.size(), n);
            expect_each(bits.to_host(), [&](std::size_t i) {
                std::uint32_t word;
                std::memcpy(&word, &values[i], sizeof word);
                return word;
            });
            bits = bits & 0x7fffffffu;
            expect_each(x.to_host(), [&](std::size_t i) { return std::abs(values[i]); });

            vector<float4> fours = x.as<float4>();
            ASSERT_EQ(fours.size(), n / 4);
            fours = fours + float4{0.f, 1.f, 2.f, 3.f};
            expect_each(x.to_host(),
                        [&](std::size_t i) { return std::abs(values[i]) + static_cast<float>(i % 4); });
            ASSERT_EQ(fours.as<float>().size(), n);
            // The two are the same memory within a statement, too.
            const auto before = x.to_host();
            x = x + cast<float>(x.as<std::uint32_t>() >> 31) + 1.f;
            expect_each(x.to_host(), [&](std::size_t i) { return before[i] + 1.f; });
        }
    });
}

TEST(V3_shared_vectors, of_bytes_that_fill_no_elements_are_refused) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> three(ctx, 3, 1.f);
        EXPECT_THAT(
            message_of<usage_error>([&] { (void)three.as<double>(); }),
            HasSubstr("a vector of 12 bytes at byte 0 of its memory cannot be viewed as elements of 8"));
        const vector<float> none;
        EXPECT_THAT(message_of<usage_error>([&] { (void)none.as<double>(); }), HasSubstr("has no device"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)none.share(); }), HasSubstr("has no device"));
    });
}

std::vector<std::size_t> sizes_of_parts(const auto& x) {
    std::vector<std::size_t> sizes;
    for (const auto& part : x.parts()) sizes.push_back(part.size());
    return sizes;
}

TEST(V3_vectors, say_where_they_are) {
    on_all_contexts([&](const context& ctx) {
        std::vector<double> weights(ctx.size());
        for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<double>(k + 1);
        for (const context& where : {ctx, ctx.weighted(weights)}) {
            const vector<float> x(where, 10000, 1.f);
            EXPECT_EQ(x.context(), ctx);
            EXPECT_EQ(x.extents(), shape(10000));
            // Of any number of elements, in the partition of the weights.
            for (const std::size_t n : {std::size_t{0}, std::size_t{500}, std::size_t{10000}}) {
                const vector<int> wanted(where, n), made(x.context(), n);
                EXPECT_EQ(sizes_of_parts(made), sizes_of_parts(wanted));
                EXPECT_EQ(sizes_of_parts(make_like<int>(x, n)), sizes_of_parts(wanted));
            }
            const vector<float> result(2.f * x);
            EXPECT_EQ(sizes_of_parts(result), sizes_of_parts(x));
            if (ctx.size() > 1) {
                EXPECT_EQ(result.context().weights(), where.weights());
            }
        }
        EXPECT_THAT(message_of<usage_error>([] { vector<int>().context(); }), HasSubstr("has no device"));
    });
}

TEST(V3_vectors, are_made_like_others) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> x(ctx, 1000, 1.f);
        auto same = make_like(x);
        auto flags = make_like<bool>(x);
        static_assert(std::same_as<decltype(same), vector<float>>);
        static_assert(std::same_as<decltype(flags), vector<bool>>);
        ASSERT_EQ(same.size(), 1000u);
        same = x + 1.f;
        flags = same > 1.f;
        EXPECT_TRUE(balm::all(flags));
        EXPECT_EQ(x[0], 1.f);
        EXPECT_THAT(message_of<usage_error>([] { (void)make_like(vector<int>()); }),
                    HasSubstr("has no device"));
    });
}

TEST(V3_vectors, without_a_device_are_expressions_of_no_elements) {
    const vector<double> none;
    const vector<float4> no_lanes;
    EXPECT_EQ(balm::sum(none), 0.0);
    EXPECT_EQ(balm::sum(2 * none + 1), 0.0);
    EXPECT_EQ(balm::product(none), 1.0);
    EXPECT_EQ(balm::count(none > 0), 0);
    EXPECT_FALSE(balm::any(none > 0));
    EXPECT_TRUE(balm::all(none > 0));
    EXPECT_EQ(balm::sum(no_lanes)[3], 0.f);
    EXPECT_THAT(message_of<usage_error>([&] { (void)balm::max(none); }), HasSubstr("the max of no elements"));
    vector<double> made, other;
    made = 2 * none;
    EXPECT_TRUE(made.empty());
    tie(made, other) = std::tuple(none + 1, none - 1);
    EXPECT_TRUE(other.empty());
    balm::eval(2 * none);
    std::ostringstream text;
    text << none << 2 * none;
    EXPECT_EQ(text.str(), "{}{}");
    EXPECT_EQ((2 * none).size(), 0u);
    EXPECT_EQ(view(none, {3, 0}).extents(), shape(3, 0));
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        vector<double> one(ctx, 1, 7.0), x(ctx, 3, 1.0);
        balm::sum_into(one, none);
        EXPECT_EQ(one[0], 0.0);
        vector<double> later = 2 * none;
        later = x;  // it takes a size and a device still
        EXPECT_EQ(balm::sum(later), 3.0);
        EXPECT_THAT(message_of<usage_error>([&] { x = x + none; }),
                    HasSubstr("combines 3 elements with a vector that has no elements yet"));
        EXPECT_THAT(message_of<usage_error>([&] { x = none + x; }), HasSubstr("has no elements yet"));
        EXPECT_THAT(message_of<usage_error>([&] { x = 2 * none; }), HasSubstr("0"));
        EXPECT_THAT(message_of<usage_error>([&] { tie(x, other) = std::tuple(none, none); }),
                    HasSubstr("a target that has no device, and another with elements"));
    });
}

/// Handles share their state with what they are moved to; objects that own memory leave nothing.
TEST(V3_moved_objects, are_refused_or_stay_valid) {
    on_all_devices([](const device& dev) {
        const auto refused = [](const char* what, auto&& use) {
            SCOPED_TRACE(what);
            EXPECT_THAT(message_of<usage_error>(use),
                        AnyOf(HasSubstr("moved from"), HasSubstr("assign"), HasSubstr("of 0 elements"),
                              HasSubstr("A null device_pointer")));
        };
        // handles
        device d = dev;
        const device d2 = std::move(d);
        EXPECT_EQ(d.name(), d2.name());
        context ctx(std::vector<device>{d});
        const context ctx2 = std::move(ctx);
        EXPECT_EQ(ctx.size(), 1u);
        EXPECT_EQ(ctx, ctx2);
        balm::queue q = d.make_queue();
        const balm::queue q2 = std::move(q);
        q.finish();
        user_event gate;
        const user_event gate2 = std::move(gate);
        EXPECT_TRUE(gate.complete());
        EXPECT_FALSE(gate2.complete());
        device_filter accepts = [](const device_info&) { return true; };
        const device_filter accepts2 = std::move(accepts);
        EXPECT_GE(context(accepts).size(), 1u);
        event done = q.record();
        const event done2 = std::move(done);
        done.wait();
        auto add =
            kernel<1>("add(x, by)", [](dsl::Mixed<int> to, dsl::Int by) { to[dsl::global_id(0)] += by; });
        const auto add2 = std::move(add);
        auto twice = function("twice(x)", [](dsl::Int of) { return 2 * of; });
        const auto twice2 = std::move(twice);
        vector<int> x(ctx, {1, 2, 3});
        d.execute(add(x, 1), {3});
        x = twice(x);
        EXPECT_EQ(x.to_host(), std::vector<int>({4, 6, 8}));
        auto bound = add(x, 1);
        const auto bound2 = std::move(bound);
        refused("bound kernel", [&] { d.execute(bound, {3}); });
        d.execute(bound2, {3});

        // memory
        const vector<int> x2 = std::move(x);
        EXPECT_EQ(x.size(), 0u);
        refused("vector", [&] { (void)x.context(); });
        refused("element", [&] { x.set(0, 1); });
        EXPECT_EQ(vector<int>(x).size(), 0u);
        auto e = x2 + 1;
        const auto e2 = std::move(e);
        refused("expression", [&] { (void)e.to_host(); });
        refused("operand", [&] { (void)(e + 1); });
        refused("copy", [&] { (void)expr<std::int32_t>(e); });
        refused("size", [&] { (void)e.size(); });
        refused("sum", [&] { (void)balm::sum(e); });
        refused("selection", [&] { (void)e[x2]; });
        auto taken = x2 * 1;
        vector<int> y = std::move(taken);
        refused("expression computed", [&] { y = taken; });
        refused("expression computed twice", [&] { y = std::move(taken); });
        auto b = d.mixed_buffer<int>(4);
        b.fill(1);
        auto part = b.range(1, 3);
        const auto b2 = std::move(b);
        const auto part2 = std::move(part);
        refused("buffer", [&] { (void)b.read(); });
        refused("fill", [&] { b.fill(1); });
        refused("write", [&] { b.write({1, 2, 3, 4}); });
        refused("copy", [&] { b2.copy_to(b); });
        refused("range", [&] { (void)b.range(0, 1); });
        refused("map", [&] { (void)b.map(); });
        refused("device", [&] { (void)b.device(); });
        refused("free", [&] { b.free(); });
        refused("argument", [&] { d.execute(add(b, 1), {4}); });
        refused("part", [&] { (void)part.read(); });
        {
            auto mapped = vector<int>(x2).map();
            auto mapped2 = std::move(mapped);
            EXPECT_EQ(mapped.size(), 0u);
            EXPECT_EQ(mapped.begin(), mapped.end());
            EXPECT_EQ(mapped2.size(), 3u);
        }
        auto later = b2.read_async();
        auto later2 = std::move(later);
        EXPECT_EQ(later.get().size(), 0u);
        EXPECT_EQ(later2.get()[0], 1);
        EXPECT_EQ(later2.get().size(), 0u);
        auto pinned = d.pinned_array<int>(4);
        const auto pinned2 = std::move(pinned);
        EXPECT_EQ(pinned.size(), 0u);
        EXPECT_EQ(pinned.begin(), pinned.end());
        auto pointer = d.allocate<int>(4);
        const auto pointer2 = std::move(pointer);
        refused("pointer", [&] { (void)pointer.range(1); });
        refused("free pointer", [&] { pointer.free(); });
        sparse_matrix<float> A(ctx, csr_matrix<float>{1, 1, {0, 1}, {0}, {2.f}});
        const vector<float> one(ctx, {3.f});
        const sparse_matrix<float> A2 = std::move(A);
        EXPECT_EQ(A.rows(), 0u);
        refused("product", [&] { vector<float> r = A * one; });
        refused("transposed product", [&] { vector<float> r = transposed(A) * one; });
        refused("product of matrices", [&] { (void)(A * A2); });
        refused("to_csr", [&] { (void)to_csr(A); });
        refused("transpose", [&] { (void)transpose(A); });
        EXPECT_EQ(describe(A), "no matrix");
    });
}

}  // namespace

}  // namespace balm::test
