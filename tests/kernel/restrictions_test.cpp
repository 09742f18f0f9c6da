// What is refused while a kernel is traced: the message names the C++ line and the word to use instead.

#include <gtest/gtest.h>

#include <optional>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

/// Defines a kernel of (In<int> a, Out<int> out) with this body; gives the fault's message.
template <class Body>
std::string refusal(Body body) {
    return message_of<trace_error>([&] {
        balm::kernel<1>("refused", [&](In<std::int32_t> a, Out<std::int32_t> out) {
            Index i = global_id(0);
            body(a, out, i);
        });
    });
}
/// The line after the caller's.
std::string line_below(int line = __builtin_LINE()) { return line_of(__FILE__, line + 1); }

TEST(C13_restrictions, a_cpp_break_out_of_a_block) {
    std::string fault;
    std::string line;
    fault = refusal([&](auto& a, auto& out, Index i) {
        for (int k = 0; k < 3; ++k) {
            line = line_below();
            IF (a[i] > k) {
                out[i] = k;
                break;
            }
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("IF"), HasSubstr("break_()")));
    fault = refusal([&](auto& a, auto& out, Index i) {
        Int x = a[i];
        line = line_below();
        WHILE (x > 0) {
            x -= 1;
            out[i] = x;
            if (a.dimensions == 1) break;
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("WHILE"), HasSubstr("break_()")));
    fault = refusal([&](auto& a, auto& out, Index i) {
        line = line_below();
        for (Int k : range(10)) {
            out[i] = k;
            if (a.dimensions == 1) break;
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("range"), HasSubstr("break_()")));
}

TEST(C13_restrictions, a_cpp_return_out_of_a_block) {
    std::string fault;
    std::string line;
    fault = refusal([&](auto& a, auto& out, Index i) {
        line = line_below();
        IF (a[i] > 0) {
            out[i] = 1;
            return;
        }
        out[i] = 2;
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("IF"), HasSubstr("return_()")));
    fault = message_of<trace_error>([&] {
        balm::function("early", [&](Int x) -> Int {
            line = line_below();
            for (Int k : range(x)) return k;
            return x;
        });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("range"), HasSubstr("return_()")));
}

TEST(C13_restrictions, blocks_that_record_nothing) {
    std::string fault;
    std::string line;
    fault = refusal([&](auto& a, auto& out, Index i) {
        for (Int k : range(5)) {
            line = line_below();
            IF (a[i] == k) {
                continue;
            }
            out[i] = k;
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("IF"), HasSubstr("continue_()")));
    fault = refusal([&](auto& a, auto& out, Index i) {
        line = line_below();
        IF (a[i] == 1) {
            out[i] = 1;
        }
        ELSE {}
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("ELSE"), HasSubstr("continue_()")));
    fault = refusal([&](auto& a, auto&, Index i) {
        line = line_below();
        WHILE (a[i] == 1) {
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("WHILE")));
}

TEST(C13_restrictions, an_exception_out_of_a_block_passes) {
    EXPECT_THROW(balm::kernel<1>("thrower",
                                 [](Out<std::int32_t> out) {
                                     IF (global_id(0) > 3) {
                                         out[0] = 1;
                                         throw std::out_of_range("mine");
                                     }
                                 }),
                 std::out_of_range);
    EXPECT_NO_THROW(balm::kernel<1>("after", [](Out<std::int32_t> out) { out[0] = 1; }));
}

TEST(C13_restrictions, jumps_outside_of_loops) {
    std::string fault;
    const std::string line = line_of(__FILE__, __LINE__ + 1);
    fault = refusal([](auto&, auto&, Index) { break_(); });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("break_()")));
    fault = refusal([](auto&, auto&, Index i) {
        IF (i > 0) {
            continue_();
        }
    });
    EXPECT_THAT(fault, HasSubstr("continue_()"));
    fault = refusal([](auto&, auto&, Index i) { return_(i); });
    EXPECT_THAT(fault, HasSubstr("Out"));
}

// Tail calls of it would take no stack; g++ sees that it does not end.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
Int endless(const Int& x) { return endless(x + 1) * x; }
#pragma GCC diagnostic pop

TEST(C9_functions, that_call_themselves_are_refused) {
    std::string fault;
    fault = refusal([](auto& a, auto& out, Index i) { out[i] = endless(a[i]); });
    EXPECT_THAT(fault, AllOf(HasSubstr("refused"), HasSubstr("recursion"), HasSubstr("WHILE")));
    static device_function<Int, Int> direct;
    fault = message_of<trace_error>(
        [&] { direct = balm::function("direct", [](Int x) { return direct(x - 1); }); });
    EXPECT_THAT(fault, AllOf(HasSubstr("recursion"), HasSubstr("defined")));
    static device_function<Int, Int> there, back;
    fault = message_of<trace_error>([&] {
        there = balm::function("there", [](Int x) { return back(x - 1); });
        back = balm::function("back", [](Int x) { return there(x - 1); });
    });
    EXPECT_THAT(fault, HasSubstr("recursion"));
}

/// What the body throws on a thread whose stack has this many bytes.
template <class Body>
std::string refusal_on_a_stack_of(std::size_t bytes, Body&& body) {
    struct call {
        Body& body;
        std::string message;
    } what{body, {}};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread{};
    const auto run = [](void* given) -> void* {
        auto& c = *static_cast<call*>(given);
        try {
            c.body();
        } catch (const trace_error& fault) {
            c.message = fault.what();
        }
        return nullptr;
    };
    EXPECT_EQ(pthread_create(&thread, &attributes, run, &what), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return what.message;
}

TEST(C9_functions, that_call_themselves_are_refused_on_small_stacks) {
    for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{256} << 10, std::size_t{4} << 20}) {
        SCOPED_TRACE(bytes);
        const std::string fault = refusal_on_a_stack_of(bytes, [] {
            balm::kernel<1>("recursive", [](Mixed<std::int32_t> a) { a[0] = endless(Int(a[0])); });
        });
        EXPECT_THAT(fault, AllOf(HasSubstr("recursive"), HasSubstr("recursion")));
        EXPECT_EQ(refusal_on_a_stack_of(bytes,
                                        [] {
                                            balm::kernel<1>("not_recursive", [](Mixed<std::int32_t> a) {
                                                IF (a[0] > 3 && a[1] < 4) {
                                                    a[0] = 1;
                                                }
                                            });
                                        }),
                  "");
    }
}

TEST(C13_restrictions, values_of_another_trace) {
    std::string fault;
    std::optional<Int> leaked;
    EXPECT_NO_THROW(balm::kernel<1>("leaks", [&](Out<std::int32_t> out) {
        leaked.emplace(Int(7));
        out[0] = *leaked;
    }));
    fault = refusal([&](auto&, auto& out, Index i) { out[i] = *leaked; });
    EXPECT_THAT(fault,
                AllOf(HasSubstr("refused"), HasSubstr("parameter"), HasSubstr("restrictions_test.cpp:")));
    fault = refusal([&](auto& a, auto& out, Index i) {
        const auto inner = balm::function("inner", [&](Int x) { return x + a[i]; });
        out[i] = inner(i);
    });
    EXPECT_THAT(fault, AllOf(HasSubstr("inner"), HasSubstr("parameter")));
    leaked.reset();
}

TEST(C13_restrictions, values_outside_of_a_kernel) {
    std::string fault;
    fault = message_of<trace_error>([] { [[maybe_unused]] Int x = 5; });
    EXPECT_THAT(fault, HasSubstr("outside of a kernel"));
}

TEST(C13_restrictions, values_outside_of_their_block) {
    std::string fault;
    std::string made;  // with a colon behind, as messages begin
    std::string used;
    const auto made_there = [&] { return HasSubstr(made.substr(0, made.size() - 1) + ")"); };
    fault = refusal([&](auto& a, auto& out, Index i) {
        std::optional<Int> inside;
        IF (a[i] > 0) {
            made = line_below();
            inside.emplace(a[i] * 2);
        }
        Int other = a[i] * 3;
        out[i] = other;
        used = line_below();
        out[i + 1] = *inside + 1;
    });
    EXPECT_THAT(fault,
                AllOf(HasSubstr(used + " a device value"), made_there(), HasSubstr("before the block")));
    fault = refusal([&](auto& a, auto& out, Index i) {
        std::optional<Int> inside;
        made = line_below();
        Bool b = a[i] > 0 && (inside.emplace(a[i] * 2), *inside > 3);
        used = line_below();
        out[i] = *inside + select(b, 1, 0);
    });
    EXPECT_THAT(fault,
                AllOf(HasSubstr(used + " a device value"), made_there(), HasSubstr("before the block")));
    fault = refusal([&](auto&, auto& out, Index i) {
        std::optional<Int> inside;
        made = line_below();
        for (Int k : range(3)) inside.emplace(k);
        *inside += 1;
        out[i] = *inside;
    });
    EXPECT_THAT(fault, AllOf(made_there(), HasSubstr("soon after"), HasSubstr("before the block")))
        << "a += knows no line of its own";
}

TEST(C17_barriers, that_not_all_work_items_reach_are_refused) {
    std::string fault;
    std::string line;
    fault = refusal([&](auto& a, auto&, Index i) {
        IF (a[i] > 0) {
            line = line_below();
            barrier();
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("barrier()")));
    fault = refusal([](auto& a, auto& out, Index i) {
        IF (a[i] > 0) {
            return_();
        }
        out[i] = 1;
        barrier();
    });
    EXPECT_THAT(fault, HasSubstr("return_()"));
    fault = refusal([](auto& a, auto&, Index i) {
        WHILE (true) {
            barrier();
            IF (a[i] > 0) {
                break_();
            }
        }
    });
    EXPECT_THAT(fault, HasSubstr("break_()"));
    fault = refusal([](auto&, auto&, Index) {
        for ([[maybe_unused]] Int k : range(local_id(0))) local_barrier();
    });
    EXPECT_THAT(fault, HasSubstr("barrier()"));
    fault = refusal([](auto& a, auto&, Index i) {
        Int turns = 3;
        IF (a[i] > 0) {
            turns = 4;
        }
        for ([[maybe_unused]] Int k : range(turns)) global_barrier();
    });
    EXPECT_THAT(fault, HasSubstr("barrier()"));
    const auto waits = balm::function("waits", [](Out<std::int32_t> out, Int n) {
        out[0] = n;
        barrier();
    });
    fault = refusal([&](auto& a, auto& out, Index i) {
        IF (a[i] > 0) {
            waits(out, a[i]);
        }
    });
    EXPECT_THAT(fault, HasSubstr("barrier()"));
}

TEST(C17_barriers, that_all_reach_are_accepted) {
    EXPECT_NO_THROW(balm::kernel<1>("uniform", [](Int n, Local<std::int32_t> shared, Out<std::int32_t> out) {
        Index i = local_id(0);
        IF (n > 3) {
            barrier();
        }
        for (Int k : range(n)) {
            IF (i > k) {
                shared[i] = k;
            }
            barrier();
            IF (n == 7) {
                break_();
            }
        }
        IF (group_id(0) == 0) {
            local_barrier();
        }
        IF (i > 0) {
            return_();
        }
        out[0] = shared[1];
    }));
}

TEST(C7_dimensions, that_a_kernel_lacks_are_refused) {
    std::string fault;
    const std::string line = line_of(__FILE__, __LINE__ + 1);
    fault = refusal([](auto&, auto& out, Index) { out[global_id(1)] = 1; });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("global_id(1)"), HasSubstr("1 dimension")));
    fault = refusal([](auto&, auto& out, Index) { out[local_size(-1)] = 1; });
    EXPECT_THAT(fault, HasSubstr("local_size(-1)"));
    fault = message_of<trace_error>(
        [] { balm::kernel<3>("solid", [](Out<std::int32_t, 3> out) { out[group_count(3)] = 1; }); });
    EXPECT_THAT(fault, AllOf(HasSubstr("group_count(3)"), HasSubstr("solid"), HasSubstr("3 dimensions")));
}

TEST(C7_dimensions, that_a_called_function_asks_for_in_vain_are_refused) {
    std::string fault;
    const auto row = balm::function("row", [](Int x) { return global_id(1) + x; });
    fault = refusal([&](auto& a, auto& out, Index i) { out[i] = row(a[i]); });
    EXPECT_THAT(fault, AllOf(HasSubstr("row"), HasSubstr("global_id(1)")));
    const auto cell = balm::function("cell", [&](Int x) { return row(x) + 1; });
    fault = refusal([&](auto& a, auto& out, Index i) { out[i] = cell(a[i]); });
    EXPECT_THAT(fault, HasSubstr("global_id(1)"));
    EXPECT_NO_THROW(balm::kernel<2>("plane", [&](Out<std::int64_t> out) { out[0] = cell(Int(1)); }));
}

TEST(C13_restrictions, unsigned_ranges_that_count_down) {
    const std::string line = line_of(__FILE__, __LINE__ + 3);
    const std::string fault = message_of<trace_error>([] {
        balm::kernel<1>("down", [](UInt n, Out<std::uint32_t> out) {
            for (UInt k : range(n, 0u, -1)) out[k] = k;
        });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("Int or Long")));
}

TEST(C13_restrictions, names_that_are_none) {
    std::string fault;
    const auto body = [](Out<std::int32_t> out) { out[0] = 1; };
    for (const char* name : {"", "two words(out) x", "1st", "a-b", "k(out, more)", "k()(", "ä"}) {
        fault = message_of<trace_error>([&] { balm::kernel<1>(name, body); });
        EXPECT_THAT(fault, testing::AnyOf(HasSubstr("name"), HasSubstr("parameters"))) << name;
    }
    const std::string line = line_of(__FILE__, __LINE__ + 1);
    fault = message_of<trace_error>([&] { balm::kernel<1>("a b", body); });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("a b")));
    fault = message_of<trace_error>([&] { balm::kernel<1>("k(x, y)", body); });
    EXPECT_THAT(fault, AllOf(HasSubstr("2 parameters"), HasSubstr("takes 1")));
}

TEST(C13_restrictions, host_constants_that_do_not_fit) {
    std::string fault;
    fault = refusal([](auto& a, auto& out, Index i) { out[i] = a[i] + 5000000000LL; });
    EXPECT_THAT(fault, HasSubstr("i32"));
    fault = refusal([](auto&, auto& out, Index i) {
        Char c = 300;
        out[i] = c;
    });
    EXPECT_THAT(fault, HasSubstr("i8"));
}

TEST(C13_restrictions, a_range_whose_step_is_zero) {
    std::string fault;
    std::string line;
    fault = refusal([&](auto&, auto& out, Index i) {
        line = line_below();
        for (Int k : range(0, 5, 0)) out[i] = k;
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("step"), HasSubstr("0")));
    fault = refusal([&](auto&, auto& out, Index i) {
        Int step = 0;
        line = line_below();
        for (Int k : range(0, 5, step)) out[i] = k;
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("step")));
}

TEST(C13_restrictions, arrays_that_no_device_has_room_for) {
    const std::string line = line_of(__FILE__, __LINE__ + 2);
    const std::string fault = refusal([](auto&, auto& out, Index i) {
        Array<std::int64_t, 1 << 20> own;
        out[i] = cast<std::int32_t>(own[i]);
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("1048576 elements"), HasSubstr("refused")));
}

TEST(C13_restrictions, local_arrays_inside_a_block_or_function) {
    std::string fault;
    fault = refusal([](auto& a, auto& out, Index i) {
        IF (a[i] > 0) {
            LocalArray<std::int32_t, 4> tile;
            out[i] = tile[0];
        }
    });
    EXPECT_THAT(fault, AllOf(HasSubstr("local array"), HasSubstr("before IF")));
    fault = message_of<trace_error>([] {
        balm::function("f", [](Int x) {
            LocalArray<std::int32_t, 4> tile;
            return x + tile[0];
        });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr("local array"), HasSubstr("as Local")));
}

TEST(C13_restrictions, grid_range_inside_a_block) {
    std::string fault;
    fault = refusal([](auto&, auto& out, Index i) {
        IF (i > 0) {
            for (Index k : grid_range(5)) out[k] = 1;
        }
    });
    EXPECT_THAT(fault, HasSubstr("grid_range"));
    fault = message_of<trace_error>([] {
        balm::kernel<2>("plane", [](Out<std::int32_t> out) {
            for (Index k : grid_range(5)) out[k] = 1;
        });
    });
    EXPECT_THAT(fault, HasSubstr("1-dimensional"));
}

}  // namespace
}  // namespace balm::test
