// Barriers that count, fences, and the operations of sub-groups, against the same on the host, for groups of
// all sizes and shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "ir/ir.hpp"
#include "ir/passes/hidden_parameters.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "kernel/sub_groups.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int sub_group_lanes = lanes_of_sub_group;
/// Sizes of groups: whole sub-groups and not, one work-item, more than one sub-group.
constexpr std::size_t group_sizes[] = {1, 32, 33, 100};

/// Where work-item i of a row of groups stands.
struct host_place {
    std::size_t group, first_of_group, item, lane, first, present;

    host_place(std::size_t i, std::size_t group_size)
        : group(i / group_size),
          first_of_group(group * group_size),
          item(i % group_size),
          lane(item % sub_group_lanes),
          first(i - lane),
          present(std::min<std::size_t>(sub_group_lanes, group_size - (item - lane))) {}
};

/// Runs the kernel (In<T>, Out<R>) on random values in groups of each size, and compares with
/// expected(values, place, i).
template <class T, class R, class Kernel, class Expected, class... A>
void in_groups_of_all_sizes(const Kernel& kernel, Expected&& expected, A... more) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t size : group_sizes) {
            SCOPED_TRACE("groups of " + std::to_string(size));
            const std::size_t count = size * 5;
            const auto values = random_values<T>(random, count);
            auto out = on.out_buffer<R>(count);
            on.execute(kernel(in(on, values), out, more...), {count}, {size});
            expect_each(out.read(), [&](std::size_t i) { return expected(values, host_place(i, size), i); });
        }
    });
}

// ---- barriers

TEST(A4_barriers, count_the_true_conditions_of_the_group) {
    const auto kernel = balm::kernel<1>("counts", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        Int x = in[i], positive = barrier_count(x > 0), odd = barrier_count(x % 2 != 0);
        out[i] = positive * 1000 + odd;
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(me.first_of_group);
        const auto last = first + static_cast<std::ptrdiff_t>(x.size() / 5);
        return 1000 * std::count_if(first, last, [](int v) { return v > 0; }) +
               std::count_if(first, last, [](int v) { return v % 2 != 0; });
    });
}

TEST(A4_barriers, tell_all_and_any_of_the_group) {
    const auto kernel = balm::kernel<1>("all_any", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        Int x = in[i] & 63;
        Bool all = barrier_and(x != 5), any = barrier_or(x == 7);
        Bool always = barrier_and(x >= 0), never = barrier_or(x < 0);
        out[i] = select(all, 1, 0) + select(any, 2, 0) + select(always, 4, 0) + select(never, 8, 0);
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(me.first_of_group);
        const auto last = first + static_cast<std::ptrdiff_t>(x.size() / 5);
        const bool all = std::all_of(first, last, [](int v) { return (v & 63) != 5; });
        const bool any = std::any_of(first, last, [](int v) { return (v & 63) == 7; });
        return (all ? 1 : 0) + (any ? 2 : 0) + 4;
    });
}

// A sort by exchanging neighbours ends when nobody exchanged: control hangs on the count, which is the same
// in all work-items, and memory is in order across it.
TEST(A4_barriers, that_count_order_memory_and_decide_for_all) {
    const auto kernel = balm::kernel<1>("neighbours", [](In<int> in, Out<int> out, Local<int> room) {
        Index i = global_id(0);
        Int item = cast<int>(local_id(0)), size = cast<int>(local_size(0));
        room[item] = in[i];
        Int exchanged = 1;
        barrier();
        WHILE (exchanged > 0) {
            exchanged = 0;
            for (int turn = 0; turn < 2; ++turn) {
                Bool swaps = false;
                Int a = room[item], b = a;
                IF (item % 2 == turn && item + 1 < size) {
                    b = room[item + 1];
                    swaps = b < a;
                }
                exchanged += barrier_count(swaps);
                IF (swaps) {
                    room[item] = b;
                    room[item + 1] = a;
                }
                barrier();
            }
        }
        out[i] = room[item];
    });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t size : group_sizes) {
            SCOPED_TRACE(size);
            const auto values = random_values<int>(random, size * 3);
            auto expected = values;
            for (std::size_t g = 0; g < 3; ++g)
                std::sort(expected.begin() + static_cast<std::ptrdiff_t>(g * size),
                          expected.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
            auto out = on.out_buffer<int>(size * 3);
            on.execute(kernel(in(on, values), out, local<int>(size)), {size * 3}, {size});
            EXPECT_EQ(out.read(), expected);
        }
    });
}

TEST(A4_barriers, loops_may_hang_on_them) {
    const auto kernel = balm::kernel<1>("until_all", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        Int left = in[i] & 31, turns = 0;
        WHILE (barrier_or(left > 0)) {
            left -= 1;
            turns += 1;
        }
        out[i] = turns;
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        int most = 0;
        for (std::size_t k = 0; k < x.size() / 5; ++k) most = std::max(most, x[me.first_of_group + k] & 31);
        return most;
    });
}

TEST(A4_barriers, that_count_under_a_differing_condition_are_refused) {
    const std::string fault = message_of<trace_error>([] {
        balm::kernel<1>("differs", [](Out<int> out) {
            IF (local_id(0) < 3) {
                out[0] = barrier_count(true);
            }
        });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line_of(__FILE__, __LINE__ - 4)), HasSubstr("barrier()")));
}

// ---- fences

// Each work-item hands a message to another group's: written, fenced, announced; and read where the
// announcement was seen.
template <class Announce, class See>
void hand_over(Announce announce, See see) {
    const auto kernel =
        balm::kernel<1>("hand_over", [&](Mixed<int> message, Mixed<int> ready, Mixed<int> got, Int round) {
            Int i = cast<int>(global_id(0)), n = cast<int>(global_size(0));
            message[i] = i * 3 + round;
            announce(ready, i, round);
            Int from = n - 1 - i;
            IF (see(ready, from) == round) {
                got[i] = message[from];
            }
        });
    on_all_devices([&](const device& on) {
        constexpr std::size_t count = 4096;
        host_array<int> zero{shape(count)};
        std::fill(zero.begin(), zero.end(), 0);
        auto message = mixed(on, zero), ready = mixed(on, zero);
        std::size_t seen = 0;
        for (int round = 1; round <= 20; ++round) {
            auto got = mixed(on, zero);
            on.execute(kernel(message, ready, got, round), {count}, {64});
            const auto values = got.read();
            for (std::size_t i = 0; i < count; ++i) {
                if (values[i] == 0) continue;  // came too early
                ++seen;
                ASSERT_EQ(values[i], static_cast<int>(count - 1 - i) * 3 + round);
            }
        }
        EXPECT_GT(seen, 0u);
    });
}
template <class Fence>
void hand_over_by_fences(Fence fence) {
    hand_over(
        [fence](Mixed<int> ready, Int i, Int round) {
            fence();
            atomic_exchange(ready[i], round);
        },
        [fence](Mixed<int> ready, Int i) {
            Int seen = atomic_add(ready[i], 0);
            fence();
            return seen;
        });
}
TEST(A4_fences, of_the_device_order_a_message_ahead_of_its_announcement) {
    hand_over_by_fences([] { device_fence(); });
}
TEST(A4_fences, of_the_system_order_at_least_as_much) {
    hand_over_by_fences([] { system_fence(); });
}
TEST(A4_fences, come_with_stores_that_release_and_loads_that_acquire) {
    hand_over([](Mixed<int> ready, Int i, Int round) { atomic_store_release(ready[i], round); },
              [](Mixed<int> ready, Int i) { return atomic_load_acquire(ready[i]); });
}
TEST(A4_fences, of_the_group_order_what_its_work_items_see) {
    const auto kernel =
        balm::kernel<1>("within_group", [](Out<int> out, Local<int> message, Local<int> ready) {
            Int item = cast<int>(local_id(0)), last = cast<int>(local_size(0)) - 1;
            ready[item] = 0;
            barrier();
            message[item] = item * 7 + 1;
            group_fence();
            atomic_exchange(ready[item], 1);
            Int seen = atomic_add(ready[last - item], 0);
            Int got = -1;
            IF (seen == 1) {
                group_fence();
                got = message[last - item];
            }
            out[global_id(0)] = got;
        });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(2048);
        on.execute(kernel(out, local<int>(128), local<int>(128)), {2048}, {128});
        const auto values = out.read();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] != -1) {
                ASSERT_EQ(values[i], static_cast<int>(127 - i % 128) * 7 + 1);
            }
        EXPECT_GT(std::count_if(values.begin(), values.end(), [](int v) { return v != -1; }), 0);
    });
}

// ---- where a lane is

TEST(G8_sub_groups, are_32_work_items_in_a_row) {
    const auto kernel = balm::kernel<1>("places", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        out[i] = in[i] * 0 + lane_id() + 100 * sub_group_id() + 10000 * sub_group_count() +
                 1000000 * sub_group_size();
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        const std::size_t size = x.size() / 5;
        return static_cast<int>(me.lane + 100 * (me.item / 32) + 10000 * ((size + 31) / 32)) + 32000000;
    });
}

TEST(G8_sub_groups, count_through_all_dimensions) {
    const auto where = balm::function("where(zero)", [](Int zero) {
        return zero + cast<int>(local_linear_id()) + 1000 * sub_group_id() +
               100000 * cast<int>(local_linear_size());
    });
    const auto cube = balm::kernel<3>("cube", [&](Out<int, 3> direct, Out<int, 3> called) {
        Index i = (global_id(2) * global_size(1) + global_id(1)) * global_size(0) + global_id(0);
        Int zero = 0;
        direct[i] =
            cast<int>(local_linear_id()) + 1000 * sub_group_id() + 100000 * cast<int>(local_linear_size());
        called[i] = where(zero);
    });
    const auto square = balm::kernel<2>("square", [](Out<int, 2> out) {
        Index i = global_id(1) * global_size(0) + global_id(0);
        out[i] = cast<int>(local_linear_id()) + 1000 * cast<int>(ballot(true) >> 31);
    });
    on_all_devices([&](const device& on) {
        auto direct = on.out_buffer<int>(12, 10, 6), called = on.out_buffer<int>(12, 10, 6);
        on.execute(cube(direct, called), {12, 10, 6}, {4, 5, 3});
        const auto got = direct.read();
        EXPECT_EQ(called.read(), got);
        for (std::size_t z = 0; z < 6; ++z)
            for (std::size_t y = 0; y < 10; ++y)
                for (std::size_t x = 0; x < 12; ++x) {
                    const std::size_t item = (z % 3 * 5 + y % 5) * 4 + x % 4;
                    ASSERT_EQ(got[(z * 10 + y) * 12 + x],
                              static_cast<int>(item + 1000 * (item / 32) + 100000 * 60));
                }
        auto flat = on.out_buffer<int>(16, 10);
        on.execute(square(flat), {16, 10}, {8, 5});  // 40 work-items: the second sub-group has 8
        const auto square_got = flat.read();
        for (std::size_t y = 0; y < 10; ++y)
            for (std::size_t x = 0; x < 16; ++x) {
                const std::size_t item = y % 5 * 8 + x % 8;
                ASSERT_EQ(square_got[y * 16 + x], static_cast<int>(item + (item < 32 ? 1000 : 0)));
            }
    });
}

TEST(G8_sub_groups, size_of_the_hardware_is_a_query) {
    on_all_devices([&](const device& on) {
        const bool is_nvidia = on.info().vendor.find("NVIDIA") != std::string::npos;
        if (is_nvidia) {
            EXPECT_EQ(on.info().sub_group_size, 32u);
        }
    });
}

TEST(A4_votes, lane_masks_are_the_lanes_before_and_behind) {
    const auto kernel = balm::kernel<1>("masks", [](Mixed<unsigned> out) {
        Index i = global_id(0) * 5;
        out[i] = lane_mask_lt();
        out[i + 1] = lane_mask_le();
        out[i + 2] = lane_mask_eq();
        out[i + 3] = lane_mask_ge();
        out[i + 4] = lane_mask_gt();
    });
    on_all_devices([&](const device& on) {
        auto out = on.mixed_buffer<unsigned>(64 * 5);
        on.execute(kernel(out), {64}, {64});
        const auto got = out.read();
        for (std::size_t i = 0; i < 64; ++i)
            for (std::size_t lane = 0; lane < 32; ++lane) {
                const std::size_t own = i % 32;
                const bool expected[] = {lane<own, lane <= own, lane == own, lane >= own, lane> own};
                for (std::size_t k = 0; k < 5; ++k)
                    ASSERT_EQ((got[i * 5 + k] >> lane & 1) != 0, expected[k]) << i << ' ' << lane << ' ' << k;
            }
    });
}

// ---- votes

unsigned host_ballot(const host_array<int>& x, const host_place& me, const std::function<bool(int)>& holds) {
    unsigned mask = 0;
    for (std::size_t k = 0; k < me.present; ++k) mask |= unsigned{holds(x[me.first + k])} << k;
    return mask;
}

TEST(A4_votes, ballot_is_a_bit_for_each_lane) {
    const auto kernel = balm::kernel<1>("ballots", [](In<int> in, Out<unsigned> out) {
        Index i = global_id(0);
        out[i] = ballot(in[i] > 0);
    });
    in_groups_of_all_sizes<int, unsigned>(kernel,
                                          [](const host_array<int>& x, const host_place& me, std::size_t) {
                                              return host_ballot(x, me, [](int v) { return v > 0; });
                                          });
}

TEST(A4_votes, any_and_all_are_of_the_lanes_that_are_there) {
    const auto kernel = balm::kernel<1>("votes", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        Int x = in[i] & 15;
        out[i] = select(vote_any(x == 3), 1, 0) + select(vote_all(x != 4), 2, 0) +
                 select(vote_all(x < 16), 4, 0) + select(vote_any(x > 15), 8, 0);
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        const bool any = host_ballot(x, me, [](int v) { return (v & 15) == 3; }) != 0;
        const bool all = host_ballot(x, me, [](int v) { return (v & 15) == 4; }) == 0;
        return (any ? 1 : 0) + (all ? 2 : 0) + 4;
    });
}

TEST(A4_votes, give_each_lane_its_place_among_the_chosen) {
    const auto kernel = balm::kernel<1>("compacts", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        UInt chosen = ballot(in[i] % 3 == 0);
        out[i] = cast<int>(popcount(chosen & lane_mask_lt()));
    });
    in_groups_of_all_sizes<int, int>(kernel, [](const host_array<int>& x, const host_place& me, std::size_t) {
        int before = 0;
        for (std::size_t k = 0; k < me.lane; ++k) before += x[me.first + k] % 3 == 0;
        return before;
    });
}

// ---- shuffles

template <class T>
class A4_shuffles_of : public testing::Test {};
using shuffled_types = testing::Types<bool, std::int8_t, std::uint16_t, std::int32_t, std::uint32_t,
                                      std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(A4_shuffles_of, shuffled_types);

/// The value of a lane, or one's own where it is absent.
template <class T>
T lane_or_own(const host_array<T>& x, const host_place& me, std::ptrdiff_t lane) {
    const bool present = lane >= 0 && lane < static_cast<std::ptrdiff_t>(me.present);
    return x[me.first + (present ? static_cast<std::size_t>(lane) : me.lane)];
}

TYPED_TEST(A4_shuffles_of, values_pass_between_lanes) {
    using T = TypeParam;
    const auto by_number = balm::kernel<1>("by_number", [](In<T> in, Out<T> out) {
        Index i = global_id(0);
        out[i] = shuffle(in[i], lane_id() * 5 + 3);
    });
    in_groups_of_all_sizes<T, T>(by_number, [](const host_array<T>& x, const host_place& me, std::size_t) {
        return lane_or_own(x, me, (int(me.lane) * 5 + 3) % 32);
    });
    const auto by_distance = balm::kernel<1>("by_distance", [](In<T> in, Out<T> out, Int by) {
        Index i = global_id(0);
        Var<T> own = in[i];
        Var<T> up = shuffle_up(own, by), down = shuffle_down(own, by), across = shuffle_xor(own, by);
        // One result from three: which lane it came from shows in the values.
        out[i] = select(i % 3 == 0, up, select(i % 3 == 1, down, across));
    });
    for (const int by : {0, 1, 2, 5, 16, 31, 33}) {
        SCOPED_TRACE(by);
        in_groups_of_all_sizes<T, T>(
            by_distance,
            [by](const host_array<T>& x, const host_place& me, std::size_t i) {
                const int lane = int(me.lane), distance = by % 32;
                return lane_or_own(x, me,
                                   i % 3 == 0   ? lane - distance
                                   : i % 3 == 1 ? lane + distance
                                                : lane ^ distance);
            },
            by);
    }
}

TEST(A4_shuffles, in_loops_and_functions) {
    const auto turn = balm::function(
        "turn(x, by)", [](Long x, Int by) { return shuffle(x, lane_id() + by) + cast<long>(ballot(x > 0)); });
    const auto kernel = balm::kernel<1>("turns", [&](In<long> in, Out<long> out) {
        Index i = global_id(0);
        Long x = in[i] % 1000;
        for (Int k : range(4)) x = turn(x, k) % 100000;
        out[i] = x;
    });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        constexpr std::size_t count = 64 * 6;
        const auto values = random_values<long>(random, count);
        auto out = on.out_buffer<long>(count);
        on.execute(kernel(in(on, values), out), {count}, {64});
        std::vector<long> x(count), next(count);
        for (std::size_t i = 0; i < count; ++i) x[i] = values[i] % 1000;
        for (std::size_t k = 0; k < 4; ++k) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t first = i / 32 * 32;
                long mask = 0;
                for (std::size_t l = 0; l < 32; ++l) mask |= long{x[first + l] > 0} << l;
                next[i] = (x[first + (i % 32 + k) % 32] + mask) % 100000;
            }
            x = next;
        }
        expect_each(out.read(), [&](std::size_t i) { return x[i]; });
    });
}

// What work-items write before a sub-group barrier, the others of their sub-group read after it.
TEST(G8_sub_groups, have_a_barrier_of_their_own) {
    const auto kernel = balm::kernel<1>("mirror", [](In<int> in, Out<int> out, Local<int> room) {
        Index i = global_id(0);
        Int item = cast<int>(local_id(0));
        Int x = in[i];
        for (Int k : range(3)) {
            room[item] = x + k;
            sub_group_barrier();
            x = room[item ^ 31];
            sub_group_barrier();
        }
        out[i] = x;
    });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto values = random_values<int>(random, 512, -1000, 1000);
        auto out = on.out_buffer<int>(512);
        on.execute(kernel(in(on, values), out, local<int>(128)), {512}, {128});
        expect_each(out.read(), [&](std::size_t i) { return values[i ^ 31] + 3; });
    });
}

TEST(A4_shuffles, in_grids_that_begin_at_an_offset) {
    const auto kernel = balm::kernel<1>("from_offset", [](Out<long> out) {
        Index i = global_id(0);
        out[i - 5] = shuffle_xor(i, 1);
    });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<long>(128);
        on.execute(kernel(out), {128}, {64}, offset(5));
        expect_each(out.read(), [](std::size_t i) { return static_cast<long>((i ^ 1) + 5); });
    });
}

// ---- reductions and scans

template <class T>
class G8_sub_group_scans : public testing::Test {};
using reduced_types = testing::Types<std::int16_t, std::int32_t, std::uint32_t, std::int64_t, double>;
TYPED_TEST_SUITE(G8_sub_group_scans, reduced_types);

template <class T>
T wrapping_sum(T a, T b) {
    if constexpr (std::floating_point<T>)
        return a + b;
    else
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

TYPED_TEST(G8_sub_group_scans, are_those_of_the_standard_library) {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    const auto kernel = balm::kernel<1>("scans", [](In<T> in, Mixed<T> out) {
        Index i = global_id(0);
        Var<T> x = in[i];
        if constexpr (std::floating_point<T>) x = floor(x);  // whole: added exactly in any order
        out[9 * i] = sub_group_reduce_add(x);
        out[9 * i + 1] = sub_group_reduce_min(x);
        out[9 * i + 2] = sub_group_reduce_max(x);
        out[9 * i + 3] = sub_group_scan_inclusive_add(x);
        out[9 * i + 4] = sub_group_scan_inclusive_min(x);
        out[9 * i + 5] = sub_group_scan_inclusive_max(x);
        out[9 * i + 6] = sub_group_scan_exclusive_add(x);
        out[9 * i + 7] = sub_group_scan_exclusive_min(x);
        out[9 * i + 8] = sub_group_scan_exclusive_max(x);
    });
    auto random = seeded_random();
    const auto sum = [](T a, T b) { return wrapping_sum(a, b); };
    const auto least = [](T a, T b) { return std::min(a, b); };
    const auto most = [](T a, T b) { return std::max(a, b); };
    const T top = std::floating_point<T> ? limits::infinity() : limits::max();
    const T bottom = std::floating_point<T> ? -limits::infinity() : limits::lowest();
    on_all_devices([&](const device& on) {
        for (const std::size_t size : {1, 100}) {
            SCOPED_TRACE("groups of " + std::to_string(size));
            const std::size_t count = size * 3;
            auto values = random_values<T>(random, count);
            if constexpr (std::floating_point<T>)
                for (T& v : values) v = std::round(std::remainder(v, T(1000))) + T(0);  // no -0
            std::vector<T> expected(9 * count);
            for (std::size_t g = 0; g < count; g += size)
                for (std::size_t s = 0; s < size; s += sub_group_lanes) {
                    const auto first = values.begin() + static_cast<std::ptrdiff_t>(g + s);
                    const auto last =
                        first + static_cast<std::ptrdiff_t>(std::min<std::size_t>(sub_group_lanes, size - s));
                    const auto put = [&](std::size_t k, auto op, T start) {
                        std::vector<T> inclusive, exclusive;
                        std::inclusive_scan(first, last, std::back_inserter(inclusive), op);
                        std::exclusive_scan(first, last, std::back_inserter(exclusive), start, op);
                        for (std::size_t l = 0; l < inclusive.size(); ++l) {
                            expected[9 * (g + s + l) + k] = inclusive.back();
                            expected[9 * (g + s + l) + 3 + k] = inclusive[l];
                            expected[9 * (g + s + l) + 6 + k] = exclusive[l];
                        }
                    };
                    put(0, sum, T(0));
                    put(1, least, top);
                    put(2, most, bottom);
                }
            auto out = on.mixed_buffer<T>(9 * count);
            on.execute(kernel(in(on, values), out), {count}, {size});
            expect_each(out.read(), [&](std::size_t i) { return expected[i]; });
        }
    });
}

// The order of additions is part of the promise: the same bits on every device.
TEST(G8_sub_groups, add_floats_in_one_order) {
    const auto kernel = balm::kernel<1>("float_sums", [](In<float> in, Out<float> total, Out<float> scan) {
        Index i = global_id(0);
        total[i] = sub_group_reduce_add(in[i]);
        scan[i] = sub_group_scan_inclusive_add(in[i]);
    });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        constexpr std::size_t count = 320;
        const auto values = random_values<float>(random, count);
        auto total = on.out_buffer<float>(count), scan = on.out_buffer<float>(count);
        on.execute(kernel(in(on, values), total, scan), {count}, {64});
        std::vector<float> t(values.begin(), values.end()), s = t;
        for (std::size_t d = 16; d > 0; d /= 2)
            for (std::size_t i = 0; i < count; ++i)
                if (i % 32 + d < 32) t[i] += t[i + d];  // in place: t[i + d] is still that of the step before
        for (std::size_t d = 1; d < 32; d *= 2) {
            const std::vector<float> before = s;
            for (std::size_t i = 0; i < count; ++i)
                if (i % 32 >= d) s[i] = before[i - d] + before[i];
        }
        expect_each(total.read(), [&](std::size_t i) { return t[i / 32 * 32]; });
        expect_each(scan.read(), [&](std::size_t i) { return s[i]; });
    });
}

// ---- where control may differ

TEST(G8_sub_groups, operations_that_not_all_lanes_reach_are_refused) {
    std::string fault = message_of<trace_error>([] {
        balm::kernel<1>("differs", [](Out<unsigned> out) {
            IF (local_id(0) < 3) {
                out[0] = ballot(true);
            }
        });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line_of(__FILE__, __LINE__ - 4)), HasSubstr("sub-group")));
    fault = message_of<trace_error>([] {
        balm::kernel<1>("loops", [](Out<int> out) {
            Int x = cast<int>(local_id(0));
            WHILE (x > 0) {
                x = shuffle_up(x, 1);
            }
            out[0] = x;
        });
    });
    EXPECT_THAT(fault, HasSubstr("a sub-group operation is in divergent control flow"));
    fault = message_of<trace_error>([] {
        balm::kernel<1>("walks", [](Out<int> out) {
            for (Index i : grid_range(100)) out[i] = sub_group_reduce_add(cast<int>(i));
        });
    });
    EXPECT_THAT(fault, HasSubstr("a sub-group operation is in divergent control flow"));
    const auto votes = balm::function("votes(x)", [](Int x) { return vote_any(x > 0); });
    fault = message_of<trace_error>([&] {
        balm::kernel<1>("calls", [&](Out<int> out) {
            Int x = cast<int>(local_id(0));
            IF (x > 2) {
                out[0] = select(votes(x), 1, 0);
            }
        });
    });
    EXPECT_THAT(fault, HasSubstr("a sub-group operation is in divergent control flow"));
}

/// Sums a group in two steps, the second by its first sub-group alone.
auto two_steps() {
    return balm::kernel<1>("two_steps", [](In<int> in, Out<int> out, Local<int> parts) {
        Int part = sub_group_reduce_add(in[global_id(0)]);
        IF (lane_id() == 0) {
            parts[sub_group_id()] = part;
        }
        barrier();
        IF (sub_group_id() == 0) {
            Int mine = 0;
            IF (lane_id() < sub_group_count()) {
                mine = parts[lane_id()];
            }
            Int total = sub_group_reduce_add(mine);
            IF (lane_id() == 0) {
                out[group_id(0)] = total;
            }
        }
    });
}

TEST(G8_sub_groups, may_work_alone_where_the_device_has_them) {
    const auto kernel = two_steps();
    auto random = seeded_random();
    const auto values = random_values<int>(random, 1024, -1000, 1000);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(4);
        const auto launch = [&] { on.execute(kernel(in(on, values), out, local<int>(32)), {1024}, {256}); };
        if (!kernels::features_of(*on.state()).has_sub_groups) {
            EXPECT_THAT(message_of<trace_error>(launch),
                        AllOf(HasSubstr("sync_test.cpp:"), HasSubstr("emulated by barriers")));
            return;
        }
        launch();
        expect_each(out.read(), [&](std::size_t g) {
            return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(256 * g),
                                   values.begin() + static_cast<std::ptrdiff_t>(256 * (g + 1)), 0);
        });
    });
}

TEST(G8_sub_groups, loops_may_hang_on_a_vote_where_the_device_has_them) {
    const auto kernel = balm::kernel<1>("countdown", [](In<int> in, Out<int> out) {
        Index i = global_id(0);
        Int x = in[i], turns = 0;
        WHILE (vote_any(x > 0)) {
            x -= 1;
            turns += 1;
        }
        out[i] = turns;
    });
    auto random = seeded_random();
    const auto values = random_values<int>(random, 256, 0, 40);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(256);
        const auto launch = [&] { on.execute(kernel(in(on, values), out), {256}, {128}); };
        if (!kernels::features_of(*on.state()).has_sub_groups) {
            EXPECT_THAT(message_of<trace_error>(launch), HasSubstr("emulated by barriers"));
            return;
        }
        launch();
        expect_each(out.read(), [&](std::size_t i) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
            return *std::max_element(first, first + 32);
        });
    });
}

TEST(G8_sub_groups, emulation_takes_local_memory_which_is_checked) {
    const auto kernel = balm::kernel<1>("much", [](In<double> in, Out<double> out, Local<char> rest) {
        Index i = global_id(0);
        rest[0] = 1;
        out[i] = shuffle_up(in[i], 1) + cast<double>(ballot(in[i] > 0));
    });
    const ir::function written =
        kernels::write_out_sub_groups(*kernel.function(), emit::dialect_of(runtime::dialect::opencl_c).has);
    const auto exchange = [](scalar of) {
        return runtime::parameter_origin{runtime::origin::exchange, static_cast<std::uint16_t>(of)};
    };
    EXPECT_THAT(ir::origins_of(written),
                testing::ElementsAre(runtime::parameter_origin{runtime::origin::user, 0},
                                     runtime::parameter_origin{runtime::origin::user, 1},
                                     runtime::parameter_origin{runtime::origin::user, 2},
                                     exchange(scalar::u32), exchange(scalar::f64)));
    const device small(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    auto a = small.in_buffer<double>(256);
    auto b = small.out_buffer<double>(256);
    const std::size_t room = small.info().local_memory - 12 * 256;
    small.execute(kernel(a, b, local<char>(room)), {256}, {256});
    EXPECT_THAT(
        message_of<usage_error>([&] { small.execute(kernel(a, b, local<char>(room + 1)), {256}, {256}); }),
        HasSubstr("local memory"));
}

}  // namespace
}  // namespace balm::test
