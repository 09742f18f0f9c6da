// IF, WHILE, range, jumps and guards against the same statements in C++, on random numbers.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "emit/printer.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/printed.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;
using testing::Not;

using ints = host_array<std::int32_t>;

/// Runs a kernel of (In<int> a, In<int> b, Out<int> out) on small random numbers and compares with the host's
/// expected(a, b).
template <class Kernel, class Expected>
void expect_as_on_host(const Kernel& kernel, Expected&& expected) {
    auto random = seeded_random();
    const ints a = random_values<std::int32_t>(random, some_items, -9, 9);
    const ints b = random_values<std::int32_t>(random, some_items, -9, 9);
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, some_items, in(on, a), in(on, b)),
                    [&](std::size_t i) { return expected(a[i], b[i]); });
    });
}

template <class F>
auto kernel_of_two(const char* name, F body) {
    return balm::kernel<1>(name, [body](In<std::int32_t> as, In<std::int32_t> bs, Out<std::int32_t> out) {
        Index i = global_id(0);
        Int a = as[i], b = bs[i], r = 0;
        body(a, b, r);
        out[i] = r;
    });
}

TEST(C13_branches, chains_of_IF_ELIF_ELSE_take_one_way) {
    expect_as_on_host(kernel_of_two("chain",
                                    [](Int a, Int b, Int& r) {
                                        IF (a > 5) {
                                            r = 1;
                                        }
                                        ELIF (a > 2 && b > 0) {
                                            r = 2;
                                        }
                                        ELIF (b == a) {
                                            r = 3;
                                            IF (a < 0) {
                                                r += 10;
                                            }
                                            ELSE { r += 20; }
                                        }
                                        ELSE { r = 4; }
                                        r *= 2;
                                    }),
                      [](int a, int b) {
                          const int r = a > 5 ? 1 : a > 2 && b > 0 ? 2 : b == a ? 3 + (a < 0 ? 10 : 20) : 4;
                          return 2 * r;
                      });
}

TEST(C13_branches, an_ELSE_with_two_IFs_is_no_chain) {
    expect_as_on_host(kernel_of_two("two_in_else",
                                    [](Int a, Int b, Int& r) {
                                        IF (a > 0) {
                                            r = 1;
                                        }
                                        ELSE {
                                            IF (b > 0) {
                                                r += 10;
                                            }
                                            IF (b > 3) {
                                                r += 100;
                                            }
                                        }
                                    }),
                      [](int a, int b) { return a > 0 ? 1 : (b > 0 ? 10 : 0) + (b > 3 ? 100 : 0); });
}

TEST(C13_branches, an_ELSE_with_an_IF_and_a_loop_is_no_chain) {
    expect_as_on_host(kernel_of_two("if_and_loop_in_else",
                                    [](Int a, Int b, Int& r) {
                                        IF (a > 0) {
                                            r = 1;
                                        }
                                        ELSE {
                                            IF (b > 0) {
                                                r += 10;
                                            }
                                            ELSE { r += 20; }
                                            for (Int k : range(3)) r += k;
                                            IF (b > 3) {
                                                r += 100;
                                            }
                                            ELSE { r += 200; }
                                        }
                                    }),
                      [](int a, int b) { return a > 0 ? 1 : (b > 0 ? 10 : 20) + 3 + (b > 3 ? 100 : 200); });
}

TEST(C13_branches, ELSE_binds_to_the_nearest_IF) {
    expect_as_on_host(kernel_of_two("dangling",
                                    [](Int a, Int b, Int& r) {
                                        IF (a > 0) {
                                            IF (b > 0) r = 1;
                                            ELSE r = 2;
                                        }
                                        IF (a < 0) {
                                            IF (b < 0) {
                                                r = 3;
                                            }
                                        }
                                        ELSE { r += 40; }
                                    }),
                      [](int a, int b) {
                          return (a > 0 ? b > 0 ? 1 : 2 : a < 0 && b < 0 ? 3 : 0) + (a < 0 ? 0 : 40);
                      });
}

TEST(C13_branches, host_if_and_device_IF_mix) {
    for (const bool flag : {false, true}) {
        expect_as_on_host(kernel_of_two("mixed_if",
                                        [flag](Int a, Int b, Int& r) {
                                            if (flag) {
                                                IF (a > 0) r = 1;
                                                ELSE r = 2;
                                            } else
                                                r = 3;
                                            IF (b > 0) {
                                                if (flag)
                                                    r += 10;
                                                else
                                                    r += 20;
                                            }
                                            ELSE {
                                                if (flag)
                                                    r += 30;
                                                else
                                                    r += 40;
                                            }
                                        }),
                          [flag](int a, int b) {
                              const int r = flag ? a > 0 ? 1 : 2 : 3;
                              return r + (b > 0 ? flag ? 10 : 20 : flag ? 30 : 40);
                          });
    }
}

TEST(C13_branches, numbers_count_as_true_unless_zero) {
    expect_as_on_host(kernel_of_two("truth",
                                    [](Int a, Int b, Int& r) {
                                        IF (a) {
                                            r = 1;
                                        }
                                        IF (!b) {
                                            r += 2;
                                        }
                                        WHILE (a & 3) {
                                            a += 1;
                                            r += 4;
                                        }
                                    }),
                      [](int a, int b) {
                          int r = a ? 1 : 0;
                          if (!b) r += 2;
                          for (; a & 3; ++a) r += 4;
                          return r;
                      });
}

/// IF in IF, each a bit harder to enter.
void nested(int levels, int level, const Int& a, const Int& b, Int& r) {
    if (level == levels) return;
    IF (a * 11 + b > level) {
        r += level * 3 + 1;
        nested(levels, level + 1, a, b, r);
    }
}
Int chained(int levels, const Int& a, const Int& b) {
    Int r = -1;
    const std::function<void(int)> chain = [&](int level) {
        IF (a * 11 + b == level) {
            r = level * 3;
        }
        ELSE {
            if (level + 1 < levels)
                chain(level + 1);
            else
                r -= b;
        }
    };
    chain(0);
    return r;
}

TEST(C13_branches, stand_in_each_other_as_deep_as_is_allowed) {
    constexpr int levels = ir::max_nesting;
    expect_as_on_host(kernel_of_two("nested", [](Int a, Int b, Int& r) { nested(levels, 0, a, b, r); }),
                      [](int a, int b) {
                          int r = 0;
                          for (int level = 0; level < levels && a * 11 + b > level; ++level)
                              r += level * 3 + 1;
                          return r;
                      });
    expect_as_on_host(kernel_of_two("chained", [](Int a, Int b, Int& r) { r = chained(levels, a, b); }),
                      [](int a, int b) {
                          const int level = a * 11 + b;
                          return level >= 0 && level < levels ? level * 3 : -1 - b;
                      });
}

TEST(C13_branches, if_else_runs_only_the_chosen_function) {
    const auto kernel =
        balm::kernel<1>("lazy", [](In<std::int32_t> a, In<std::int32_t>, Out<std::int32_t> out) {
            Index i = global_id(0);
            Int before = if_else(
                i > 0, [&] { return Int(a[i - 1]); }, [&] { return Int(-1); });
            out[i] = before;
        });
    auto random = seeded_random();
    const ints a = random_values<std::int32_t>(random, some_items);
    on_all_devices([&](const device& on) {
        const auto memory = in(on, a);
        expect_each(run<std::int32_t>(on, kernel, some_items, memory, memory),
                    [&](std::size_t i) { return i > 0 ? a[i - 1] : -1; });
    });
}

TEST(C13_branches, select_takes_values_of_the_common_type) {
    static_assert(std::same_as<decltype(select(Bool(), Int(), 2.5)), Double>);
    static_assert(std::same_as<decltype(select(Bool(), 1.f, Double())), Double>);
    static_assert(std::same_as<decltype(select(Bool(), Char(), 1)), Char>);
    static_assert(std::same_as<decltype(select(Bool(), 1, 2)), Int>);
    expect_as_on_host(
        kernel_of_two("choose", [](Int a, Int b, Int& r) { r = select(a > b, a, 7) + select(b, 1, 0); }),
        [](int a, int b) { return (a > b ? a : 7) + (b ? 1 : 0); });
}

// ---- loops ------------------------------------------------------------------------------------------

TEST(C13_loops, WHILE_with_break_continue_and_nesting) {
    expect_as_on_host(kernel_of_two("loops",
                                    [](Int a, Int b, Int& r) {
                                        Int x = 20;
                                        WHILE (x > a) {
                                            x -= 1;
                                            IF (x % 3 == 0) {
                                                continue_();
                                            }
                                            IF (x == b) {
                                                break_();
                                            }
                                            for (Int k : range(5)) {
                                                IF (k > b) {
                                                    break_();
                                                }
                                                IF (k % 2 == 1) {
                                                    continue_();
                                                }
                                                r += k * x;
                                            }
                                            r += 1;
                                        }
                                        r = r * 100 + x;
                                    }),
                      [](int a, int b) {
                          int x = 20, r = 0;
                          while (x > a) {
                              x -= 1;
                              if (x % 3 == 0) continue;
                              if (x == b) break;
                              for (int k = 0; k < 5; ++k) {
                                  if (k > b) break;
                                  if (k % 2 == 1) continue;
                                  r += k * x;
                              }
                              r += 1;
                          }
                          return r * 100 + x;
                      });
}

TEST(C13_loops, a_condition_may_have_effects) {
    expect_as_on_host(kernel_of_two("effects_in_conditions",
                                    [](Int a, Int b, Int& r) {
                                        Int x = a;
                                        WHILE (x++ < b) {
                                            r += x;
                                        }
                                        r = r * 50 + x;
                                    }),
                      [](int a, int b) {
                          int x = a, r = 0;
                          while (x++ < b) r += x;
                          return r * 50 + x;
                      });
}

TEST(C13_loops, range_counts_with_any_step) {
    expect_as_on_host(kernel_of_two("steps",
                                    [](Int a, Int b, Int& r) {
                                        for (Int k : range(a)) r += k;
                                        for (Int k : range(a, b)) r += 3 * k;
                                        for (Int k : range(b, a, -2)) r += 5 * k;
                                        for (Int k : range(0, 30, 7)) r += 7 * k;
                                        for (Int k : range(10, -10, -3)) r += 11 * k;
                                        Int step = select(a > 0, 2, -3);
                                        for (Int k : range(a, b, step)) r += 13 * k;
                                    }),
                      [](int a, int b) {
                          int r = 0;
                          for (int k = 0; k < a; ++k) r += k;
                          for (int k = a; k < b; ++k) r += 3 * k;
                          for (int k = b; k > a; k -= 2) r += 5 * k;
                          for (int k = 0; k < 30; k += 7) r += 7 * k;
                          for (int k = 10; k > -10; k -= 3) r += 11 * k;
                          const int step = a > 0 ? 2 : -3;
                          for (int k = a; step > 0 ? k < b : k > b; k += step) r += 13 * k;
                          return r;
                      });
}

/// How many turns a loop takes, and the sum of its counters, in wide numbers.
template <class T>
std::pair<int, std::uint64_t> counted_on_host(T begin, T end, T step) {
    __extension__ using wide = __int128;
    int turns = 0;
    std::uint64_t sum = 0;
    for (wide k = begin; step > 0 ? k < wide(end) : k > wide(end); k += step) {
        ++turns;
        sum += static_cast<std::uint64_t>(k);
    }
    return {turns, sum};
}

template <class V>
void expect_ranges_to_end() {
    using T = typename V::value_type;
    using limits = std::numeric_limits<T>;
    constexpr T most = limits::max(), least = limits::min();
    struct bounds {
        T begin, end, step;
    };
    std::vector<bounds> all{
        {T(most - 15), most, T(4)},    {T(most - 1), most, most}, {least, most, T(most / 3 + 1)},
        {T(most - 3), most, T(2)},     {most, most, T(7)},        {T(most - 9), T(most - 2), T(5)},
        {T(0), most, T(most / 2 + 1)}, {least, most, most}};
    if (limits::is_signed)
        for (const bounds& each : std::vector<bounds>(all))
            all.push_back({T(-1 - each.begin), T(-1 - each.end), T(-each.step)});
    if (limits::is_signed) all.push_back({most, least, least});
    std::vector<T> begins, ends, steps;
    for (const bounds& each : all) {
        begins.push_back(each.begin);
        ends.push_back(each.end);
        steps.push_back(each.step);
    }
    const auto kernel = balm::kernel<1>(
        "ends", [&](In<T> begin, In<T> end, In<T> step, Out<std::uint64_t> sums, Out<int> turns) {
            const Index i = global_id(0);
            const auto count = [&](const auto& loop, std::size_t at) {
                ULong sum = 0;
                Int turn = 0;
                for (V k : loop()) {
                    sum += cast<std::uint64_t>(k);
                    turn += 1;
                    IF (turn > 20) {
                        break_();
                    }
                    IF (turn == 1) {
                        continue_();
                    }
                    sum += 0;
                }
                sums[at] = sum;
                turns[at] = turn;
            };
            const auto n = all.size();
            IF (i == 0) {
                for (std::size_t k = 0; k < n; ++k) {
                    count([&] { return range(V(begin[k]), V(end[k]), V(step[k])); }, k);
                    count([&] { return range(V(begin[k]), V(end[k]), all[k].step); }, n + k);
                    count([&] { return range(V(all[k].begin), V(all[k].end), V(all[k].step)); }, 2 * n + k);
                }
            }
        });
    on_all_devices([&](const device& on) {
        const std::size_t n = 3 * all.size();
        auto sums = on.out_buffer<std::uint64_t>(n);
        auto turns = on.out_buffer<int>(n);
        on.execute(kernel(in(on, host_array<T>(begins)), in(on, host_array<T>(ends)),
                          in(on, host_array<T>(steps)), sums, turns),
                   {1});
        const auto got_sums = sums.read();
        const auto got_turns = turns.read();
        for (std::size_t k = 0; k < n; ++k) {
            const bounds& each = all[k % all.size()];
            const auto [expected_turns, expected_sum] = counted_on_host(each.begin, each.end, each.step);
            EXPECT_EQ(got_turns[k], expected_turns)
                << +each.begin << " to " << +each.end << " by " << +each.step << ", way " << k / all.size();
            EXPECT_EQ(got_sums[k], expected_sum)
                << +each.begin << " to " << +each.end << " by " << +each.step;
        }
    });
}

TEST(C13_loops, range_leads_to_the_end_of_its_type) {
    expect_ranges_to_end<Int>();
    expect_ranges_to_end<UInt>();
    expect_ranges_to_end<Long>();
    expect_ranges_to_end<ULong>();
}

// Compilers count the turns of loops that plainly add.
TEST(C13_loops, range_asks_for_the_end_of_the_type_only_where_it_may_be_passed) {
    const auto printed = [](auto&& loop) {
        const auto kernel = balm::kernel<1>("loops", [&](Int n, Short few, Out<int> out) {
            out[0] = 0;
            loop(n, few, out);
        });
        return emit::print(ir::lower(*kernel.function(), {}).kernel, runtime::dialect::opencl_c);
    };
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    for (Int k : range(n)) out[k] = k;
                }),
                HasSubstr("; ++k)"));
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    for (Int k : range(n, 0, -1)) out[k] = k;
                }),
                HasSubstr("; --k)"));
    EXPECT_THAT(printed([&](Int&, Short& few, auto& out) {
                    for (Int k : range(0, few, 4)) out[k] = k;
                }),
                HasSubstr("; k += 4)"));
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    for (Int k : range(0, n & 1023, 4)) out[k] = k;
                }),
                HasSubstr("; k += 4)"));
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    for (Int k : range(0, n, 4)) out[k] = k;
                }),
                AllOf(HasSubstr("uint turns = balm_turns_i32(k, n, 4);"),
                      HasSubstr("} while (--turns > 0 && (k += 4, true));")));
    EXPECT_THAT(
        printed([&](Int& n, Short&, auto& out) {
            for (Int k : range(n, -n, -4)) out[k] = k;
        }),
        AllOf(HasSubstr("balm_turns_i32(k, "), HasSubstr("} while (--turns > 0 && (k += -4, true));")));
    // 2^53 iterations, or 2^63 of all work-items, take years.
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    Long end = cast<std::int64_t>(n) << 40;
                    for (Long k : range(5, end, 1024)) out[k] = 1;
                }),
                HasSubstr("; k += 1024)"));
    EXPECT_THAT(printed([&](Int& n, Short&, auto& out) {
                    Long end = cast<std::int64_t>(n) << 40;
                    for (Long k : range(global_id(0), end, global_size(0))) out[k] = 1;
                }),
                HasSubstr("; k += global_size)"));
}

TEST(C13_loops, range_takes_the_type_of_its_bounds) {
    static_assert(std::same_as<decltype(*range(Long()).begin()), Long>);
    static_assert(std::same_as<decltype(*range(UInt(), 5).begin()), UInt>);
    static_assert(std::same_as<decltype(*range(Char()).begin()), Int>);
    static_assert(std::same_as<decltype(*range(3).begin()), Int>);
    expect_as_on_host(kernel_of_two("range_types",
                                    [](Int a, Int b, Int& r) {
                                        Long wide = a;
                                        for (Long k : range(wide - 3, wide)) r += cast<int>(k);
                                        UInt n = cast<unsigned>(b + 9);
                                        for (UInt k : range(n)) r += cast<int>(k);
                                        UChar small = cast<std::uint8_t>(b + 9);
                                        for (Int k : range(small)) r += k;
                                    }),
                      [](int a, int b) {
                          const int n = b + 9;
                          return 3 * a - 6 + n * (n - 1);
                      });
}

TEST(C13_loops, bounds_are_read_once_and_the_variable_is_fresh_each_turn) {
    expect_as_on_host(kernel_of_two("fresh",
                                    [](Int a, Int b, Int& r) {
                                        Int n = a;
                                        for (Int k : range(n)) {
                                            n -= 1;
                                            k *= 10;
                                            r += k;
                                            Int zero;
                                            r += zero;
                                            zero += 5;
                                        }
                                        r = r * 100 + n;
                                        Int m = b;
                                        for (Int k : range(m, m + 3, 1)) {
                                            m = k;
                                            r += m;
                                        }
                                    }),
                      [](int a, int b) {
                          int r = 0;
                          for (int k = 0; k < a; ++k) r += 10 * k;
                          return r * 100 + (a > 0 ? 0 : a) + 3 * b + 3;
                      });
}

TEST(C13_loops, a_cpp_for_unrolls) {
    const auto kernel = kernel_of_two("unrolled", [](Int a, Int b, Int& r) {
        for (int k = 0; k < 3; ++k) {
            IF (a > k) {
                r += k * b;
            }
        }
    });
    EXPECT_THAT(printed(kernel.function()), Not(HasSubstr("for (")));
    expect_as_on_host(kernel, [](int a, int b) { return (a > 1 ? b : 0) + (a > 2 ? 2 * b : 0); });
}

TEST(C13_loops, return_ends_the_work_item) {
    const auto kernel = balm::kernel<1>("early", [](In<std::int32_t> a, Mixed<std::int32_t> out) {
        Index i = global_id(0);
        out[i] = 1;
        IF (a[i] < 0) {
            return_();
        }
        out[i] = 2;
        for (Int k : range(10)) {
            IF (k == a[i]) {
                return_();
            }
            out[i] += 10;
        }
        out[i] = 3;
    });
    auto random = seeded_random();
    const ints a = random_values<std::int32_t>(random, some_items, -5, 15);
    on_all_devices([&](const device& on) {
        auto out = on.mixed_buffer<std::int32_t>(some_items);
        on.execute(kernel(in(on, a), out), {some_items});
        expect_each(out.read(), [&](std::size_t i) { return a[i] < 0 ? 1 : a[i] < 10 ? 2 + 10 * a[i] : 3; });
    });
}

TEST(C13_loops, grid_range_visits_every_index_once_whatever_the_grid) {
    const auto kernel = balm::kernel<1>("visit", [](Long n, Mixed<std::int32_t> seen) {
        for (Index i : grid_range(n)) {
            IF (i % 5 == 4) {
                continue_();
            }
            seen[i] += cast<int>(i);
        }
    });
    on_all_devices([&](const device& on) {
        for (const std::size_t n : {1u, 255u, 1000u}) {
            for (const std::size_t items : {1u, 7u, 256u, 2000u}) {
                auto seen = on.mixed_buffer<std::int32_t>(n);
                seen.fill(1);
                on.execute(kernel(n, seen), {items});
                expect_each(seen.read(), [](std::size_t i) { return i % 5 == 4 ? 1 : i + 1; });
            }
        }
    });
}

// ---- guards -----------------------------------------------------------------------------------------

/// Whether every load of the function stands inside a region of && or ||, or in the branch of an IF.
bool loads_are_guarded(const ir::function& f, ir::block_id b, bool guarded) {
    for (const ir::value_id v : f.blocks[b]) {
        const ir::instruction& i = f.code[v];
        if (i.op == ir::opcode::load && !guarded) return false;
        const bool guards =
            i.op == ir::opcode::logic_and || i.op == ir::opcode::logic_or || i.op == ir::opcode::if_;
        for (const ir::block_id inner : i.blocks)
            if (inner != ir::none && !loads_are_guarded(f, inner, guarded || guards)) return false;
    }
    return true;
}

TEST(C13_guards, the_right_operand_is_loaded_only_where_the_left_asks_for_it) {
    const auto kernel =
        balm::kernel<1>("guarded(n, a, out)", [](Long n, In<std::int32_t> a, Out<std::int32_t> out) {
            Index i = global_id(0);
            Int r = 0;
            IF (i > 0 && a[i - 1] == 0) {
                r = 1;
            }
            IF (i + 1 >= n || a[i + 1] == 0) {
                r += 2;
            }
            IF (i > 1 && i + 2 < n && (a[i - 2] == a[i + 2] || !(a[i - 2] > 0))) {
                r += 4;
            }
            out[i] = r;
        });
    EXPECT_TRUE(loads_are_guarded(*kernel.function(), 0, false)) << ir::dump(*kernel.function());
    for (const bool on_cpu : {false, true}) {
        const ir::function lowered = ir::lower(*kernel.function(), {on_cpu, true, false}).kernel;
        EXPECT_TRUE(loads_are_guarded(lowered, 0, false)) << ir::dump(lowered);
    }
    EXPECT_THAT(printed(kernel.function()), HasSubstr("gid > 0 && a[gid - 1] == 0"));
    auto random = seeded_random();
    const ints a = random_values<std::int32_t>(random, some_items, -1, 1);
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, some_items, some_items, in(on, a)), [&](std::size_t i) {
            int r = i > 0 && a[i - 1] == 0 ? 1 : 0;
            if (i + 1 >= some_items || a[i + 1] == 0) r += 2;
            if (i > 1 && i + 2 < some_items && (a[i - 2] == a[i + 2] || a[i - 2] <= 0)) r += 4;
            return r;
        });
    });
}

TEST(C13_guards, a_load_that_follows_is_not_moved_out_of_the_guard) {
    const auto kernel =
        balm::kernel<1>("again(n, a, out)", [](Long n, In<std::int32_t> a, Out<std::int32_t> out) {
            Index i = global_id(0);
            Bool first = i + 1 < n && a[i + 1] > 0;
            IF (i + 1 < n) {
                IF (first) {
                    out[i] = a[i + 1];
                }
                ELSE { out[i] = -a[i + 1]; }
            }
            ELSE { out[i] = 0; }
        });
    EXPECT_TRUE(loads_are_guarded(*kernel.function(), 0, false)) << ir::dump(*kernel.function());
    auto random = seeded_random();
    const ints a = random_values<std::int32_t>(random, some_items, -5, 5);
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, some_items, some_items, in(on, a)),
                    [&](std::size_t i) { return i + 1 < some_items ? std::abs(a[i + 1]) : 0; });
    });
}

TEST(C13_guards, in_a_loops_condition) {
    expect_as_on_host(kernel_of_two("guarded_loop",
                                    [](Int a, Int b, Int& r) {
                                        Int x = a;
                                        WHILE (x < b && (b - x) % 5 != 0) {
                                            x += 1;
                                            r += x;
                                        }
                                    }),
                      [](int a, int b) {
                          int r = 0;
                          for (int x = a; x < b && (b - x) % 5 != 0;) r += ++x;
                          return r;
                      });
}

TEST(C13_guards, loops_and_branches_inside_the_right_operand) {
    const auto any_divides = [](const Int& x, const Int& below) {
        Bool found = false;
        for (Int k : range(2, below)) {
            IF (x % k == 0) {
                found = true;
                break_();
            }
        }
        return found;
    };
    expect_as_on_host(kernel_of_two("guarded_search",
                                    [any_divides](Int a, Int b, Int& r) {
                                        IF (a > 1 && any_divides(a, b)) {
                                            r = 1;
                                        }
                                        ELSE { r = 2; }
                                    }),
                      [](int a, int b) {
                          bool found = false;
                          for (int k = 2; k < b; ++k) found = found || a % k == 0;
                          return a > 1 && found ? 1 : 2;
                      });
}

TEST(C13_guards, effects_in_the_right_operand_happen_where_it_is_evaluated) {
    expect_as_on_host(kernel_of_two("guarded_effect",
                                    [](Int a, Int b, Int& r) {
                                        Int x = b;
                                        Int before = x;
                                        Bool both = a > 0 && ++x > 3;
                                        Int after = x;
                                        IF (both) {
                                            r = 1;
                                        }
                                        r = r * 10000 + after * 100 + before;
                                    }),
                      [](int a, int b) {
                          int x = b;
                          const bool both = a > 0 && ++x > 3;
                          return (both ? 1 : 0) * 10000 + x * 100 + b;
                      });
}

TEST(C13_guards, effects_happen_though_nobody_asks_for_the_result) {
    expect_as_on_host(kernel_of_two("unused_guard",
                                    [](Int a, Int b, Int& r) {
                                        Int x = b;
                                        [[maybe_unused]] Bool unused = a > 0 || ++x > 3;
                                        r = x;
                                    }),
                      [](int a, int b) { return a > 0 ? b : b + 1; });
}

}  // namespace
}  // namespace balm::test
