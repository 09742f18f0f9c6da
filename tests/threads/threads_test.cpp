// Many threads on one device, doing everything at once; each knows what its memory must hold.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

using number = std::uint32_t;
using numbers = std::vector<number>;

constexpr int threads = 16, operations = 1000;

auto define_step() {
    return balm::kernel<1>("step(factor, x)", [](UInt factor, Mixed<number> x) {
        Index i = global_id(0);
        x[i] = factor * x[i] + cast<number>(i);
    });
}
const auto step = define_step();

number on_host(number factor, number x, std::size_t i) { return factor * x + static_cast<number>(i); }

/// What all threads use.
struct shared {
    device dev;
    context ctx{std::vector<device>{dev}};
    balm::queue queue = dev.make_queue();
    profiler prof{dev};
    numbers host;
    mixed_buffer<number> buffer;
    vector<number> values;
    std::atomic<int> callbacks_due{0}, callbacks{0}, failures{0};

    shared(const device& on, std::mt19937_64& random)
        : dev(on), host(777), buffer(dev.mixed_buffer<number>(host.size())) {
        for (number& each : host) each = static_cast<number>(random());
        buffer.write(host);
        values = vector<number>(ctx, host);
    }
};

/// A buffer and a vector of one thread, and what they must hold.
struct pair {
    mixed_buffer<number> buffer;
    vector<number> values;
    numbers in_buffer, in_vector;

    pair(shared& of, std::mt19937_64& random, std::size_t size)
        : buffer(of.dev.mixed_buffer<number>(size)), values(of.ctx, size), in_buffer(size), in_vector(size) {
        for (std::size_t i = 0; i < size; ++i) {
            in_buffer[i] = static_cast<number>(random());
            in_vector[i] = static_cast<number>(random());
        }
        const event written = buffer.write(in_buffer);
        values.write(in_vector);
    }
    std::size_t size() const { return in_buffer.size(); }
    void step_on_host(number factor) {
        for (std::size_t i = 0; i < size(); ++i) in_buffer[i] = on_host(factor, in_buffer[i], i);
    }
    bool is_right() const {
        return std::ranges::equal(buffer.read(), in_buffer) &&
               std::ranges::equal(values.to_host(), in_vector);
    }
};

class worker {
public:
    worker(shared& with, std::uint64_t seed) : all_(with), random_(seed), own_(with.dev.make_queue()) {}

    void run() {
        for (int i = 0; i < operations; ++i) {
            const auto section = all_.prof.section("operation");
            one();
        }
        for (const pair& each : pairs_) expect(each.is_right());
    }

private:
    number any() { return static_cast<number>(random_()); }
    balm::queue& any_queue() {
        switch (any() % 3) {
            case 0: return own_;
            case 1: return all_.queue;
            default: own_ = any() % 8 == 0 ? all_.dev.make_queue(any() % 2 == 0) : own_; return own_;
        }
    }
    void expect(bool right) { all_.failures += right ? 0 : 1; }

    void one() {
        if (pairs_.empty() || any() % 16 == 0) pairs_.emplace_back(all_, random_, 1 + any() % 2000);
        if (pairs_.size() > 5) pairs_.pop_front();
        pair& on = pairs_[any() % pairs_.size()];
        const number value = any();
        switch (any() % 14) {
            case 0: {
                for (number& each : on.in_buffer) each = value;
                const event filled = on.buffer.fill(value);
                break;
            }
            case 1: {
                numbers values(on.size());
                for (number& each : values) each = any();
                on.in_buffer = values;
                const event written = on.buffer.write(std::move(values));
                break;
            }
            case 2: expect(on.is_right()); break;
            case 3: {
                auto got = on.buffer.read_async();
                expect(std::ranges::equal(got.get(), on.in_buffer));
                break;
            }
            case 4:
            case 5: {
                const event done = any_queue().execute(step(value, on.buffer), {on.size()});
                on.step_on_host(value);
                if (value % 4 == 0) done.wait();
                break;
            }
            case 6: {  // the same kernel once more
                const auto again = define_step();
                all_.dev.execute(again(value, on.buffer), {on.size()});
                on.step_on_host(value);
                break;
            }
            case 7: {
                on.values = value * on.values + 3u;
                for (number& each : on.in_vector) each = value * each + 3;
                break;
            }
            case 8: {
                std::uint64_t expected = 0;
                for (const number each : on.in_vector) expected += each ^ value;
                expect(sum(cast<std::uint64_t>(on.values ^ value)) == expected);
                break;
            }
            case 9: {
                const pair& from = pairs_[any() % pairs_.size()];
                if (&from == &on || from.size() != on.size()) break;
                const event copied = from.buffer.copy_to(on.buffer);
                on.in_buffer = from.in_buffer;
                break;
            }
            case 10: {  // held back by an event of its own, and by one of another queue
                const user_event go;
                const event done =
                    any_queue().execute(step(value, on.buffer), {on.size()}, go, own_.record());
                const event again = any_queue().execute(step(7u, on.buffer), {on.size()}, done);
                on.step_on_host(value);
                on.step_on_host(7);
                if (value % 2 == 0) ++all_.callbacks_due;
                if (value % 2 == 0) again.on_complete([&all = all_] { ++all.callbacks; });
                expect(go.complete());
                if (value % 4 == 1) expect(again.wait_for(std::chrono::seconds(60)));
                break;
            }
            case 11: {
                ++all_.callbacks_due;
                any_queue().record().on_complete([&all = all_](const std::exception_ptr& failure) {
                    ++all.callbacks;
                    all.failures += failure == nullptr ? 0 : 1;
                });
                break;
            }
            case 12: {
                expect(std::ranges::equal(all_.buffer.read(), all_.host));
                if (value % 4 == 0)
                    expect(all_.values[value % all_.host.size()] == all_.host[value % all_.host.size()]);
                break;
            }
            default: {
                user_event never;
                const auto spoilt = all_.dev.mixed_buffer<number>(64);
                event done;
                {
                    const user_event dropped = std::exchange(never, user_event());
                    done = any_queue().execute(step(value, spoilt), {64}, dropped);
                }
                try {
                    done.wait();
                    expect(false);
                } catch (const usage_error&) {
                }
                break;
            }
        }
    }

    shared& all_;
    std::mt19937_64 random_;
    balm::queue own_;
    std::deque<pair> pairs_;
};

}  // namespace

TEST(C22_threads, do_a_thousand_mixed_operations_each_on_one_device) {
    auto random = seeded_random();
    on_all_devices([&](const device& dev) {
        shared with(dev, random);
        std::vector<std::thread> all;
        std::atomic<int> failures{0};
        for (int t = 0; t < threads; ++t)
            all.emplace_back([&with, &failures, seed = random()] {
                try {
                    worker(with, seed).run();
                } catch (const std::exception& fault) {
                    ++failures;
                    std::cerr << fault.what() << '\n';
                }
            });
        for (std::thread& each : all) each.join();
        with.dev.finish();
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (with.callbacks < with.callbacks_due && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(failures, 0);
        EXPECT_EQ(with.failures, 0);
        EXPECT_EQ(with.callbacks, with.callbacks_due);
        const std::vector<profile_row> rows = with.prof.rows();
        ASSERT_FALSE(rows.empty());
        EXPECT_EQ(rows[0].count, static_cast<std::uint64_t>(threads * operations));
    });
}

}  // namespace balm::test
