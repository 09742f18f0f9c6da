// Errors reach whom they concern: the thread that blocks on the launch, who waits for its event, reads its
// memory or finishes its queue; no other thread.

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "balm/balm.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// Runs it on a thread of its own, from begin to end; what it throws is thrown here.
void elsewhere(const std::function<void()>& body) {
    std::exception_ptr failure;
    std::thread([&] {
        try {
            body();
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure != nullptr) std::rethrow_exception(failure);
}

auto failing_kernel() {
    return balm::kernel<1>("fails(out)", [](Out<int> out) {
        out[global_id(0)] = 1;
        check(global_id(0) < 3, "it is {}", global_id(0));
    });
}
auto fine_kernel() {
    return balm::kernel<1>("fine(out)", [](Out<int> out) { out[global_id(0)] = 2; });
}

class C22_errors : public testing::Test {
protected:
    const device& on() const { return on_; }

    pending fail(mixed_buffer<int>& out) { return on().execute(fails_(out), {4}); }
    pending succeed(mixed_buffer<int>& out) { return on().execute(fine_(out), {4}); }
    /// What a thread does that has nothing to do with the failure.
    void use_another_vector() {
        event done = succeed(b_);
        done.wait();
        EXPECT_EQ(b_.read()[3], 2);
        succeed(b_);
        balm::vector<int> v(context(std::vector<device>{on()}), {1, 2, 3});
        v = v + 1;
        EXPECT_EQ(sum(v), 9);
    }

private:
    device on_ = context([](const device_info& each) { return each.api == backend::opencl; }).device(0);

protected:
    mixed_buffer<int> a_ = on_.mixed_buffer<int>(4), b_ = on_.mixed_buffer<int>(4);

private:
    decltype(failing_kernel()) fails_ = failing_kernel();
    decltype(fine_kernel()) fine_ = fine_kernel();
};

TEST_F(C22_errors, of_a_launch_that_is_waited_for_later_stay_with_its_thread) {
    event failed = fail(a_);
    elsewhere([&] { use_another_vector(); });
    EXPECT_THROW(failed.wait(), check_error);
    EXPECT_THROW(failed.wait(), check_error) << "each time";
    elsewhere([&] { EXPECT_THROW(failed.wait(), check_error) << "whoever waits for the event"; });
    use_another_vector();
    succeed(a_);
}

TEST_F(C22_errors, of_a_launch_that_blocks_stay_with_its_thread) {
    fail(a_);
    elsewhere([&] { use_another_vector(); });
    EXPECT_THROW(succeed(b_), check_error);
    use_another_vector();
    succeed(a_);
}

TEST_F(C22_errors, reach_whoever_reads_the_memory) {
    event failed = fail(a_);
    elsewhere([&] { EXPECT_THROW(a_.read(), check_error); });
    elsewhere([&] { EXPECT_THROW(a_.read(), device_error) << "it holds nothing"; });
    elsewhere([&] { use_another_vector(); });
    EXPECT_THROW(failed.wait(), check_error);
    succeed(a_);
    EXPECT_EQ(a_.read()[0], 2);
}

TEST_F(C22_errors, reach_whoever_computes_with_the_memory_before_anybody_knows) {
    const auto copies =
        balm::kernel<1>("copies(a, b)", [](In<int> a, Out<int> b) { b[global_id(0)] = a[global_id(0)]; });
    auto c = on().mixed_buffer<int>(4);
    event failed = fail(a_);
    elsewhere([&] {
        event copied = on().execute(copies(a_, b_), {4});
        event again = on().execute(copies(b_, c), {4});
        EXPECT_THROW(again.wait(), check_error);
        EXPECT_THROW(b_.read(), device_error) << "of no more use than what it was computed from";
        EXPECT_THROW(c.read(), device_error);
    });
    EXPECT_THROW(failed.wait(), check_error);
    elsewhere([&] { use_another_vector(); });
    succeed(a_);
}

TEST_F(C22_errors, reach_whoever_changes_the_memory) {
    const auto more = balm::kernel<1>("more(a)", [](Mixed<int> a) { a[global_id(0)] += 1; });
    event failed = fail(a_);
    event changed = on().execute(more(a_), {4});
    elsewhere([&] { EXPECT_THROW(changed.wait(), check_error); });
    EXPECT_THROW(on().execute(more(a_), {4}), device_error) << "known by now";
    EXPECT_THROW(failed.wait(), check_error);
    succeed(a_);
    on().execute(more(a_), {4});
    EXPECT_EQ(a_.read()[0], 3);
}

TEST_F(C22_errors, reach_whoever_finishes_the_queue_once) {
    event failed = fail(a_);
    elsewhere([&] { EXPECT_THROW(on().finish(), check_error); });
    on().finish();
    EXPECT_THROW(failed.wait(), check_error);
    use_another_vector();
    succeed(a_);
}

TEST_F(C22_errors, of_a_callback_reach_the_thread_that_gave_it) {
    event done = succeed(a_);
    done.on_complete([] { throw std::runtime_error("no"); });
    done.wait();
    for (int tries = 0; tries < 1000; ++tries) {
        elsewhere([&] { use_another_vector(); });
        try {
            succeed(b_);
        } catch (const callback_error&) {
            use_another_vector();
            return;
        }
    }
    FAIL() << "nobody is told";
}

TEST_F(C22_errors, of_a_command_that_waits_on_the_host_reach_its_thread) {
    user_event go;
    {
        event dropped = on().execute(balm::kernel<1>("more(out)", [](Mixed<int> out) { out[0] = 1; })(a_),
                                     {1}, event(go));
    }
    go.fail(std::make_exception_ptr(std::runtime_error("it shall not")));
    elsewhere([&] { use_another_vector(); });
    EXPECT_THROW(a_.read(), device_error);
    use_another_vector();
    succeed(a_);
    EXPECT_EQ(a_.read()[0], 2);
}

TEST_F(C22_errors, are_thrown_by_no_destructor) {
    event kept = fail(a_);
    { pending dropped = fail(a_); }
    { const context gone(std::vector<device>{on()}); }
    { const queue other = on().make_queue(); }
    EXPECT_THROW(kept.wait(), error);
    for (int tries = 0; tries < 4; ++tries) {
        try {
            on().finish();
            break;
        } catch (const error&) {
        }
    }
    use_another_vector();
    succeed(a_);
}

}  // namespace

}  // namespace balm::test
