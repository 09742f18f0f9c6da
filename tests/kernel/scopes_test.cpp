// Names and blocks of printed kernels: what is visible in one scope has names of its own, and what is
// declared in a block is used there alone.

#include <gtest/gtest.h>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::ElementsAre;

struct w_pair {
    std::int32_t kernel, w, gap;
};
BALM_STRUCT(w_pair, kernel, w, gap)

/// What 1-item kernels of (Mixed<int>, Int) leave in eight elements that begin as 0 … 7.
template <class Kernel>
std::vector<std::int32_t> left_by(const device& on, const Kernel& kernel, std::int32_t c) {
    auto a = on.mixed_buffer<std::int32_t>(8);
    a.write({0, 1, 2, 3, 4, 5, 6, 7});
    on.execute(kernel(a, c), {1});
    const auto read = a.read();
    return {read.begin(), read.end()};
}

TEST(C12_constants, are_first_used_by_a_loop) {
    const balm::constant_array<float> w("w", {1.f, 2.f, 3.f, 4.f});
    const auto kernel = balm::kernel<1>("horner", [&](Float x, Out<float> out) {
        Float y = w[0];
        for (Int k : range(1, 4)) y = y * x + w[k];
        out[0] = y;
    });
    on_all_devices([&](const device& on) { EXPECT_EQ(run<float>(on, kernel, 1, 2.f)[0], 26.f); });
}

TEST(C12_constants, share_their_name_with_everything_else) {
    const balm::constant_array<std::int32_t> w("w", {1, 2, 3, 4});
    const balm::constant_array<std::int32_t> w_pairs("w_pair", {5, 6});
    const auto function = balm::function("w(w)", [&](Int x) {
        Int sum = named("w", x * 2);
        for (Int k : named("w", range(4))) sum += w[k];
        return sum;
    });
    const auto other = balm::function("w(w_pair)", [&](Var<w_pair> p) {
        p.gap = p.kernel + p.w;
        return p;
    });
    const auto kernel = balm::kernel<1>("w(w, w_offset, shared)",
                                        [&](Int c, Local<std::int32_t> shared, Out<std::int32_t> out) {
                                            Array<std::int32_t, 2> pair;
                                            shared[0] = c;
                                            Int sum = named("w", function(c));
                                            for (Int w_pair : named("w_pair", range(2)))
                                                sum += w_pairs[w_pair] * w[w_pair + 1] + pair[w_pair];
                                            Var<w_pair> p;
                                            p.kernel = sum;
                                            p.w = shared[0];
                                            p = other(p);
                                            out[0] = p.gap + w[3];
                                        });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(1);
        on.execute(kernel(7, balm::local<std::int32_t>(1), out), {1}, {1});
        // function: 14 + 10; pairs: 5 * 2 + 6 * 3; gap: 52 + 7
        EXPECT_THAT(out.read(), ElementsAre(63));
    });
}

TEST(C16_pointers, are_first_used_by_a_loop_in_a_block) {
    const auto kernel = balm::kernel<1>("after(a, c)", [](Mixed<std::int32_t> a, Int c) {
        Ptr<std::int32_t> p = address_of(a[c]);
        IF (c > 0) {
            for (Int k : range(3)) p[k] = k + 10;
        }
        *p += 7;
    });
    on_all_devices([&](const device& on) {
        EXPECT_THAT(left_by(on, kernel, 0), ElementsAre(7, 1, 2, 3, 4, 5, 6, 7));
        EXPECT_THAT(left_by(on, kernel, 2), ElementsAre(0, 1, 17, 11, 12, 5, 6, 7));
    });
}

TEST(C16_pointers, are_used_in_every_block_behind_them) {
    const auto kernel = balm::kernel<1>("blocks(a, c)", [](Mixed<std::int32_t> a, Int c) {
        Ptr<std::int32_t> p = address_of(a[c]);
        PrivatePtr<Ptr<std::int32_t>> pp = address_of(p);
        Array<std::int32_t, 4> own;
        PrivatePtr<std::int32_t> q = address_of(own[c & 1]);
        IF (c > 0 && *p < 3) {
            WHILE (q[1] < 3) {
                q[1] += 1;
            }
            for (Int k : range(2)) (*pp)[k] = q[k] + k;
        }
        ELSE {
            for (Int k : range(2)) p[k] = k - q[k];
        }
        Ptr<std::int32_t> r = *pp;
        for (Int k : range(2)) r[k] += 100;
        p += 1;
        *p += q[1];
    });
    on_all_devices([&](const device& on) {
        EXPECT_THAT(left_by(on, kernel, 0), ElementsAre(100, 101, 2, 3, 4, 5, 6, 7));
        EXPECT_THAT(left_by(on, kernel, 2), ElementsAre(0, 1, 100, 107, 4, 5, 6, 7));
    });
}

TEST(C16_pointers, keep_the_variable_that_they_were_made_of) {
    const auto kernel = balm::kernel<1>("made_of(a, c)", [](Mixed<std::int32_t> a, Int c) {
        Int i = c;
        Ptr<std::int32_t> p = a.data();
        for ([[maybe_unused]] Int k : range(2)) {
            Int before = i;
            Ptr<std::int32_t> old = p;
            IF (c > 0) {
                Ptr<std::int32_t> q = old + before;  // the index is read here, and used behind the block
                q[0] += 10;
                q[1] += 20;
            }
            i += before;
            p += 1;
            old[0] += before;
        }
        *p = i;
    });
    on_all_devices([&](const device& on) {
        // turn 0: a[1] += 10, a[2] += 20, a[0] += 1; turn 1: (a + 1)[2] += 10, [3] += 20, [0] += 2
        EXPECT_THAT(left_by(on, kernel, 1), ElementsAre(1, 13, 4, 13, 24, 5, 6, 7));
    });
}

/// OpenCL C takes no address of a lane.
TEST(C16_pointers, to_vectors_have_lanes_that_loops_write) {
    const auto kernel = balm::kernel<1>("lanes(a, c)", [](Mixed<std::int32_t> a, Int c) {
        Array<balm::int4, 2> v;
        Int i = c;
        PrivatePtr<balm::int4> p = address_of(v[0]);
        for (Int k : range(3)) {
            v[i & 1].y += k;
            (*p).z += 2;
            WHILE (i < 7) {
                v[i & 1].y += 1;
                i += 1;
            }
        }
        p += 1;
        (*p).z += c;
        a[0] = Int(v[0].y) * 1000 + v[1].y;
        a[1] = Int(v[0].z) * 1000 + v[1].z;
    });
    on_all_devices([&](const device& on) {
        std::int32_t y[2] = {}, i = 5;
        for (int k = 0; k < 3; ++k) {
            y[i & 1] += k;
            for (; i < 7; ++i) ++y[i & 1];
        }
        EXPECT_THAT(left_by(on, kernel, 5), ElementsAre(y[0] * 1000 + y[1], 6005, 2, 3, 4, 5, 6, 7));
    });
}

TEST(C13_control_flow, evaluates_long_conditions_in_every_turn) {
    const auto kernel = balm::kernel<1>("long_condition(a, c)", [](Mixed<std::int32_t> a, Int c) {
        Int i = 0;
        const auto long_sum = [&](auto&& term) {
            Int sum = term(0);
            for (int k = 1; k < 20; ++k) sum = sum + term(k);
            return sum;
        };
        WHILE (long_sum([&](int k) { return i ^ k; }) < c) {
            i += 1;
        }
        // Nothing is there, so nothing is read.
        IF (c < 0 && long_sum([&](int k) { return Int(a[c + 100000000 * (k + 1)]); }) > 3) {
            i = -1;
        }
        a[0] = i;
    });
    on_all_devices([&](const device& on) {
        const auto long_sum = [](int i) {
            int sum = 0;
            for (int k = 0; k < 20; ++k) sum += i ^ k;
            return sum;
        };
        int expected = 0;
        while (long_sum(expected) < 500) ++expected;
        EXPECT_GT(expected, 3);
        EXPECT_EQ(left_by(on, kernel, 500)[0], expected);
    });
}

}  // namespace

}  // namespace balm::test
