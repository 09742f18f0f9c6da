#pragma once
// The measurements of `balm bandwidth`. In: a repeatable operation. Out: the time that it takes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "balm/device.hpp"

namespace balm::tool {

/// Seconds per operation, from samples of at least ten milliseconds.
struct duration {
    double median = 0;
    double best = 0;
};

/// Measures `repeat(n)`, which runs the operation n times and waits for all of them.
template <class F>
duration measure(F&& repeat) {
    using clock = std::chrono::steady_clock;
    constexpr double shortest = 0.01;  // well above the granularity of clock and scheduler
    constexpr std::size_t samples = 9, most = 1 << 16;
    const auto seconds = [&](std::size_t n) {
        const auto start = clock::now();
        repeat(n);
        return std::chrono::duration<double>(clock::now() - start).count();
    };
    seconds(1);  // warm-up: compiles kernels, touches memory
    std::size_t n = 1;
    while (n < most && seconds(n) < shortest) n *= 2;
    std::vector<double> taken;
    for (std::size_t k = 0; k < samples; ++k) taken.push_back(seconds(n) / static_cast<double>(n));
    std::sort(taken.begin(), taken.end());
    return {taken[samples / 2], taken.front()};
}

/// One line of the table: the bytes that the operation moves, or 0 if only its time matters.
struct measurement {
    std::string name;
    std::size_t bytes = 0;
    duration took;
};

/// Collects the lines of a table. Calls `on_line` after each measurement, for a progress bar.
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

/// Measures host memory, with one thread per processor. Throws out_of_memory_error if the arrays do not fit.
std::vector<measurement> measure_host(std::size_t bytes, measurements made = measurements());
/// Measures transfers, memory and latency of a device. Throws device_error if data arrives altered.
std::vector<measurement> measure_device(const device&, std::size_t bytes, measurements made = measurements());
/// Measures copies from one device to another; the measurement's name is the path that they take.
measurement measure_pair(const device& from, const device& to, std::size_t bytes);

}  // namespace balm::tool
