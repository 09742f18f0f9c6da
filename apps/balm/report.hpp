#pragma once
// The results of `balm selftest` for a device. In: checks. Out: a verdict, and JUnit XML.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"

namespace balm::tool {

/// All results for one device.
struct report {
    device on;
    std::vector<check> checks;
    double seconds = 0;

    bool is_fit() const;
    std::size_t values() const;
    std::size_t count(const char* kind) const;
    /// "fit", or "not fit: " and the checks that failed.
    std::string verdict() const;
};

/// A wrong result as one line: "f32 sin(1): got 0, expected 0.84147098 (14108037 ulp, 4 allowed)".
std::string words_of(const check&, const wrong_value&);

/// JUnit XML for continuous integration: one test suite per device, one test case per check. A wrong value is
/// a failure; a check that could not be run is an error.
std::string as_junit(const std::vector<report>&, std::uint64_t seed);

}  // namespace balm::tool
