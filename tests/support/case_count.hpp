#pragma once
// How long random harnesses run.

#include <cstddef>
#include <cstdlib>

namespace balm::test {

/// How many cases a random test draws: BALM_TEST_CASES, or `few`, which the gate has time for.
inline std::size_t case_count(std::size_t few) {
    const char* const given = std::getenv("BALM_TEST_CASES");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : few;
}

}  // namespace balm::test
