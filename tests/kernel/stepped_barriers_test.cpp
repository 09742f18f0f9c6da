// Barriers that whole groups step over, in branches and behind jumps, with stores under conditions of each
// work-item's own between them: PoCL 3.1's optimiser makes wrong code of that. One text says what a group
// does; the kernel language reads it, and so do numbers of the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

constexpr int turn_count = 4, slots = 2 * turn_count + 1;

/// What a group does.
template <class Group>
void step_over_barriers(Group& g) {
    for (int repeat = 0; repeat < 2; ++repeat)
        g.each_turn([&](const auto& turn) {
            g.either(
                g.bit(turn),
                [&] {
                    g.pass_on(1);
                    g.store(2 * turn);
                    g.pass_on(2);
                    g.store(2 * turn + 1);
                },
                [&] {
                    g.pass_on(3);
                    g.store(2 * turn + 1);
                });
        });
    g.each_turn([&](const auto& turn) {
        g.go_on_if(g.bit(turn));
        g.pass_on(5);
        g.store(2 * turn);
        g.leave_if(g.bit(turn + 1));
        g.pass_on(7);
    });
    g.end_if(g.bit(2));
    g.pass_on(4);
    g.store(2 * turn_count);
}

struct traced_group {
    Int item, size, way, value;
    Index first;
    Mixed<int> out;
    Local<int> room;

    Bool bit(const Int& k) const { return (way >> k & 1) != 0; }
    Bool bit(int k) const { return bit(Int(k)); }
    template <class F>
    void each_turn(F&& f) {
        for (Int turn : range(Int(0), turn_count)) f(turn);
    }
    template <class F, class G>
    void either(const Bool& condition, F&& then, G&& otherwise) {
        IF (condition) {
            then();
        }
        ELSE { otherwise(); }
    }
    void go_on_if(const Bool& condition) {
        IF (condition) {
            continue_();
        }
    }
    void leave_if(const Bool& condition) {
        IF (condition) {
            break_();
        }
    }
    void end_if(const Bool& condition) {
        IF (condition) {
            return_();
        }
    }
    void pass_on(int distance) {
        room[item] = value;
        local_barrier();
        value = room[(item + distance) % size] + distance;
        local_barrier();
    }
    void store(const Int& slot) {
        IF (item % 3 != 0) {
            out[first + cast<std::int64_t>(slot * size + item)] += value;
        }
    }
};

struct host_group {
    int way;
    std::vector<int> values, out;
    enum class goes : std::uint8_t { on, to_the_next_turn, out_of_the_loop, home } where = goes::on;

    bool bit(int k) const { return (way >> k & 1) != 0; }
    template <class F>
    void each_turn(F&& f) {
        for (int turn = 0; turn < turn_count && (where == goes::on || where == goes::to_the_next_turn);
             ++turn) {
            where = goes::on;
            f(turn);
        }
        if (where != goes::home) where = goes::on;
    }
    template <class F, class G>
    void either(bool condition, F&& then, G&& otherwise) {
        condition ? then() : otherwise();
    }
    void jump_if(bool condition, goes to) {
        if (where == goes::on && condition) where = to;
    }
    void go_on_if(bool condition) { jump_if(condition, goes::to_the_next_turn); }
    void leave_if(bool condition) { jump_if(condition, goes::out_of_the_loop); }
    void end_if(bool condition) { jump_if(condition, goes::home); }
    void pass_on(int distance) {
        if (where != goes::on) return;
        const std::vector<int> room = values;
        for (std::size_t k = 0; k < room.size(); ++k)
            values[k] = room[(k + static_cast<std::size_t>(distance)) % room.size()] + distance;
    }
    void store(int slot) {
        if (where != goes::on) return;
        for (std::size_t k = 0; k < values.size(); ++k)
            if (k % 3 != 0) out[static_cast<std::size_t>(slot) * values.size() + k] += values[k];
    }
};

TEST(A4_barriers, may_be_stepped_over_by_the_whole_group) {
    const auto kernel = balm::kernel<1>("steps_over", [](In<int> ways, Mixed<int> out, Local<int> room) {
        const Int item = cast<int>(local_id(0)), size = cast<int>(local_size(0));
        traced_group group{item, size, ways[group_id(0)], item, group_id(0) * slots * local_size(0),
                           out,  room};
        step_over_barriers(group);
    });
    host_array<int> ways(32);
    std::iota(ways.begin(), ways.end(), 0);
    on_all_devices([&](const device& on) {
        for (const std::size_t size : {1, 32, 33, 100}) {
            SCOPED_TRACE(size);
            auto out = on.mixed_buffer<int>(ways.size() * slots * size);
            out.write(std::vector<int>(out.size()));
            on.execute(kernel(in(on, ways), out, local<int>(size)), {ways.size() * size}, {size});
            const auto got = out.read();
            for (std::size_t g = 0; g < ways.size(); ++g) {
                host_group expected{ways[g], std::vector<int>(size), std::vector<int>(slots * size)};
                std::iota(expected.values.begin(), expected.values.end(), 0);
                step_over_barriers(expected);
                const auto begin = got.begin() + static_cast<std::ptrdiff_t>(g * slots * size);
                EXPECT_TRUE(std::equal(expected.out.begin(), expected.out.end(), begin)) << "way " << ways[g];
            }
        }
    });
}

}  // namespace

}  // namespace balm::test
