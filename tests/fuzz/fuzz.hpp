#pragma once
// What the fuzz targets share: a property that does not hold ends the process, and libFuzzer keeps the input.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace balm::fuzz {

inline void expect(bool holds, const char* property, std::string_view found = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n%.*s\n", property, static_cast<int>(found.size()), found.data());
    std::abort();
}

}  // namespace balm::fuzz
