#pragma once
// What the tests of the runtime share: every device of the machine through the public handles, and programs
// written by hand for them.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backend/devices.hpp"
#include "balm/context.hpp"
#include "balm/kernel.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/platform.hpp"

namespace balm::test {

/// Every available device, a GPU once for each backend.
inline std::vector<device> all_handles() {
    std::vector<device> all;
    for (const auto& each : runtime::platforms().devices)
        if (each->info().is_available) all.emplace_back(runtime::open_again(each));
    return all;
}

/// Runs the body once on every device; failures name it.
template <class Body>
void on_every_handle(Body&& body) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    for (const device& each : all_handles()) {
        SCOPED_TRACE(each.state()->words());
        body(each);
    }
}

/// Elements of buffers that may have any number of them.
inline constexpr std::size_t some_elements = 1 << 10;

template <class T>
std::vector<T> random_numbers(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = static_cast<T>(random() % 100'000);
    return made;
}

/// out = factor * in + 1
inline const auto& scale() {
    using namespace balm::dsl;
    static const auto made = kernel<1>("scale(factor, in, out)", [](Int factor, In<int> in, Out<int> out) {
        out[global_id(0)] = factor * in[global_id(0)] + 1;
    });
    return made;
}

/// x += factor * n times over, long enough that whoever does not wait for it reads too early.
inline const two_sources slow_source{
    R"(
kernel void slow(global uint* x, uint turns) {
    uint i = get_global_id(0), value = x[i];
    for (uint k = 0; k < turns; ++k) value = value * 1664525u + 1013904223u;
    x[i] = value;
}
)",
    R"(
extern "C" __global__ void slow(unsigned int* x, unsigned int turns) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, value = x[i];
    for (unsigned int k = 0; k < turns; ++k) value = value * 1664525u + 1013904223u;
    x[i] = value;
}
)"};

inline std::uint32_t slow_on_host(std::uint32_t value, std::uint32_t turns) {
    for (std::uint32_t k = 0; k < turns; ++k) value = value * 1664525u + 1013904223u;
    return value;
}

/// A program of the device's store; the same text is the same program.
inline std::shared_ptr<runtime::compiled_program> program_of(const device& on, const two_sources& sources,
                                                             const std::string& name) {
    const std::string& text = sources.for_device(on.state()->driver());
    return on.state()->programs().get({runtime::hasher{}.text(text).result()}, [&] {
        return runtime::program_source{text, name, {}};
    });
}

/// Launches `slow` on a queue over a buffer.
inline event launch_slow(runtime::queue_state& queue, runtime::compiled_program& program,
                         runtime::storage& memory, std::uint32_t turns, std::span<const event> waits = {}) {
    auto kernel = program.lease_kernel();
    const std::vector<runtime::argument> arguments{memory_argument(memory.native()), value_argument(turns)};
    runtime::storage* const used = &memory;
    event done;
    queue.enqueue_launch(kernel, line(memory.bytes() / 4, 64), arguments, {&used, 1}, {&used, 1}, waits,
                         &done);
    return done;
}

}  // namespace balm::test
