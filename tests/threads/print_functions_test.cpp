// Functions that are given what kernels print, and use Balm themselves.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

constexpr std::size_t n = 3;

/// Prints "NUMBER.ITEM" for each of three work-items.
auto define_say() {
    return balm::kernel<1>("say(number)", [](Int number) { print("{}.{}", number, global_id(0)); });
}
std::vector<std::string> said(int first, int last) {
    std::vector<std::string> all;
    for (int number = first; number < last; ++number)
        for (std::size_t item = 0; item < n; ++item)
            all.push_back(std::to_string(number) + '.' + std::to_string(item));
    return all;
}

}  // namespace

TEST(A6_print_functions, may_evaluate_arrays_in_the_middle_of_a_launch) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        const auto shown = balm::function("shown(x, by)", [](Int x, Int by) {
            print("{}", x);
            return x + by;
        });
        vector<int> values(ctx, n, 0), counted(ctx, 1000, 0), more(ctx, 500, 1);
        int calls = 0;
        std::vector<int> heard, expected;
        ctx.print_to([&](std::string_view text) {
            counted = counted + 1;
            more = more + counted[balm::element_index(0, 500)] * 0 + 1;
            ++calls;
            heard.push_back(std::stoi(std::string(text)));
            EXPECT_EQ(balm::sum(counted), 1000 * calls);
            EXPECT_EQ(balm::sum(more), 500 * (calls + 1));
        });
        constexpr int launches = 150;  // more than are let be unseen: the function is called by a launch
        for (int k = 0; k < launches; ++k) {
            values = shown(values, 2);
            expected.insert(expected.end(), n, 2 * k);
        }
        EXPECT_EQ(values.to_host(), std::vector<int>(n, 2 * launches));
        EXPECT_EQ(heard, expected) << "in the order of the launches";
        for (int k = 0; k < launches; ++k) {
            EXPECT_EQ(balm::sum(shown(values, k)), static_cast<int>(n) * (2 * launches + k));
            expected.insert(expected.end(), n, 2 * launches);
        }
        EXPECT_EQ(heard, expected);
    });
}

TEST(A6_print_functions, may_wait_without_changing_the_order) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        std::vector<std::string> heard;
        ctx.print_to([&](std::string_view text) {
            heard.emplace_back(text);
            on.finish();
        });
        const auto say = define_say();
        event last;
        for (int k = 0; k < 10; ++k) last = on.execute(say(k), {n});
        last.wait();
        EXPECT_EQ(heard, said(0, 10));
    });
}

TEST(A6_print_functions, may_launch_what_prints) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        std::vector<std::string> heard;
        const auto say = define_say();
        int number = 0;
        ctx.print_to([&](std::string_view text) {
            heard.emplace_back(text);
            if (number < 5) on.execute(say(++number), {n}).wait();
        });
        on.execute(say(0), {n});
        on.finish();
        EXPECT_EQ(heard, said(0, 6));
    });
}

TEST(A6_print_functions, may_have_the_context_print_to_another) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        const auto say = define_say();
        std::vector<std::string> first, second;
        ctx.print_to([&, kept = std::string(100, 'x')](std::string_view text) {
            first.emplace_back(text);
            ctx.print_to([&](std::string_view more) { second.emplace_back(more); });
            EXPECT_EQ(kept, std::string(100, 'x'));
        });
        on.execute(say(0), {n});
        on.execute(say(1), {n});
        EXPECT_EQ(first, said(0, 1)) << "a launch's text goes where its first print did";
        EXPECT_EQ(second, said(1, 2));
    });
}

TEST(A6_print_functions, may_throw_to_whoever_waits) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        const auto say = define_say();
        std::vector<std::string> heard;
        ctx.print_to([&](std::string_view text) {
            heard.emplace_back(text);
            if (text == "1.1") throw std::runtime_error("no more");
        });
        const event first = on.execute(say(0), {n}), second = on.execute(say(1), {n}),
                    third = on.execute(say(2), {n});
        EXPECT_EQ(message_of<std::runtime_error>([&] { third.wait(); }), "no more");
        EXPECT_EQ(heard, (std::vector<std::string>{"0.0", "0.1", "0.2", "1.0", "1.1", "2.0", "2.1", "2.2"}));
        on.execute(say(3), {n});
        EXPECT_EQ(heard.size(), 11u);
    });
}

TEST(A6_print_functions, hear_of_checks_where_they_wait_for_them) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        const auto say = define_say();
        const auto fail = balm::kernel<1>("fail", [] { check(global_id(0) > 10, "too small"); });
        int failures = 0;
        ctx.print_to([&](std::string_view) {
            try {
                on.execute(fail(), {1}).wait();
            } catch (const check_error&) {
                ++failures;
            }
        });
        EXPECT_NO_THROW(on.execute(say(0), {n}).wait());
        EXPECT_EQ(failures, static_cast<int>(n));
        EXPECT_NO_THROW(on.finish());
    });
}

TEST(A6_print_functions, of_one_thread_may_wait_for_what_another_waits_for) {
    on_all_devices([](const device& on) {
        context ctx(std::vector<device>{on});
        std::atomic<int> heard = 0;
        vector<int> values(ctx, 100, 1);
        const auto say = define_say();
        // The function is called by one thread at a time: values need no lock.
        ctx.print_to([&](std::string_view) {
            ++heard;
            values = values + 1;
            EXPECT_EQ(balm::sum(values), 100 * (heard + 1));
            on.finish();
        });
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                balm::queue own = t % 2 == 0 ? on.make_queue() : on.queue();
                for (int k = 0; k < 20; ++k) own.execute(say(k), {n}).wait();
            });
        for (std::thread& each : threads) each.join();
        on.finish();
        EXPECT_EQ(heard, 4 * 20 * static_cast<int>(n));
    });
}

}  // namespace balm::test
