// Barriers that whole groups step over, in branches and behind jumps, with stores under conditions of each
// work-item's own between them: PoCL 3.1's optimiser makes wrong code of that. One text says what a group
// does; the kernel language reads it, and so do numbers of the host. And reductions whose step changes from
// turn to turn, of which it made wrong code, too.

#include <fmt/format.h>
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

/// Reductions of a group to its least value, with a step that changes from turn to turn. The branches that
/// end at a barrier, and those that begin behind one, are those of some work-items only.
constexpr int reduced = 256;

template <class Turns>
auto least_of(const char* name, Turns&& turns) {
    return balm::kernel<1>(name, [&](In<int> in, Out<int> out) {
        LocalArray<int, reduced> values;
        const Int t = cast<int>(local_id(0));
        values[t] = in[global_id(0)];
        local_barrier();
        turns(t, [&](const Bool& takes_part, const Int& step) {
            IF (takes_part) {
                values[t] = min(Int(values[t]), Int(values[t + step]));
            }
            local_barrier();
        });
        IF (t == 0) {
            out[group_id(0)] = values[0];
        }
    });
}

constexpr const char* least_as_text = R"(
kernel void least(global const int* in, global int* out) {
    local int values[256];
    int t = (int)get_local_id(0);
    values[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int step = FIRST;
    while (CONDITION) {
        if (TAKES_PART) values[t] = min(values[t], values[t + step]);
        barrier(CLK_LOCAL_MEM_FENCE);
        step = NEXT;
    }
    if (t == 0) out[get_group_id(0)] = values[0];
}
)";

TEST(A4_barriers, end_the_turns_of_reductions_whatever_the_step) {
    const auto doubling = least_of("doubling", [](const Int& t, auto&& turn) {
        Int step = 1;
        WHILE (step < cast<int>(local_size(0))) {
            turn(t % (2 * step) == 0, step);
            step *= 2;
        }
    });
    const auto halving = least_of("halving", [](const Int& t, auto&& turn) {
        Int step = cast<int>(local_size(0)) / 2;
        WHILE (step > 0) {
            turn(t < step, step);
            step /= 2;
        }
    });
    const auto known = least_of("known", [](const Int& t, auto&& turn) {
        Int step = 1;
        WHILE (step < reduced) {
            turn(t % (2 * step) == 0, step);
            step *= 2;
        }
    });
    const auto subtracting = least_of("subtracting", [](const Int& t, auto&& turn) {
        Int step = cast<int>(local_size(0)) - 1;
        WHILE (step > 0) {
            turn(t == 0, step);
            step -= 1;
        }
    });
    const auto nested = least_of("nested", [](const Int& t, auto&& turn) {
        Int wide = 1;
        WHILE (wide < cast<int>(local_size(0))) {
            Int step = wide;
            WHILE (step < 16 * wide) {
                turn(t % (2 * step) == 0, step);
                step *= 2;
            }
            wide *= 16;
        }
    });
    struct text_form {
        const char *first, *condition, *takes_part, *next;
    };
    constexpr text_form texts[] = {
        {"1", "step < (int)get_local_size(0)", "t % (2 * step) == 0", "step * 2"},
        {"(int)get_local_size(0) / 2", "step > 0", "t < step", "step / 2"},
        {"(int)get_local_size(0) - 1", "step > 0", "t == 0", "step - 1"},
    };
    const std::size_t groups = 3;
    std::vector<int> numbers(groups * reduced);
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<int>(k * 7919 % 10007) - 5000;
    std::vector<int> expected;
    for (std::size_t g = 0; g < groups; ++g) {
        const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(g * reduced);
        expected.push_back(*std::min_element(begin, begin + reduced));
    }
    on_all_devices([&](const device& on) {
        const auto check = [&](const auto& kernel) {
            auto out = on.out_buffer<int>(groups);
            on.execute(kernel(in(on, host_array<int>(numbers)), out), {groups * reduced}, {reduced});
            EXPECT_EQ(out.read(), host_array<int>(expected));
        };
        for (const auto& kernel : {doubling, halving, known, subtracting, nested}) check(kernel);
        for (const text_form& form : texts)
            check(balm::source_kernel<1, void(In<int>, Out<int>)>(
                "least", fmt::format("#define FIRST {}\n#define CONDITION {}\n#define TAKES_PART {}\n"
                                     "#define NEXT {}\n{}",
                                     form.first, form.condition, form.takes_part, form.next, least_as_text)));
    });
}

}  // namespace

}  // namespace balm::test
