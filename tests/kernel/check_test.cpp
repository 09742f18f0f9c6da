// Checks in kernels: what fails is thrown by who waits, with the C++ line, the values and the work-item.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

/// What messages of checks on the caller's line begin with.
std::string here(int line = __builtin_LINE()) { return line_of(__FILE__, line) + " "; }

}  // namespace

TEST(A6_assertions, throw_on_wait_with_line_values_and_work_item) {
    on_all_devices([](const device& on) {
        std::string line;
        const auto kernel = balm::kernel<1>("guarded(limit)", [&](Int limit) {
            Int i = cast<int>(global_id(0));
            line = here(), check(i * i < limit, "{} squared is beyond {:#x}", i, limit);
        });
        on.execute(kernel(100), {10});
        event done = on.execute(kernel(81), {10}, {5});
        const std::string fault = message_of<check_error>([&] { done.wait(); });
        EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("kernel 'guarded'"), HasSubstr(words(on)),
                                 HasSubstr("9 squared is beyond 0x51 (work-item 9: 4 of work-group 1)")));
        EXPECT_EQ(message_of<check_error>([&] { done.wait(); }), fault) << "each time";
        EXPECT_EQ(message_of<error>([&] { (void)done.profile(); }), fault);
        on.finish();
    });
}

TEST(A6_assertions, name_the_work_item_in_several_dimensions) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<2>(
            "plane", [](Int x, Int y) { check(global_id(0) != x || global_id(1) != y, "found"); });
        event done = on.execute(kernel(7, -1), {8, 6}, {4, 3}, balm::offset(2, -4));
        EXPECT_THAT(message_of<check_error>([&] { done.wait(); }),
                    HasSubstr(": found (work-item (7, -1): (1, 0) of work-group (1, 1))"));
    });
}

TEST(A6_assertions, keep_the_first_of_many) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("all_fail", [](Out<int> out) {
            Index i = global_id(0);
            out[i] = 1;
            check(i < 0, "item {}", i);
            check(i < 0, "not this, {}", i);
        });
        auto out = on.out_buffer<int>(1000);
        event done = on.execute(kernel(out), {1000}, {10});
        const std::string fault = message_of<check_error>([&] { done.wait(); });
        const auto at = fault.find(": item ");
        ASSERT_NE(at, std::string::npos) << fault;
        const int item = std::stoi(fault.substr(at + 7));
        EXPECT_THAT(fault, HasSubstr(fmt::format("item {} (work-item {}: {} of work-group {})", item, item,
                                                 item % 10, item / 10)));
    });
}

TEST(A6_assertions, are_thrown_by_whatever_waits) {
    on_all_devices([](const device& on) {
        const auto fails = balm::kernel<1>("fails(out)", [](Out<int> out) {
            out[0] = 1;
            check(global_id(0) < 0, "never");
        });
        const auto fine = balm::kernel<1>("fine(out)", [](Out<int> out) { out[0] = 2; });
        auto out = on.out_buffer<int>(1), other = on.out_buffer<int>(1);
        event failed = on.execute(fails(out), {1});
        EXPECT_THROW(on.finish(), check_error);
        on.finish();
        EXPECT_THROW(failed.wait(), check_error);

        failed = on.execute(fails(out), {1});
        EXPECT_THROW(out.read(), check_error);
        EXPECT_THAT(message_of<device_error>([&] { out.read(); }),
                    AllOf(HasSubstr("write it again"), HasSubstr("never")))
            << "what the launch wrote is not to be trusted";
        on.execute(fine(out), {1});
        EXPECT_EQ(out.read()[0], 2);

        failed = on.execute(fails(out), {1});
        event later = on.execute(fine(other), {1});
        EXPECT_THROW(later.wait(), check_error);
        later.wait();
        EXPECT_THROW(failed.wait(), check_error);

        on.execute(fails(out), {1});  // waited for where nothing can be thrown
        EXPECT_THROW(on.execute(fine(other), {1}), check_error);
        on.execute(fine(other), {1});
        EXPECT_EQ(other.read()[0], 2);
    });
}

/// Commands that read the results on other queues, enqueued before the failure is known, by another thread
/// than the launch.
TEST(A6_assertions, reach_commands_of_other_queues) {
    on_all_devices([](const device& on) {
        const auto checked = balm::kernel<1>("checked", [](Out<int> out, Int most) {
            Index i = global_id(0);
            check(i < most, "index {} is too large", i);
            out[i] = cast<int>(i);
        });
        const auto copy =
            balm::kernel<1>("copy", [](In<int> in, Out<int> out) { out[global_id(0)] = in[global_id(0)]; });
        constexpr int n = 100;
        for (const bool fails : {false, true}) {
            auto x = on.mixed_buffer<int>(n), y = on.mixed_buffer<int>(n), z = on.mixed_buffer<int>(n),
                 unrelated = on.mixed_buffer<int>(n);
            queue first = on.make_queue(), second = on.make_queue(), third = on.make_queue();
            const user_event gate;
            event launched;
            std::thread([&] {
                launched = first.execute(checked(x, fails ? 10 : n), {n}, event(gate));
            }).join();
            const event copied = second.execute(copy(x, y), {n});
            const event copied_again = third.execute(copy(y, z), {n});
            unrelated.fill(1);
            gate.complete();
            if (!fails) {
                copied_again.wait();
                EXPECT_EQ(z.read()[n - 1], n - 1);
                continue;
            }
            EXPECT_THAT(message_of<check_error>([&] { copied_again.wait(); }), HasSubstr("is too large"));
            EXPECT_THAT(message_of<check_error>([&] { copied.wait(); }), HasSubstr("is too large"));
            EXPECT_THAT(message_of<device_error>([&] { static_cast<void>(z.read()); }),
                        HasSubstr("is too large"));
            EXPECT_THAT(message_of<device_error>([&] { static_cast<void>(y.read()); }),
                        HasSubstr("is too large"));
            EXPECT_EQ(unrelated.read()[0], 1);
            EXPECT_THAT(message_of<check_error>([&] { launched.wait(); }), HasSubstr("is too large"));
            z.fill(2);
            EXPECT_EQ(z.read()[0], 2);
        }
    });
}

TEST(A6_assertions, let_the_kernel_go_on) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("goes_on", [] {
            Index i = global_id(0);
            check(i != 2, "two");
            print("{};", i);
        });
        std::ostringstream text;
        context ctx(std::vector<device>{on});
        ctx.print_to(text);
        event done = on.execute(kernel(), {5});
        EXPECT_THROW(done.wait(), check_error);
        EXPECT_EQ(text.str(), "0;1;2;3;4;");
    });
}

TEST(A6_assertions, compute_their_values_only_where_they_fail) {
    on_all_devices([](const device& on) {
        auto shown = balm::function("shown(x)", [](Int x) {
            print("computed {};", x);
            return x;
        });
        const auto kernel = balm::kernel<1>("lazy(values)", [&](In<int> values) {
            Index i = global_id(0);
            check(values[i] < 30, "{} at {}", values[i], i);
            IF (values[i] == 20) {
                shown(values[i]);
            }
        });
        host_array<int> values{shape(4)};
        for (int k = 0; k < 4; ++k) values[static_cast<std::size_t>(k)] = 10 * (k + 1);
        std::ostringstream text;
        context ctx(std::vector<device>{on});
        ctx.print_to(text);
        on.execute(kernel(test::in(on, values)), {2});
        EXPECT_EQ(text.str(), "computed 20;");
        event done = on.execute(kernel(test::in(on, values)), {3});
        EXPECT_THAT(message_of<check_error>([&] { done.wait(); }), HasSubstr("30 at 2"));
    });
}

TEST(A6_assertions, work_in_functions_and_grid_ranges) {
    on_all_devices([](const device& on) {
        std::string line;
        auto root = balm::function("root(x)", [&](Float x) {
            line = here(), check(x >= 0.f, "sqrt of {:.1f}", x);
            return sqrt(x);
        });
        const auto kernel = balm::kernel<1>("roots(n, in, out)", [&](Long n, In<float> x, Out<float> out) {
            for (Index i : grid_range(n)) out[i] = root(x[i]);
        });
        host_array<float> values{shape(100)};
        for (std::size_t k = 0; k < 100; ++k) values[k] = static_cast<float>(k);
        auto out = on.out_buffer<float>(100);
        on.execute(kernel(100, test::in(on, values), out), {4});
        expect_each(out.read(), [&](std::size_t k) { return std::sqrt(values[k]); });
        values[77] = -2.25f;
        event done = on.execute(kernel(100, test::in(on, values), out), {4});
        EXPECT_THAT(message_of<check_error>([&] { done.wait(); }),
                    AllOf(HasSubstr(line), HasSubstr("sqrt of -2.2 (index 77 of grid_range)")));
    });
}

TEST(A6_assertions, tell_checks_of_the_same_words_apart_by_their_lines) {
    on_all_devices([](const device& on) {
        std::string first, second;
        const auto kernel = balm::kernel<1>("twice", [&](Int which) {
            first = here(), check(which != 1, "same words");
            second = here(), check(which != 2, "same words");
        });
        event done = on.execute(kernel(1), {1});
        EXPECT_THAT(message_of<check_error>([&] { done.wait(); }), HasSubstr(first));
        done = on.execute(kernel(2), {1});
        EXPECT_THAT(message_of<check_error>([&] { done.wait(); }), HasSubstr(second));
    });
}

TEST(A6_assertions, are_checked_themselves) {
    std::string line;
    const std::string fault = message_of<trace_error>([&] {
        balm::kernel<1>("refused", [&](In<float> x) { line = here(), check(x[0] > 0.f, "{:d}", x[0]); });
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("arguments (f32)")));
}

}  // namespace balm::test
