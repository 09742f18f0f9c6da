// What programs and kernels cost a process that makes more and more of them: a bounded table for each device,
// which holds neither vectors nor images, and goes with the device. The fake device counts what is loaded.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "base/bounded_table.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/program/program_saver.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using runtime::bounded_table;
using runtime::compiled_program;
using runtime::device_state;
using runtime::program_identity;
using runtime::program_source;
using runtime::program_store;

constexpr auto most = static_cast<int>(program_store::most_programs);

/// A fake device whose binaries nobody keeps on disk, nor waits to keep.
std::shared_ptr<fake_device> make_fake() {
    auto fake = std::make_shared<fake_device>();
    fake->log->binary_needs_launch = true;
    fake->log->has_binaries = false;
    return fake;
}

program_identity numbered(int number) {
    return {runtime::hasher{}.number(static_cast<std::uint64_t>(number)).result()};
}

std::shared_ptr<compiled_program> get_numbered(device_state& device, int number) {
    return device.programs().get(numbered(number), [&] {
        return program_source{std::to_string(number), "f", {}};
    });
}

int live_programs(const fake_device& fake) {
    runtime::finish_saving();
    const std::lock_guard lock(fake.log->mutex);
    return fake.log->live_programs;
}

/// Thousands of kernels that differ by a number: NVRTC need not see them all.
struct unseen_by_nvrtc {
    unseen_by_nvrtc() { kernels::observe_compilations({}); }
    unseen_by_nvrtc(const unseen_by_nvrtc&) = delete;
    unseen_by_nvrtc& operator=(const unseen_by_nvrtc&) = delete;
    ~unseen_by_nvrtc() { compile_kernels_with_nvrtc_again(); }
};

/// Assigns an expression whose structure has this number.
void assign_numbered(vector<float>& y, const vector<float>& x, int number) {
    expr<float> e = x + 1.f;
    for (int bit = 0; bit < 13; ++bit) e = (number >> bit & 1) != 0 ? e + x : e * x;
    y = e;
}

}  // namespace

// ---- the table --------------------------------------------------------------------------------------

TEST(B5_bounded_table, evicts_what_was_not_used_for_longest) {
    struct entry {
        int number;
    };
    bounded_table<entry> table(64);
    const auto with = [](int number) { return [=](const entry& e) { return e.number == number; }; };
    // Hashes meet, so that the comparison decides.
    const auto hash = [](int number) { return static_cast<std::uint64_t>(number % 7); };
    for (int k = 0; k < 1000; ++k) {
        EXPECT_EQ(table.find(hash(k), with(k)), nullptr);
        const auto added = std::make_shared<entry>(entry{k});
        EXPECT_EQ(table.insert(hash(k), added, with(k)), added);
        EXPECT_EQ(table.insert(hash(k), std::make_shared<entry>(entry{k}), with(k)), added) << "the first";
        ASSERT_NE(table.find(hash(0), with(0)), nullptr) << "used all the time: " << k;
        EXPECT_LE(table.size(), 64u);
        // The most recent half is there, whatever was evicted.
        for (int recent = std::max(k - 31, 0); recent <= k; ++recent) {
            const auto peek = std::make_shared<bool>(false);
            table.for_each([&](const entry& e) { *peek = *peek || e.number == recent; });
            ASSERT_TRUE(*peek) << recent << " of " << k;
        }
    }
    table.close();
    EXPECT_EQ(table.size(), 0u);
    const auto late = std::make_shared<entry>(entry{5});
    EXPECT_EQ(table.insert(hash(5), late, with(5)), late);
    EXPECT_EQ(table.size(), 0u) << "nothing is kept once it is closed";
}

TEST(B5_bounded_table, is_used_by_many_threads) {
    struct entry {
        std::uint64_t number;
    };
    bounded_table<entry> table(100);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (int turn = 0; turn < 20'000; ++turn) {
                const std::uint64_t number = random() % 300;
                const auto is_it = [=](const entry& e) { return e.number == number; };
                std::shared_ptr<entry> got = table.find(number % 13, is_it);
                if (got == nullptr)
                    got = table.insert(number % 13, std::make_shared<entry>(entry{number}), is_it);
                if (got->number != number) ++wrong;
            }
        });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(table.size(), 100u);
}

// ---- programs ---------------------------------------------------------------------------------------

TEST(B5_programs, are_unloaded_when_many_others_were_used_since) {
    const auto fake = make_fake();
    const auto device = device_state::make(fake);
    const compiled_program* const first = get_numbered(*device, 0).get();
    for (int k = 1; k < 3 * most; ++k) {
        get_numbered(*device, k);
        if (k % 100 == 0) {
            ASSERT_EQ(get_numbered(*device, 0).get(), first) << "used all the time: " << k;
        }
    }
    EXPECT_LE(live_programs(*fake), most);
    EXPECT_GE(live_programs(*fake), most / 2);
    EXPECT_EQ(fake->log->compiles, 3 * most);
    get_numbered(*device, 1);
    EXPECT_EQ(fake->log->compiles, 3 * most + 1) << "evicted, it is compiled again";
}

TEST(B5_programs, are_unloaded_after_the_launches_in_flight) {
    const auto fake = make_fake();
    const auto device = device_state::make(fake);
    fake->log->events_complete_at_once = false;
    {
        const auto program = device->programs().get(numbered(-1), [] {
            return program_source{"launched", "f", {}};
        });
        auto kernel = program->lease_kernel();
        device->default_queue().enqueue_launch(*kernel, {}, {}, {}, {});
    }
    for (int k = 0; k < 2 * most; ++k) get_numbered(*device, k);
    EXPECT_GT(live_programs(*fake), most) << "the launch is in flight, and so may be all that were evicted";
    fake->log->complete_all();
    get_numbered(*device, 2 * most);
    EXPECT_LE(live_programs(*fake), most);
}

TEST(B5_programs, are_kept_by_launches_that_wait_for_the_program) {
    const auto fake = make_fake();
    const auto device = device_state::make(fake);
    const user_event go;
    event done;
    {
        const auto program = get_numbered(*device, -1);
        auto kernel = program->lease_kernel();
        const event waits[] = {go};
        device->default_queue().enqueue_launch(kernel, {}, {}, {}, {}, waits, &done);
    }
    for (int k = 0; k < 2 * most; ++k) get_numbered(*device, k);
    EXPECT_LE(live_programs(*fake), most + 1);
    EXPECT_TRUE(go.complete());
    done.wait();
    const std::lock_guard lock(fake->log->mutex);
    EXPECT_TRUE(std::any_of(fake->log->commands.begin(), fake->log->commands.end(),
                            [](const fake_command& each) { return each.what == "launch"; }));
}

TEST(B5_programs, go_with_their_device) {
    const auto fake = make_fake();
    {
        const auto device = device_state::make(fake);
        for (int k = 0; k < 10; ++k) get_numbered(*device, k);
        EXPECT_EQ(live_programs(*fake), 10);
        device->free();
        EXPECT_EQ(live_programs(*fake), 0) << "freed by hand";
        EXPECT_THROW(get_numbered(*device, 0), usage_error);
        EXPECT_EQ(live_programs(*fake), 0) << "a freed device loads none";
    }
    {
        const auto device = device_state::make(fake);
        const auto held = get_numbered(*device, 0);
        device->free();
        EXPECT_EQ(live_programs(*fake), 1) << "somebody holds it";
    }
    {
        const auto device = device_state::make(fake);
        for (int k = 0; k < 10; ++k) get_numbered(*device, k);
    }
    EXPECT_EQ(live_programs(*fake), 0);
}

TEST(B5_programs, are_used_while_others_are_evicted) {
    const auto fake = make_fake();
    const auto device = device_state::make(fake);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int k = 0; k < most; ++k) {
                const auto program = get_numbered(*device, k % 3 == 0 ? k % 50 : t * most + k);
                auto kernel = program->lease_kernel();
                device->default_queue().enqueue_launch(*kernel, {}, {}, {}, {});
            }
        });
    for (std::thread& each : threads) each.join();
    device->finish();
    get_numbered(*device, -1);
    EXPECT_LE(live_programs(*fake), most);
}

// ---- what users make --------------------------------------------------------------------------------

TEST(B5_programs, of_a_kernel_for_each_request_stay_bounded) {
    const unseen_by_nvrtc only_here;
    const auto fake = make_fake();
    const device on(device_state::make(fake));
    auto memory = on.mixed_buffer<int>(64);
    for (int request = 0; request < 2 * most; ++request) {
        using namespace balm::dsl;
        const auto own = kernel<1>("request(x)", [&](Mixed<int> x) { x[global_id(0)] += request; });
        on.execute(own(memory), {64});
    }
    EXPECT_LE(live_programs(*fake), most);
    EXPECT_GE(fake->log->compiles, 2 * most);
}

TEST(B5_programs, of_an_expression_for_each_request_stay_bounded) {
    const unseen_by_nvrtc only_here;
    const auto fake = make_fake();
    const auto state = device_state::make(fake);
    const context where({device(state)});
    const vector<float> x(where, 64);
    vector<float> y(where, 64);
    const int requests = 2 * most + 100;
    for (int request = 0; request < requests; ++request) assign_numbered(y, x, request);
    EXPECT_EQ(fake->log->compiles, requests);
    // The table of expressions and that of programs hold the same ones.
    EXPECT_LE(live_programs(*fake), most);
    assign_numbered(y, x, requests - 1);
    EXPECT_EQ(fake->log->compiles, requests) << "the last one is known";
    state->free();
    EXPECT_EQ(live_programs(*fake), 0);
}

TEST(B5_programs, of_expressions_keep_no_images_and_no_devices) {
    const auto fake = make_fake();
    std::weak_ptr<device_state> seen;
    {
        const auto state = device_state::make(fake);
        seen = state;
        const context where({device(state)});
        const vector<float> x(where, 64);
        vector<float> y(where, 64);
        {
            auto picture = device(state).image<float>(32);
            y = sample(picture.sampled(), x);
        }
        state->finish();
        state->free_retired();
        EXPECT_EQ(fake->log->live_images, 0);
    }
    EXPECT_TRUE(seen.expired());
    EXPECT_EQ(live_programs(*fake), 0);
}

}  // namespace balm::test
