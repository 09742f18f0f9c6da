#pragma once
// How long random harnesses run, and how many of their cases side by side.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

namespace balm::test {

/// How many cases a random test draws: BALM_TEST_CASES, or `few`, which the gate has time for.
inline std::size_t case_count(std::size_t few) {
    const char* const given = std::getenv("BALM_TEST_CASES");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : few;
}

/// Runs cases 0 to count - 1 in BALM_TEST_THREADS threads, in one if that is not set: many processes that
/// share a GPU wait for each other's turns on it, threads do not. `run` says of its case whether the others
/// are still worth it.
template <class Run>
void for_each_case(std::size_t count, const Run& run) {
    std::atomic<std::size_t> next = 0, done = 0;
    const auto work = [&] {
        for (std::size_t k; (k = next++) < count;) {
            run(k);
            if (++done % 100 == 0) std::cout << done << " cases" << std::endl;
        }
    };
    const char* const threads = std::getenv("BALM_TEST_THREADS");
    std::vector<std::jthread> others(threads != nullptr ? std::strtoull(threads, nullptr, 10) - 1 : 0);
    for (std::jthread& each : others) each = std::jthread(work);
    work();
}

/// Of a kernel that computes something else than the host: whose defect it may be.
inline const char* optimiser_words(bool is_right_unoptimised) {
    return is_right_unoptimised ? " (right where the driver's compiler does not optimise)"
                                : " (the same where the driver's compiler does not optimise)";
}

}  // namespace balm::test
