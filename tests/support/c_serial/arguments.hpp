#pragma once
// What a kernel printed as plain C++ is launched with. Included by the printed source, too.

#include <cstddef>
#include <cstdint>

namespace balm_serial {

struct grid {
    std::int64_t global[3], local[3];
};

enum filter : std::uint8_t { nearest, linear };
enum address : std::uint8_t { to_edge, to_border, repeat, mirrored_repeat };

struct argument {
    std::uint64_t bits = 0;
    std::byte* memory = nullptr;
    std::int64_t extents[3] = {1, 1, 1};
    filter between = nearest;
    address beyond = to_edge;
    bool is_normalised = false;
};

}  // namespace balm_serial
