// vex::vector: construction, copies to and from the host, single elements, parts.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

TEST(B9_vexcl_vectors, are_made_of_host_memory_of_sizes_and_of_expressions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        for (const std::size_t n : {1u, 7u, 4099u}) {
            const std::vector<double> host = numbers<double>(random, n);
            EXPECT_EQ(on_host(vex::vector<double>(ctx, host)), host);
            EXPECT_EQ(on_host(vex::vector<double>(ctx, n, host.data())), host);
            const vex::vector<double> x(host);  // on the current context
            EXPECT_EQ(on_host(x), host);
            const vex::vector<double> copy = x, twice = 2 * x;
            EXPECT_EQ(on_host(copy), host);
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(on_host(twice)[i], 2 * host[i]);
            vex::vector<double> y(ctx, n + 1), z;
            y.resize(x);
            EXPECT_EQ(on_host(y), host);
            z = std::move(y);
            EXPECT_EQ(on_host(z), host);
            vex::vector<double> other(ctx, 2);
            other = 5;
            swap(z, other);
            EXPECT_EQ(on_host(other), host);
            EXPECT_EQ(on_host(z), std::vector<double>(2, 5));
            other.clear();
            EXPECT_EQ(on_host(other), std::vector<double>(n));
        }
        const vex::vector<int> none;
        EXPECT_EQ(none.size(), 0u);
        EXPECT_EQ(none.end() - none.begin(), 0);
        const vex::vector<int> also_none = none;
        EXPECT_TRUE(also_none.empty());
        EXPECT_THROW(vex::vector<double>(sin(vex::element_index(0, 4) * 0.5)), std::runtime_error);
    });
}

TEST(B9_vexcl_vectors, are_copied_whole_in_ranges_and_with_conversion) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 1000;
        std::vector<double> host = numbers<double>(random, n), back(n);
        vex::vector<double> x(ctx, n);
        vex::copy(host, x);
        vex::copy(x, back.data());
        EXPECT_EQ(back, host);
        std::vector<double> part(300, -1);
        vex::copy(x.begin() + 350, x.begin() + 650, part.begin());
        EXPECT_TRUE(std::equal(part.begin(), part.end(), host.begin() + 350));
        std::fill(part.begin(), part.end(), 7);
        vex::copy(part.begin(), part.end(), x.begin() + 400);
        std::fill(host.begin() + 400, host.begin() + 700, 7);
        EXPECT_EQ(on_host(x), host);
        x.read_data(990, 10, back.data(), true);
        EXPECT_TRUE(std::equal(back.begin(), back.begin() + 10, host.begin() + 990));
        x.write_data(2, 2, back.data(), false);
        EXPECT_EQ(x[3], back[1]);
        EXPECT_THROW(x.read_data(995, 10, back.data(), true), std::runtime_error);
        std::vector<float> narrow(n);
        vex::copy(x, narrow);
        for (std::size_t i = 4; i < n; ++i) ASSERT_EQ(narrow[i], static_cast<float>(host[i]));
        vex::vector<int> rounded(ctx, n);
        x = 2.75;
        vex::copy(x, rounded);
        EXPECT_EQ(on_host(rounded), std::vector<int>(n, 2));
    });
}

TEST(B9_vexcl_vectors, have_elements_and_iterators_on_the_host) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<int> host = numbers<int>(random, 60);
        vex::vector<int> x(ctx, host);
        x[3] = 17;
        x[4] = x[3];
        x[5] += 2;
        x.at(6) = -1;
        EXPECT_EQ(x[3], 17);
        EXPECT_EQ(x[4], 17);
        EXPECT_EQ(x[5], host[5] + 2);
        EXPECT_EQ(std::as_const(x).at(6), -1);
        EXPECT_THROW(x.at(60), std::out_of_range);
        EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0),
                  std::accumulate(host.begin() + 7, host.end(),
                                  host[0] + host[1] + host[2] + 17 + 17 + host[5] + 1));
        std::sort(x.begin(), x.end());
        EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
    });
}

TEST(B9_vexcl_vectors, have_parts_that_are_mapped_and_reinterpreted) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<float> x(ctx, 4096);
        for (unsigned d = 0; d < ctx.size(); ++d) {
            const auto mapped = x.map(d);
            for (std::size_t i = 0; i < x.part_size(d); ++i)
                mapped[i] = static_cast<float>(x.part_start(d) + i);
        }
        x += 1;
        for (const std::size_t i : {0, 1, 2047, 2048, 4095}) EXPECT_EQ(x[i], static_cast<float>(i + 1));
        const vex::vector<cl_float4> fours = x.reinterpret<cl_float4>();
        EXPECT_EQ(fours.size(), 1024u);
        EXPECT_EQ(cl_float4(fours[5]).s[2], 23.f);
        if (ctx.size() == 1) {  // a handle of the same memory
            vex::vector<float> same(ctx.queue(0), x(0));
            same = 9;
            EXPECT_EQ(x[77], 9.f);
            EXPECT_EQ(same(0).raw(), x(0).raw());
        }
    });
}

TEST(B9_vexcl_vectors, are_printed_in_rows) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        std::vector<int> host(12);
        std::iota(host.begin(), host.end(), 1);
        std::ostringstream text;
        text << vex::vector<int>(ctx, host);
        EXPECT_EQ(text.str(),
                  "{\n     0:      1      2      3      4      5      6      7      8      9     10"
                  "\n    10:     11     12\n}\n");
    });
}

// Conversions that balm::vector does not have.
TEST(B9_vexcl_vectors, convert_from_host_memory_and_sizes) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const std::vector<double> host{1, 2, 3};
        EXPECT_EQ(on_host(vex::vector<double>(ctx, {1.0, 2.0, 3.0})), host);
        vex::vector<double> x = host;
        EXPECT_EQ(on_host(x), host);
        const auto size_of = [](const vex::vector<float>& v) { return v.size(); };
        EXPECT_EQ(size_of(16), 16u);
        const std::vector<float> other{4, 5, 6};
        vex::copy(ctx.queue(), other.data(), x);
        EXPECT_EQ(on_host(x), (std::vector<double>{4, 5, 6}));
        const std::vector<std::size_t> starts = vex::partition(1000, ctx.queue());
        EXPECT_EQ(starts.size(), ctx.size() + 1);
        EXPECT_EQ(starts, vex::vector<float>(ctx, 1000).partition());
        EXPECT_GT(vex::device_vector_perf(ctx.queue(0)), 0);
    });
}

TEST(B9_vexcl_vectors, that_are_const_are_mapped_to_read) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<double> x(ctx, 1000), y(ctx, 1000);
        x = 3;
        const vex::vector<double>& seen = x;
        {
            const auto mapped = seen.map(0);
            y = 2 * x;  // reads it meanwhile
            EXPECT_EQ(mapped[1], 3);
        }
        expect_elements(y, [](std::size_t) { return 6.0; });
        auto mapped = x.map(0);
        mapped[1] = 8;
        EXPECT_TRUE(mapped);
        mapped.reset();
        EXPECT_FALSE(mapped);
        EXPECT_EQ(x[1], 8);
    });
}

TEST(B9_vexcl_contexts, may_be_empty_until_they_are_assigned) {
    std::vector<vex::command_queue> queues(1);
    vex::backend::device device;
    EXPECT_THROW(queues[0].finish(), std::runtime_error);
    EXPECT_THROW((void)device.name(), std::runtime_error);
    EXPECT_THROW((void)vex::backend::context().raw(), std::runtime_error);
    on_one_and_two_devices([&](const vex::Context& ctx) {
        queues[0] = ctx.queue(0);
        device = ctx.device(0);
        vex::vector<double> x(queues, 10);
        x = 1;
        queues[0].finish();
        EXPECT_EQ(device.name(), ctx.device(0).name());
        vex::backend::enqueue_barrier(queues[0], {vex::backend::enqueue_marker(queues[0])});
        vex::backend::wait_for_events({vex::backend::enqueue_marker(queues[0])});
        EXPECT_EQ(x[9], 1);
    });
}

TEST(B9_vexcl_vector, is_named_by_the_line_that_made_it) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const int line = __LINE__ + 1;
        vex::vector<double> x(ctx, 10), y(ctx, 11);
        vex::multivector<double, 2> m;
        m.resize(ctx, 12);
        const auto at = [](int number) { return "vectors_test.cpp:" + std::to_string(number); };
        EXPECT_NE(usage_message_of([&] { x = x + y; }).find(at(line)), std::string::npos);
        EXPECT_NE(usage_message_of([&] { x = x + m(1); }).find(at(line + 2)), std::string::npos);
    });
}

}  // namespace

}  // namespace balm::test
