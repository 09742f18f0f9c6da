#pragma once
// What `balm selftest` found out about a device. Checks come in, a verdict goes out, and JUnit's XML.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"

namespace balm::tool {

/// All that was found out about one device.
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

/// A wrong result in a line: "f32 sin(1): got 0, expected 0.84147098 (14108037 ulp, 4 allowed)".
std::string words_of(const check&, const wrong_value&);

/// JUnit's XML, as continuous integration reads it: a test suite a device, a test case a check. A wrong value
/// is a failure; a check that could not be run is an error.
std::string as_junit(const std::vector<report>&, std::uint64_t seed);

}  // namespace balm::tool
