// Every allocation and every driver call fails once: for n = 1, 2, … the n-th one fails while an operation
// runs, until one runs without a fault. The operation gives right results or throws balm::error or
// std::bad_alloc; nothing leaks; then it succeeds on the same objects.
//
// In the gate n goes in steps, from an offset that the seed draws. BALM_TEST_CASES=n with a large n takes
// that many faults of each kind for each operation, as far as there are so many; BALM_TEST_SEED=s draws the
// offset.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "failures/allocations.hpp"
#include "fake_drivers/faults.hpp"
#include "runtime/program/program_saver.hpp"
#include "support/case_count.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// What no fault excuses.
struct wrong_result : std::logic_error {
    using std::logic_error::logic_error;
};

void require(bool holds, const char* what) {
    if (!holds) throw wrong_result(what);
}

template <class A, class B>
void require_equal(const A& got, const B& expected, const char* what) {
    require(std::equal(std::begin(got), std::end(got), std::begin(expected), std::end(expected)), what);
}

// ---- the faults ----

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
    const char* const given = std::getenv(variable);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}
std::uint64_t seed() {
    static const std::uint64_t drawn = [] {
        const std::uint64_t s = number("BALM_TEST_SEED", std::random_device{}());
        std::cout << "seed " << s << " (BALM_TEST_SEED repeats it)\n";
        return s;
    }();
    return drawn;
}

struct fault {
    const char* what;
    std::function<void(std::uint64_t nth)> set;
    std::function<bool()> has_come;
};
const fault no_memory{"allocation", [](std::uint64_t n) { fail_allocation(n); }, allocation_has_failed};
const fault no_memory_anywhere{"allocation of any thread",
                               [](std::uint64_t n) { fail_allocation(n, threads::all); },
                               allocation_has_failed};
const fault driver_says_no{"driver call", fail_driver_call, [] { return failed_driver_call() != nullptr; }};

/// Whether it succeeded.
bool run(const std::function<void()>& operation, std::string& why) {
    try {
        operation();
        return true;
    } catch (const error& e) {
        why = e.what();
    } catch (const std::bad_alloc&) {
        why = "std::bad_alloc";
    } catch (const std::exception& e) {
        ADD_FAILURE() << "neither a balm::error nor std::bad_alloc: " << e.what();
    }
    return false;
}

/// Errors that nobody has seen are thrown here: the operation's commands were this thread's.
void hear_errors(const context& ctx) {
    for (const device& each : ctx.devices())
        for (int tries = 0; tries < 4; ++tries) {
            std::string why;
            if (run([&] { each.finish(); }, why)) break;
        }
}

/// One fault, and what comes after it. False: there are fewer than n.
bool meet(const context& ctx, const fault& kind, std::uint64_t n, const std::function<void()>& operation) {
    std::string why, later;
    kind.set(n);
    const bool succeeded = run(operation, why);
    const bool came = kind.has_come();
    const char* const call = failed_driver_call();
    kind.set(0);
    if (!came && !succeeded) ADD_FAILURE() << "fails without a fault: " << why;
    hear_errors(ctx);
    if (!run(operation, later))
        ADD_FAILURE() << kind.what << " " << n << (call != nullptr ? call : "")
                      << ": then it fails, too: " << later << "\nafter: " << why;
    hear_errors(ctx);
    return came;
}

/// Whether the same fault leaves something each time.
void expect_no_leak(const context& ctx, const fault& kind, std::uint64_t n,
                    const std::function<void()>& operation) {
    std::string left;
    for (int turn = 0; turn < 4; ++turn) {
        const std::int64_t allocations = live_allocations();
        const int objects = live_driver_objects();
        meet(ctx, kind, n, operation);
        runtime::finish_saving();  // by a thread that keeps the program meanwhile
        if (live_allocations() <= allocations && live_driver_objects() <= objects) return;
        left = fmt::format("{} allocations, {} of the driver's objects", live_allocations() - allocations,
                           live_driver_objects() - objects);
    }
    ADD_FAILURE() << kind.what << " " << n << ": each time something is left: " << left;
}

void sweep(const context& ctx, const char* name, const std::function<void()>& operation,
           const std::vector<const fault*>& kinds, std::uint64_t cases, bool keeps = false) {
    for (const fault* kind : kinds) {
        SCOPED_TRACE(std::string(name) + ", " + kind->what + ", " + ctx.device(0).info().name);
        operation();  // what is made once is made
        std::uint64_t last = 1;
        for (std::uint64_t step = 1; meet(ctx, *kind, last, operation); step *= 2) last += step;
        const std::uint64_t stride = std::max<std::uint64_t>(1, last / case_count(cases));
        std::uint64_t met = 0;
        for (std::uint64_t n = 1 + seed() % stride; n <= last; n += stride) {
            if (!meet(ctx, *kind, n, operation)) break;
            ++met;
            if (!keeps && kind != &no_memory_anywhere) expect_no_leak(ctx, *kind, n, operation);
            if (testing::Test::HasFailure()) return;
        }
        std::cout << fmt::format("{:<14} {:<24} {:>6} faults, one in {}\n", name, kind->what, met, stride);
    }
}

// ---- the devices ----

context devices_of(const char* platform, std::size_t count) {
    std::vector<device> found =
        context([=](const device_info& each) { return each.platform == platform; }).devices();
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
    return context(found);
}

std::vector<int> drawn(std::size_t count) {
    static std::mt19937 random(static_cast<unsigned>(seed()));
    std::vector<int> values(count);
    for (int& each : values) each = static_cast<int>(random() % 1000);
    return values;
}

std::vector<int> changed(std::vector<int> values, int factor, int summand) {
    for (int& each : values) each = each * factor + summand;
    return values;
}

// ---- the operations ----

constexpr std::size_t n = 256;

/// Every way into and out of a buffer.
std::function<void()> transfers(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(16, n / 16));
    auto b = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(16, n / 16));
    return [=] {
        const std::vector<int> first = drawn(n);
        a->write(std::span<const int>(first)).wait();
        require_equal(a->read(), first, "a write and a read");
        host_array<int> moved{shape(16, n / 16)};
        std::iota(moved.begin(), moved.end(), 7);
        const std::vector<int> second(moved.begin(), moved.end());
        event written = b->write(std::move(moved));
        auto later = b->read_async(written);
        event copied = b->copy_to(*a, written);
        require_equal(later.get(), second, "an asynchronous read of host memory that was given away");
        require_equal(a->read(copied), second, "a copy");
        a->region({2, 3}, {4, 5}).fill(-1).wait();
        for (const int each : a->region({2, 3}, {4, 5}).read()) require(each == -1, "a region");
        std::vector<int> third = drawn(20);
        a->region({1, 1}, {4, 5}).write(std::span<const int>(third)).wait();
        require_equal(a->region({1, 1}, {4, 5}).read(), third, "a written region");
        {
            auto mapped = a->map();
            for (int& each : mapped) each = 3;
        }
        for (const int each : a->read()) require(each == 3, "mapped memory");
    };
}

/// Launches on two queues, which come one after the other.
std::function<void()> launches(const context& ctx) {
    const device on = ctx.device(0);
    auto other = std::make_shared<queue>(on.make_queue());
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    auto b = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    const auto add = balm::kernel<1>("add_to(by, a)", [](Int by, Mixed<int> to) { to[global_id(0)] += by; });
    const auto twice = balm::kernel<1>(
        "twice(a, b)", [](In<int> from, Out<int> to) { to[global_id(0)] = 2 * from[global_id(0)]; });
    return [=] {
        const std::vector<int> values = drawn(n);
        event written = a->write(std::span<const int>(values));
        event added = on.execute(add(5, *a), {n}, {64}, written);
        event doubled = other->execute(twice(*a, *b), {n}, {64});
        event again = on.execute(add(1, *a), {n}, {64});  // not before `twice` has read
        require_equal(b->read(), changed(values, 2, 10), "a launch on another queue");
        require_equal(a->read(), changed(values, 1, 6), "a launch after it");
        doubled.wait();
        again.wait();
    };
}

/// A recording and replays of it.
std::function<void()> recordings(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    auto b = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    auto x = std::make_shared<balm::vector<int>>(ctx, n), y = std::make_shared<balm::vector<int>>(ctx, n);
    const auto add = balm::kernel<1>("add_to(by, a)", [](Int by, Mixed<int> to) { to[global_id(0)] += by; });
    const auto twice = balm::kernel<1>(
        "twice(a, b)", [](In<int> from, Out<int> to) { to[global_id(0)] = 2 * from[global_id(0)]; });
    return [=] {
        const std::vector<int> values = drawn(n);
        a->write(std::span<const int>(values)).wait();
        const recording step = balm::record(ctx, [&] {
            on.execute(add(5, *a), {n}, {64});
            on.execute(twice(*a, *b), {n}, {64});
            b->copy_to(*a);
            const balm::vector<int> sum = *x + 1;  // of statements the fake drivers know no kernel
            *y = sum * *x;
        });
        step.repeat(2);
        require_equal(a->read(), changed(changed(values, 2, 10), 2, 10), "two replays");
    };
}

/// Commands that wait on the host: the poller hands them over.
std::function<void()> deferrals(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    const auto add = balm::kernel<1>("add_to(by, a)", [](Int by, Mixed<int> to) { to[global_id(0)] += by; });
    return [=] {
        const std::vector<int> values = drawn(n);
        a->write(std::span<const int>(values)).wait();
        user_event go;
        event added = on.execute(add(5, *a), {n}, {64}, event(go));
        event again = on.execute(add(2, *a), {n}, {64});
        auto seen = a->read_async();
        go.complete();
        again.wait();
        require_equal(seen.get(), changed(values, 1, 7), "commands that waited");
    };
}

std::function<void()> constructions(const context& ctx) {
    return [=] {
        const std::vector<int> values = drawn(n);
        balm::vector<int> v(ctx, values);
        require_equal(v.to_host(), values, "a vector");
        const balm::vector<int> w = v;
        const balm::vector<int> moved = std::move(v);
        require_equal(moved.to_host(), values, "a moved vector");
        v = w;  // by a kernel that the fake drivers do not know
        (void)v.to_host();
    };
}

std::function<void()> expressions(const context& ctx) {
    auto v = std::make_shared<balm::vector<int>>(ctx, n), w = std::make_shared<balm::vector<int>>(ctx, n);
    return [=] {
        const std::vector<int> values = drawn(n);
        *v = balm::vector<int>(ctx, values);
        *w = *v * 2 + 10;
        *w = *w + *v;
        (void)w->to_host();
        (void)sum(*w);
    };
}

std::function<void()> texts(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    return [=] {
        const auto add = balm::source_kernel<1, void(std::int32_t, Mixed<int>)>(
            "add_to", "kernel void add_to(int by, global int* a) { a[get_global_id(0)] += by; }");
        const std::vector<int> values = drawn(n);
        a->write(std::span<const int>(values));
        on.execute(add(5, *a), {n}, {64});
        require_equal(a->read(), changed(values, 1, 5), "a text kernel");
    };
}

/// A kernel that no cache knows: traced, printed, compiled, kept on disk.
std::function<void()> new_kernels(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    auto turn = std::make_shared<int>(static_cast<int>(seed() % 1000) * 1000);
    return [=] {
        const int own = ++*turn;
        const auto add = balm::kernel<1>("add_to(by, a)", [own](Int by, Mixed<int> to) {
            to[global_id(0)] += by + own - own + cast<int>(by > 1000000) * own;
        });
        const std::vector<int> values = drawn(n);
        a->write(std::span<const int>(values));
        on.execute(add(5, *a), {n}, {64});
        require_equal(a->read(), changed(values, 1, 5), "a kernel that is new");
    };
}

std::function<void()> prints(const context& ctx) {
    const device on = ctx.device(0);
    auto text = std::make_shared<std::ostringstream>();
    const auto says = balm::kernel<1>("says(x)", [](Int x) { print("{} of {};", global_id(0), x); });
    return [=] {
        text->str({});
        context(ctx).print_to(*text);
        event done = on.execute(says(2), {2});
        done.wait();
    };
}

/// What lies elsewhere than in a buffer: images, memory that the host sees, page-locked memory.
std::function<void()> other_memory(const context& ctx) {
    const device on = ctx.device(0);
    return [=] {
        std::vector<float> texels(8 * 8);
        std::iota(texels.begin(), texels.end(), 0.f);
        {
            auto image = on.image<float>(8, 8), copy = on.image<float>(8, 8);
            image.write(std::span<const float>(texels));
            image.copy_to(copy);
            require_equal(copy.read(), texels, "an image");
        }
        auto pinned = on.pinned_array<int>(n);
        auto a = on.mixed_buffer<int>(n);
        const std::vector<int> values = drawn(n);
        std::copy(values.begin(), values.end(), pinned.begin());
        event written = a.write(pinned);
        require_equal(a.read(written), values, "page-locked memory");
        auto shared = on.managed_array<int>(n);
        {
            auto mapped = shared.map();
            std::copy(values.begin(), values.end(), mapped.begin());
        }
        shared.copy_to(a);
        require_equal(a.read(), values, "managed memory");
    };
}

std::function<void()> copies_between_devices(const context& ctx) {
    auto a = std::make_shared<mixed_buffer<int>>(ctx.device(0).mixed_buffer<int>(n));
    auto b = std::make_shared<mixed_buffer<int>>(ctx.device(1).mixed_buffer<int>(n));
    return [=] {
        const std::vector<int> values = drawn(n);
        event written = a->write(std::span<const int>(values));
        event copied = a->copy_to(*b, written);
        a->fill(-1);  // not before it is copied
        require_equal(b->read(copied), values, "a copy to another device");
    };
}

std::function<void()> profiles(const context& ctx) {
    const device on = ctx.device(0);
    auto a = std::make_shared<mixed_buffer<int>>(on.mixed_buffer<int>(n));
    return [=] {
        profiler prof(on);
        const std::vector<int> values = drawn(n);
        {
            const auto section = prof.section("writes");
            a->write(std::span<const int>(values)).wait();
        }
        require_equal(a->read(), values, "a profiled write");
        const auto rows = prof.rows();
        require(!rows.empty() && rows.front().name == "writes", "a section");
    };
}

/// Matrix products by cuBLAS and CLBlast, one and a batch.
std::function<void()> products(const context& ctx) {
    constexpr std::size_t m = 9, k = 10, columns = 11;
    return [=] {
        const std::vector<int> a = drawn(2 * m * k), b = drawn(2 * k * columns);
        const balm::vector<double> x(ctx, std::vector<double>(a.begin(), a.end())),
            y(ctx, std::vector<double>(b.begin(), b.end()));
        balm::vector<double> one(ctx, m * columns), two(ctx, 2 * m * columns);
        const auto A = balm::view(x, {2, m, k}), B = balm::view(y, {2, k, columns});
        one = matmul(A(0, balm::all, balm::all), B(0, balm::all, balm::all), multiply_by::vendor_library);
        two = einsum("bik,bkj->bij", A, B, multiply_by::vendor_library);
        std::vector<double> expected(2 * m * columns);
        for (std::size_t at = 0; at < expected.size(); ++at)
            for (std::size_t i = 0; i < k; ++i)
                expected[at] +=
                    a[at / columns * k + i] * b[(at / (m * columns) * k + i) * columns + at % columns];
        require_equal(two.to_host(), expected, "a batch of products");
        expected.resize(m * columns);
        require_equal(one.to_host(), expected, "a product");
    };
}

/// A device from its beginning to its end; the kernel comes from the disk.
std::function<void()> lives_of_a_device(const char* platform) {
    const auto add = balm::kernel<1>("add_to(by, a)", [](Int by, Mixed<int> to) { to[global_id(0)] += by; });
    return [=] {
        const device on = devices_of(platform, 2).device(1);
        auto a = on.mixed_buffer<int>(n);
        const std::vector<int> values = drawn(n);
        a.write(std::span<const int>(values));
        on.execute(add(5, a), {n}, {64});
        require_equal(a.read(), changed(values, 1, 5), "a launch on a device that was opened again");
        on.free();
    };
}

constexpr std::uint64_t in_the_gate = 12;

void sweep_all(const char* platform) {
    const context one = devices_of(platform, 1), two = devices_of(platform, 2);
    const std::vector<const fault*> all{&no_memory, &driver_says_no, &no_memory_anywhere};
    sweep(one, "transfers", transfers(one), all, in_the_gate);
    sweep(one, "launches", launches(one), all, in_the_gate);
    sweep(one, "recordings", recordings(one), all, in_the_gate);
    sweep(one, "deferrals", deferrals(one), all, in_the_gate);
    sweep(one, "constructions", constructions(one), all, in_the_gate);
    sweep(two, "constructions", constructions(two), all, in_the_gate);
    sweep(one, "expressions", expressions(one), all, in_the_gate);
    sweep(two, "expressions", expressions(two), all, in_the_gate);
    sweep(one, "texts", texts(one), all, in_the_gate);
    sweep(one, "prints", prints(one), all, in_the_gate);
    sweep(one, "new kernels", new_kernels(one), all, in_the_gate, true);
    sweep(one, "other memory", other_memory(one), all, in_the_gate);
    sweep(two, "copies", copies_between_devices(two), all, in_the_gate);
    sweep(one, "profiles", profiles(one), all, in_the_gate);
    sweep(one, "products", products(one), all, in_the_gate);
    sweep(one, "lives", lives_of_a_device(platform), all, in_the_gate);
}

TEST(C20_failures, of_cuda_and_of_memory_are_survived) { sweep_all("CUDA"); }
TEST(C20_failures, of_opencl_and_of_memory_are_survived) { sweep_all("Fake OpenCL"); }
TEST(C20_failures, of_what_passes_for_pocl_and_of_memory_are_survived) {
    sweep_all("Portable Computing Language");
}

}  // namespace

}  // namespace balm::test
