// Atomic operations in global and local memory, by thousands of work-items at once, against the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "emit/printer.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/printed.hpp"
#include "kernel/run.hpp"
#include "support/interpreter.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

constexpr std::size_t group_size = 64, all_items = 60 * group_size;

template <class T>
host_array<T> zeros(std::size_t n) {
    host_array<T> values{shape(n)};
    std::fill(values.begin(), values.end(), T(0));
    return values;
}
template <class T>
host_array<T> sorted(host_array<T> values) {
    std::sort(values.begin(), values.end());
    return values;
}

/// What one operation does to one element, as C++ says it.
struct operation {
    const char* name;
    ir::atomic_op what;
    bool on_floats, on_signed;
};
constexpr operation operations[] = {
    {"add", ir::atomic_op::add, true, true},           {"sub", ir::atomic_op::sub, true, true},
    {"exchange", ir::atomic_op::exchange, true, true}, {"min", ir::atomic_op::min, true, true},
    {"max", ir::atomic_op::max, true, true},           {"inc", ir::atomic_op::inc, false, false},
    {"dec", ir::atomic_op::dec, false, false},         {"and", ir::atomic_op::bit_and, false, true},
    {"or", ir::atomic_op::bit_or, false, true},        {"xor", ir::atomic_op::bit_xor, false, true},
};

template <class T, class E, class V>
Var<T> apply_atomic(ir::atomic_op what, E&& element, const V& value) {
    switch (what) {
        case ir::atomic_op::add: return atomic_add(std::forward<E>(element), value);
        case ir::atomic_op::sub: return atomic_sub(std::forward<E>(element), value);
        case ir::atomic_op::exchange: return atomic_exchange(std::forward<E>(element), value);
        case ir::atomic_op::min: return atomic_min(std::forward<E>(element), value);
        case ir::atomic_op::max: return atomic_max(std::forward<E>(element), value);
        default: break;
    }
    if constexpr (std::unsigned_integral<T>) {
        if (what == ir::atomic_op::inc) return atomic_inc(std::forward<E>(element), value);
        if (what == ir::atomic_op::dec) return atomic_dec(std::forward<E>(element), value);
    }
    if constexpr (std::integral<T>) {
        if (what == ir::atomic_op::bit_and) return atomic_and(std::forward<E>(element), value);
        if (what == ir::atomic_op::bit_or) return atomic_or(std::forward<E>(element), value);
        if (what == ir::atomic_op::bit_xor) return atomic_xor(std::forward<E>(element), value);
    }
    throw std::logic_error("no such operation");
}

template <class T>
T expected_after(ir::atomic_op what, T old, T value) {
    if constexpr (std::floating_point<T>) {
        switch (what) {
            case ir::atomic_op::add: return old + value;
            case ir::atomic_op::sub: return old - value;
            case ir::atomic_op::exchange: return value;
            case ir::atomic_op::min: return std::isnan(old) ? value : value < old ? value : old;
            default: return std::isnan(old) ? value : value > old ? value : old;
        }
    } else {
        using U = std::make_unsigned_t<T>;
        switch (what) {
            case ir::atomic_op::add: return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
            case ir::atomic_op::sub: return static_cast<T>(static_cast<U>(old) - static_cast<U>(value));
            case ir::atomic_op::exchange: return value;
            case ir::atomic_op::min: return std::min(old, value);
            case ir::atomic_op::max: return std::max(old, value);
            case ir::atomic_op::inc: return old >= value ? T(0) : static_cast<T>(old + 1);
            case ir::atomic_op::dec: return old == 0 || old > value ? value : static_cast<T>(old - 1);
            case ir::atomic_op::bit_and: return old & value;
            case ir::atomic_op::bit_or: return old | value;
            default: return old ^ value;
        }
    }
}

template <class T>
class A4_atomics_of : public testing::Test {
protected:
    static bool has(const operation& o) {
        if (std::floating_point<T>) return o.on_floats;
        return std::unsigned_integral<T> || o.on_signed;
    }
};
using atomic_types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(A4_atomics_of, atomic_types);

// Each work-item has an element of its own, so that the result is known for any value.
TYPED_TEST(A4_atomics_of, global_memory_do_what_they_say_to_any_value) {
    using T = TypeParam;
    auto random = seeded_random();
    const auto start = random_values<T>(random, all_items), values = random_values<T>(random, all_items);
    for (const operation& o : operations) {
        if (!this->has(o)) continue;
        SCOPED_TRACE(o.name);
        const auto kernel = balm::kernel<1>(std::string("atomic_of_own_") + o.name,
                                            [&](In<T> in, Mixed<T> elements, Out<T> before) {
                                                Index i = global_id(0);
                                                before[i] = apply_atomic<T>(o.what, elements[i], in[i]);
                                            });
        on_all_devices([&](const device& on) {
            auto elements = mixed(on, start);
            const auto before = run<T>(on, kernel, all_items, in(on, values), elements);
            expect_each(before, [&](std::size_t i) { return start[i]; });
            expect_each(elements.read(),
                        [&](std::size_t i) { return expected_after(o.what, start[i], values[i]); });
        });
    }
}

TYPED_TEST(A4_atomics_of, local_memory_do_what_they_say_to_any_value) {
    using T = TypeParam;
    auto random = seeded_random();
    const auto start = random_values<T>(random, all_items), values = random_values<T>(random, all_items);
    for (const operation& o : operations) {
        if (!this->has(o)) continue;
        SCOPED_TRACE(o.name);
        const auto kernel =
            balm::kernel<1>(std::string("atomic_of_local_") + o.name,
                            [&](In<T> first, In<T> in, Local<T> room, Out<T> before, Out<T> after) {
                                Index i = global_id(0), l = local_id(0), other = local_size(0) - 1 - l;
                                room[l] = first[i];
                                barrier();
                                Index partner = i - l + other;  // whose element this work-item changes
                                before[partner] = apply_atomic<T>(o.what, room[other], in[partner]);
                                barrier();
                                after[i] = room[l];
                            });
        on_all_devices([&](const device& on) {
            auto before = on.out_buffer<T>(all_items), after = on.out_buffer<T>(all_items);
            on.execute(kernel(in(on, start), in(on, values), local<T>(group_size), before, after),
                       {all_items}, {group_size});
            expect_each(before.read(), [&](std::size_t i) { return start[i]; });
            expect_each(after.read(),
                        [&](std::size_t i) { return expected_after(o.what, start[i], values[i]); });
        });
    }
}

// All work-items change the same few elements: what no order of the operations changes must come out.
TYPED_TEST(A4_atomics_of, many_work_items_lose_nothing) {
    using T = TypeParam;
    constexpr int slots = 3;
    auto random = seeded_random();
    // Small whole numbers, which floats add exactly in any order.
    const auto values = random_values<T>(random, all_items, T(0), T(1000));
    host_array<T> whole{shape(all_items)};
    for (std::size_t i = 0; i < all_items; ++i)
        whole[i] = static_cast<T>(static_cast<std::int64_t>(values[i]));
    host_array<T> sums = zeros<T>(slots), least = sums, most = sums;
    std::fill(least.begin(), least.end(), std::numeric_limits<T>::max());
    for (std::size_t i = 0; i < all_items; ++i) {
        sums[i % slots] += whole[i];
        least[i % slots] = std::min(least[i % slots], whole[i]);
        most[i % slots] = std::max(most[i % slots], whole[i]);
    }
    const auto global_kernel = balm::kernel<1>(
        "in_global_memory", [](In<T> in, Mixed<T> sum, Mixed<T> low, Mixed<T> high, Mixed<T> none) {
            Index i = global_id(0), s = i % 3;
            atomic_add(sum[s], in[i]);
            atomic_min(low[s], in[i]);
            atomic_max(high[s], in[i]);
            atomic_add(none[s], in[i]);
            atomic_sub(none[s], in[i]);
        });
    const auto local_kernel = balm::kernel<1>(
        "in_local_memory", [](In<T> in, Mixed<T> sum, Mixed<T> low, Mixed<T> high, Local<T> room) {
            Index i = global_id(0), l = local_id(0);
            IF (l < 9) {
                room[l] = T(0);
                IF (l >= 3 && l < 6) {
                    room[l] = std::numeric_limits<T>::max();
                }
            }
            barrier();
            Index s = i % 3;
            atomic_add(room[s], in[i]);
            atomic_min(room[3 + s], in[i]);
            atomic_max(room[6 + s], in[i]);
            barrier();
            IF (l < 3) {
                atomic_add(sum[l], room[l]);
                atomic_min(low[l], room[3 + l]);
                atomic_max(high[l], room[6 + l]);
            }
        });
    on_all_devices([&](const device& on) {
        host_array<T> zero = zeros<T>(slots), top = zero;
        std::fill(top.begin(), top.end(), std::numeric_limits<T>::max());
        for (const bool in_local : {false, true}) {
            SCOPED_TRACE(in_local ? "local" : "global");
            auto sum = mixed(on, zero), low = mixed(on, top), high = mixed(on, zero), none = mixed(on, zero);
            if (in_local)
                on.execute(local_kernel(in(on, whole), sum, low, high, local<T>(9)), {all_items},
                           {group_size});
            else
                on.execute(global_kernel(in(on, whole), sum, low, high, none), {all_items}, {group_size});
            EXPECT_EQ(sum.read(), sums);
            EXPECT_EQ(low.read(), least);
            EXPECT_EQ(high.read(), most);
            EXPECT_EQ(none.read(), zero);
        }
    });
}

// An exchanged value is handed on: what came out, with what is left, is what went in, each once.
TYPED_TEST(A4_atomics_of, exchanged_values_are_neither_lost_nor_doubled) {
    using T = TypeParam;
    const auto kernel = balm::kernel<1>("hand_on", [](Mixed<T> slot, Out<T> seen) {
        Index i = global_id(0);
        seen[i] = atomic_exchange(slot[0], cast<T>(i + 1));
    });
    on_all_devices([&](const device& on) {
        auto slot = mixed(on, zeros<T>(1));
        host_array<T> all{shape(all_items + 1)};
        const auto seen = run<T>(on, kernel, all_items, slot);
        std::copy(seen.begin(), seen.end(), all.begin());
        all[all_items] = slot.read()[0];
        expect_each(sorted(all), [](std::size_t i) { return static_cast<T>(i); });
    });
}

// Compare and exchange, in a loop, is any operation: here, doubling and adding 1 modulo a prime.
TYPED_TEST(A4_atomics_of, compare_exchange_makes_other_operations) {
    using T = TypeParam;
    const auto kernel = balm::kernel<1>("add_by_compare", [](Mixed<T> total, Mixed<T> tries) {
        Var<T> seen = total[0], held = T(-1);
        WHILE (held != seen) {
            held = seen;
            seen = atomic_compare_exchange(total[0], held, held + 1);
            atomic_add(tries[0], 1);
        }
    });
    on_all_devices([&](const device& on) {
        auto total = mixed(on, zeros<T>(1)), tries = mixed(on, zeros<T>(1));
        on.execute(kernel(total, tries), {all_items}, {group_size});
        EXPECT_EQ(total.read()[0], T(all_items));
        EXPECT_GE(tries.read()[0], T(all_items));
    });
}

TYPED_TEST(A4_atomics_of, loads_and_stores_are_whole) {
    using T = TypeParam;
    const auto kernel = balm::kernel<1>("copies", [](In<T> in, Mixed<T> x, Local<T> room, Out<T> out) {
        Index i = global_id(0), l = local_id(0);
        atomic_store(x[i], in[i]);
        atomic_store(room[l], atomic_load(x[i]));
        barrier();
        out[i] = atomic_load(room[local_size(0) - 1 - l]);
    });
    auto random = seeded_random();
    const auto values = random_values<T>(random, all_items);
    on_all_devices([&](const device& on) {
        auto x = mixed(on, zeros<T>(all_items));
        auto out = on.out_buffer<T>(all_items);
        on.execute(kernel(in(on, values), x, local<T>(group_size), out), {all_items}, {group_size});
        expect_each(x.read(), [&](std::size_t i) { return values[i]; });
        expect_each(out.read(), [&](std::size_t i) {
            return values[i / group_size * group_size + group_size - 1 - i % group_size];
        });
    });
}

TEST(A4_atomics, tickets_are_each_given_once) {
    const auto kernel = balm::kernel<1>("tickets", [](Mixed<int> counter, Out<int> ticket) {
        ticket[global_id(0)] = atomic_inc(counter[0]);
    });
    const auto back = balm::kernel<1>("tickets_back", [](Mixed<int> counter, Out<int> ticket) {
        ticket[global_id(0)] = atomic_dec(counter[0]);
    });
    on_all_devices([&](const device& on) {
        auto counter = mixed(on, zeros<int>(1));
        expect_each(sorted(run<int>(on, kernel, all_items, counter)), [](std::size_t i) { return int(i); });
        EXPECT_EQ(counter.read()[0], int(all_items));
        expect_each(sorted(run<int>(on, back, all_items, counter)), [](std::size_t i) { return int(i) + 1; });
        EXPECT_EQ(counter.read()[0], 0);
    });
}

template <class T>
void count_in_a_ring() {
    const auto kernel =
        balm::kernel<1>("ring", [](Var<T> limit, Mixed<T> up, Mixed<T> down, Out<T> u, Out<T> d) {
            Index i = global_id(0);
            u[i] = atomic_inc(up[0], limit);
            d[i] = atomic_dec(down[0], limit);
        });
    on_all_devices([&](const device& on) {
        const T limit = 6;
        auto up = mixed(on, zeros<T>(1)), down = mixed(on, zeros<T>(1));
        auto u = on.out_buffer<T>(all_items), d = on.out_buffer<T>(all_items);
        on.execute(kernel(limit, up, down, u, d), {all_items});
        std::map<T, std::size_t> expected, ups, downs;
        for (std::size_t i = 0; i < all_items; ++i) ++expected[static_cast<T>(i % 7)];
        for (const T seen : u.read()) ++ups[seen];
        EXPECT_EQ(ups, expected);
        EXPECT_EQ(up.read()[0], static_cast<T>(all_items % 7));
        // Down from 0: 6, 5 … 0, 6; what was seen begins with 0.
        expected.clear();
        for (std::size_t i = 0; i < all_items; ++i) ++expected[static_cast<T>((7 - i % 7) % 7)];
        for (const T seen : d.read()) ++downs[seen];
        EXPECT_EQ(downs, expected);
    });
}
TEST(A4_atomics, counters_wrap_at_their_limit) {
    count_in_a_ring<std::uint32_t>();
    count_in_a_ring<std::uint64_t>();
}

TEST(A4_atomics, make_a_histogram) {
    const auto kernel = balm::kernel<1>("histogram", [](In<unsigned char> bytes, Mixed<int> counts) {
        for (Index i : grid_range(24000)) atomic_add(counts[bytes[i]], 1);
    });
    auto random = seeded_random();
    const auto bytes = random_values<unsigned char>(random, 24000);
    std::map<int, int> expected;
    for (const int b : bytes) ++expected[b];
    on_all_devices([&](const device& on) {
        auto counts = mixed(on, zeros<int>(256));
        on.execute(kernel(in(on, bytes), counts), {1000});
        expect_each(counts.read(), [&](std::size_t i) { return expected[int(i)]; });
    });
}

template <class T>
void compare_bits() {
    using limits = std::numeric_limits<T>;
    const T nan = limits::quiet_NaN();
    // element, expected, value -> after
    const T cases[][4] = {{T(0), T(-0.0), T(1), T(0)},
                          {T(-0.0), T(-0.0), T(1), T(1)},
                          {nan, nan, T(2), T(2)},
                          {T(3), nan, T(2), T(3)},
                          {limits::infinity(), limits::infinity(), nan, nan}};
    const auto exchange = balm::kernel<1>("bits", [](In<T> expected, In<T> value, Mixed<T> elements) {
        Index i = global_id(0);
        atomic_compare_exchange(elements[i], expected[i], value[i]);
    });
    const auto extremes = balm::kernel<1>("nans", [](In<T> value, Mixed<T> low, Mixed<T> high) {
        Index i = global_id(0);
        atomic_min(low[i], value[i]);
        atomic_max(high[i], value[i]);
    });
    host_array<T> before{shape(5)}, expected{shape(5)}, value{shape(5)}, after{shape(5)};
    for (std::size_t i = 0; i < 5; ++i) {
        before[i] = cases[i][0];
        expected[i] = cases[i][1];
        value[i] = cases[i][2];
        after[i] = cases[i][3];
    }
    on_all_devices([&](const device& on) {
        auto elements = mixed(on, before);
        on.execute(exchange(in(on, expected), in(on, value), elements), {5});
        expect_each(elements.read(), [&](std::size_t i) { return after[i]; });
        host_array<T> start{shape(2)}, given{shape(2)};
        start[0] = given[1] = nan;
        start[1] = given[0] = T(7);
        auto low = mixed(on, start), high = mixed(on, start);
        on.execute(extremes(in(on, given), low, high), {2});
        expect_each(low.read(), [](std::size_t) { return T(7); });
        expect_each(high.read(), [](std::size_t) { return T(7); });
    });
}
TEST(A4_atomics, of_floats_compare_bits_and_pass_over_NaN) {
    compare_bits<float>();
    compare_bits<double>();
}

TEST(A4_atomics, are_neither_shared_nor_moved_nor_dropped) {
    const auto kernel = balm::kernel<1>("order", [](Mixed<int> x, Out<int> out) {
        Int before = x[0];
        atomic_add(x[0], 5);
        atomic_add(x[0], 5);
        Int after = x[0];
        atomic_add(x[0], 1);
        out[0] = before;
        out[1] = after;
        out[2] = x[0];
    });
    on_all_devices([&](const device& on) {
        auto x = mixed(on, zeros<int>(1));
        auto out = on.out_buffer<int>(3);
        on.execute(kernel(x, out), {1});
        EXPECT_THAT(out.read(), testing::ElementsAre(0, 10, 11));
    });
}

TEST(A4_atomics, guarded_ones_happen_where_the_guard_holds) {
    const auto kernel = balm::kernel<1>("guarded", [](Mixed<int> taken, Out<int> out) {
        Int i = cast<int>(global_id(0));
        out[i] = 0;
        IF (i % 3 == 0 && atomic_add(taken[0], 1) < 10) {
            out[i] = 1;
        }
    });
    on_all_devices([&](const device& on) {
        auto taken = mixed(on, zeros<int>(1));
        const auto out = run<int>(on, kernel, 300, taken);
        EXPECT_EQ(taken.read()[0], 100);
        EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), 10);
    });
}

TEST(A4_atomics, through_pointers_and_in_local_arrays) {
    const auto kernel = balm::kernel<1>("through_pointers", [](In<int> in, Mixed<int> total) {
        LocalArray<int, 4> own;
        Index i = global_id(0), l = local_id(0);
        IF (l < 4) {
            own[l] = 0;
        }
        barrier();
        atomic_add(own[in[i] & 3], 1);
        barrier();
        IF (l < 4) {
            Ptr<int> to = total.data() + l;
            atomic_add(*to, own[l]);
            atomic_max(to[4], own[l]);
        }
    });
    auto random = seeded_random();
    const auto values = random_values<int>(random, all_items);
    std::vector<int> expected(8), part(4);
    for (std::size_t i = 0; i < all_items; ++i) {
        if (i % group_size == 0) std::fill(part.begin(), part.end(), 0);
        const auto slot = static_cast<std::size_t>(values[i] & 3);
        ++expected[slot];
        ++part[slot];
        if (i % group_size == group_size - 1)
            for (std::size_t k = 0; k < 4; ++k) expected[4 + k] = std::max(expected[4 + k], part[k]);
    }
    on_all_devices([&](const device& on) {
        auto total = mixed(on, zeros<int>(8));
        on.execute(kernel(in(on, values), total), {all_items}, {group_size});
        expect_each(total.read(), [&](std::size_t k) { return expected[k]; });
    });
}

TEST(A4_atomics, in_functions) {
    const auto take = balm::function(
        "take(counter, step)", [](Mixed<int> counter, Int step) { return atomic_add(counter[0], step); });
    const auto kernel = balm::kernel<1>("through_function", [&](Mixed<int> counter, Out<int> ticket) {
        Int step = 2, first = take(counter, step);
        ticket[global_id(0)] = first + take(counter, step);
    });
    on_all_devices([&](const device& on) {
        auto counter = mixed(on, zeros<int>(1));
        const auto tickets = run<int>(on, kernel, all_items, counter);
        EXPECT_EQ(counter.read()[0], 4 * int(all_items));
        const std::int64_t sum = std::accumulate(tickets.begin(), tickets.end(), std::int64_t{0});
        EXPECT_EQ(sum, std::int64_t{2 * all_items} * (2 * all_items - 1));
    });
}

TEST(A4_atomics, the_interpreter_agrees) {
    auto random = seeded_random();
    const auto start = random_values<std::int64_t>(random, 9),
               values = random_values<std::int64_t>(random, 200);
    const auto kernel = balm::kernel<1>("mixture", [](In<std::int64_t> in, Mixed<std::int64_t> x) {
        Index i = global_id(0);
        atomic_add(x[0], in[i]);
        atomic_sub(x[1], in[i]);
        atomic_min(x[2], in[i]);
        atomic_max(x[3], in[i]);
        atomic_and(x[4], in[i] | 1);
        atomic_or(x[5], in[i]);
        atomic_xor(x[6], in[i]);
        atomic_inc(x[7]);
        atomic_store(x[8], atomic_load(x[8]) * 0 + 5);
    });
    std::vector<std::int64_t> given(values.begin(), values.end()), expected(start.begin(), start.end());
    const interpreter_argument arguments[] = {memory_of(given), memory_of(expected)};
    interpret(*kernel.function(), {{200, 1, 1}, {1, 1, 1}}, arguments);
    on_all_devices([&](const device& on) {
        auto x = mixed(on, start);
        on.execute(kernel(in(on, values), x), {200});
        expect_each(x.read(), [&](std::size_t i) { return expected[i]; });
    });
}

// ---- what is printed

TEST(A4_atomics, share_memory_so_that_nothing_written_is_restrict) {
    const auto kernel =
        balm::kernel<1>("shares(in, x)", [](In<int> in, Mixed<int> x) { atomic_add(x[0], in[0]); });
    EXPECT_THAT(printed(kernel.function(), runtime::dialect::opencl_c),
                HasSubstr("shares(global const int* restrict in, global int* x)"));
}

}  // namespace
}  // namespace balm::test
