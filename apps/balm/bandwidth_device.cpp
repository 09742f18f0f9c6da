// The bandwidth of a device and of transfers to and from it, through Balm's public interface.

#include <fmt/format.h>

#include <random>
#include <span>

#include "balm/context.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "balm/kernel.hpp"
#include "balm/pinned_array.hpp"
#include "balm/vector.hpp"
#include "bandwidth.hpp"

namespace balm::tool {

namespace {

using namespace balm::dsl;

/// Random data, which differs in every run: a driver or a bus cannot compress it.
void fill_with_noise(std::span<float> numbers) {
    std::minstd_rand random(std::random_device{}());
    for (float& each : numbers) each = static_cast<float>(random());
}

void require_equal(std::span<const float> sent, std::span<const float> got, const device& on) {
    const auto wrong = std::mismatch(sent.begin(), sent.end(), got.begin());
    if (wrong.first != sent.end())
        throw device_error(
            fmt::format("Data written to device '{}' was read back as {} instead of {}, at element {} of {}.",
                        on.name(), *wrong.second, *wrong.first, wrong.first - sent.begin(), sent.size()));
}

/// Enqueues the operation repeatedly and waits for the last event: the queue is in-order.
template <class F>
duration measure_queued(F&& submit) {
    return measure([&](std::size_t times) {
        event last;
        for (std::size_t k = 0; k < times; ++k) last = submit();
        last.wait();
    });
}

template <class F>
duration measure_each(F&& once) {
    return measure([&](std::size_t times) {
        for (std::size_t k = 0; k < times; ++k) once();
    });
}

void measure_pageable(const device& on, std::size_t n, measurements& made) {
    auto memory = on.mixed_buffer<float>(n);
    host_array<float> sent{shape(n)}, got{shape(n)};
    fill_with_noise(sent);
    const std::size_t bytes = memory.size_bytes();
    made.add({"host to device, pageable", bytes,
              measure_queued([&]() -> event { return memory.write(std::span<const float>(sent)); })});
    made.add(
        {"device to host, pageable", bytes, measure_each([&] { memory.read_into(std::span<float>(got)); })});
    require_equal(sent, got, on);
}

void measure_pinned(const device& on, std::size_t n, measurements& made) {
    auto memory = on.mixed_buffer<float>(n);
    const pinned_array<float> sent = on.pinned_array<float>(n), got = on.pinned_array<float>(n);
    fill_with_noise({sent.data(), n});
    const std::size_t bytes = memory.size_bytes();
    made.add(
        {"host to device, pinned", bytes, measure_queued([&]() -> event { return memory.write(sent); })});
    made.add(
        {"device to host, pinned", bytes, measure_queued([&]() -> event { return memory.read_into(got); })});
    require_equal({sent.data(), n}, {got.data(), n}, on);
}

void measure_memory(const device& on, std::size_t n, measurements& made) {
    const context where({on});
    vector<float> a(where, n), b(where, n), c(where, n);
    b = cast<float>(element_index() % 1024);
    c = 2.f;
    const std::size_t bytes = n * sizeof(float);
    const auto kernels = [&](auto&& assign) {
        return measure([&](std::size_t times) {
            for (std::size_t k = 0; k < times; ++k) assign();
            on.finish();
        });
    };
    made.add({"scale by a kernel", 2 * bytes, kernels([&] { a = 3.f * b; })});
    made.add({"triad by a kernel", 3 * bytes, kernels([&] { a = b + 3.f * c; })});  // STREAM's
    for (const std::size_t i : {std::size_t{0}, n / 2, n - 1})
        if (const float got = a[i]; got != static_cast<float>(i % 1024) + 6.f)
            throw device_error(
                fmt::format("b + 3 * c on device '{}' gave {} at element {}.", on.name(), got, i));

    auto from = on.mixed_buffer<float>(n), to = on.mixed_buffer<float>(n);
    made.add({"fill", bytes, measure_queued([&]() -> event { return from.fill(1.f); })});
    made.add({"copy", 2 * bytes, measure_queued([&]() -> event { return from.copy_to(to); })});
}

void measure_latency(const device& on, measurements& made) {
    const auto small = kernel<1>("small(memory)", [](Out<int> memory) {
        IF (global_id(0) == 0) {
            memory[0] = 1;
        }
    });
    auto memory = on.mixed_buffer<int>(1);
    const auto launch = [&]() -> event { return on.execute(small(memory), {64}); };
    made.add({"launch, waited for", 0, measure_each([&] { launch().wait(); })});
    made.add({"launch, one of many", 0, measure_queued(launch)});
    int one = 1;
    made.add({"write of 4 bytes", 0, measure_each([&] { memory.write(std::span<const int>(&one, 1)); })});
    made.add({"read of 4 bytes", 0, measure_each([&] { memory.read_into(std::span<int>(&one, 1)); })});
}

}  // namespace

std::vector<measurement> measure_device(const device& on, std::size_t bytes, measurements made) {
    const std::size_t n = bytes / sizeof(float);
    measure_pageable(on, n, made);
    measure_pinned(on, n, made);
    measure_memory(on, n, made);
    measure_latency(on, made);
    return made.take();
}

measurement measure_pair(const device& from, const device& to, std::size_t bytes) {
    const std::size_t n = bytes / sizeof(float);
    host_array<float> sent{shape(n)};
    fill_with_noise(sent);
    auto source = from.mixed_buffer<float>(n), target = to.mixed_buffer<float>(n);
    source.write(std::span<const float>(sent));
    const duration took = measure_queued([&]() -> event { return source.copy_to(target); });
    require_equal(sent, target.read(), to);
    return {to_string(to.copies_from(from)), bytes, took};
}

}  // namespace balm::tool
