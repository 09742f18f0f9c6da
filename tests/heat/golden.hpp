#pragma once
// Golden worlds and pictures for the tests of the heat world. A file's name comes in, its bytes or world go
// out. Here because every heat test starts from them; tests/golden/heat says nothing of dt and n but in file
// names.

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "world.hpp"

namespace heat_test {

/// A golden result: `input` is the world it was stepped from.
struct golden_run {
    const char* input;
    const char* result;
    float dt;
    unsigned n;
};

inline constexpr golden_run golden_runs[] = {
    {"random_37x21.in.txt", "random_37x21.dt0.1.n50.txt", 0.1f, 50},
    {"random_64x64.in.txt", "random_64x64.dt0.05.n333.txt", 0.05f, 333},
    {"slalom_10.in.txt", "slalom_10.dt0.1.n1.txt", 0.1f, 1},
    {"slalom_10.in.txt", "slalom_10.dt0.1.n100.txt", 0.1f, 100},
    {"slalom_10.in.bin", "slalom_10.dt0.1.n100.bin", 0.1f, 100},
    {"slalom_10.in.txt", "slalom_10.dt0.1.n10000.txt", 0.1f, 10000},
    {"slalom_33.in.txt", "slalom_33.dt0.1.n1000.txt", 0.1f, 1000},
};

inline std::string read_file(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << "cannot open " << name;
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

inline std::string golden_path(const std::string& name) {
    return BALM_TEST_SOURCE_DIR "/tests/golden/heat/" + name;
}

inline std::string golden(const std::string& name) { return read_file(golden_path(name)); }

inline heat::world parse(const std::string& bytes) {
    std::istringstream stream(bytes);
    return heat::read_world(stream);
}

inline std::string print(const heat::world& world, heat::format format) {
    std::ostringstream stream;
    heat::write_world(stream, world, format);
    return stream.str();
}

/// A fresh seed, for a test to print: SCOPED_TRACE(seed).
inline std::uint64_t fresh_seed() { return std::random_device{}(); }

}  // namespace heat_test
