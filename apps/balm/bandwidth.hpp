#pragma once
// What `balm bandwidth` measures, and how: an operation that can be repeated in, bytes a second out.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "balm/device.hpp"

namespace balm::tool {

/// Seconds that one operation takes: of samples of at least ten milliseconds.
struct duration {
    double median = 0;
    double best = 0;
};

/// Measures `repeat(n)`, which does the operation n times over and waits for all of them.
template <class F>
duration measure(F&& repeat) {
    using clock = std::chrono::steady_clock;
    constexpr double shortest = 0.01;  // against the clock's steps and the scheduler's
    constexpr std::size_t samples = 9, most = 1 << 16;
    const auto seconds = [&](std::size_t n) {
        const auto start = clock::now();
        repeat(n);
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    seconds(1);  // kernels are compiled, memory is touched
    std::size_t n = 1;
    while (n < most && seconds(n) < shortest) n *= 2;
    std::vector<double> taken;
    for (std::size_t k = 0; k < samples; ++k) taken.push_back(seconds(n) / static_cast<double>(n));
    std::sort(taken.begin(), taken.end());
    return {taken[samples / 2], taken.front()};
}

/// One line of the table: bytes that the operation moves, or none where only its time counts.
struct measurement {
    std::string name;
    std::size_t bytes = 0;
    duration took;
};

/// The lines of a table, in the making. Whoever shows progress learns of each, between measurements.
class measurements {
public:
    explicit measurements(std::function<void()> on_line = [] {}) : on_line_(std::move(on_line)) {}
    void add(measurement line) {
        lines_.push_back(std::move(line));
        on_line_();
    }
    std::vector<measurement> take() { return std::move(lines_); }

private:
    std::vector<measurement> lines_;
    std::function<void()> on_line_;
};

inline constexpr std::size_t lines_of_host = 2, lines_of_device = 12;

/// The host's own memory, with as many threads as it has processors. Throws out_of_memory_error.
std::vector<measurement> measure_host(std::size_t bytes, measurements made = measurements());
/// Transfers, memory and latency of a device. Throws device_error where data does not arrive as it was sent.
std::vector<measurement> measure_device(const device&, std::size_t bytes, measurements made = measurements());
/// Copies from one device to another; the name says which way they go.
measurement measure_pair(const device& from, const device& to, std::size_t bytes);

}  // namespace balm::tool
