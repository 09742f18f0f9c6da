#pragma once
// How a compiled program is launched: where the argument of each parameter comes from, and the grid that
// covers n indices.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace balm::runtime {

enum class origin : std::uint8_t {
    user,      ///< the launch's own arguments, by number
    shift,     ///< where in its allocation the user's memory of this number begins, in bytes
    constant,  ///< a constant of the kernel's module, by number
    exchange,  ///< local memory of emulated sub-groups, by the scalar type
    records,   ///< what prints and checks write to
    item,      ///< of functions: the work-item that prints
    offset,    ///< global_offset, by dimension
    first,     ///< where the part of the grid begins, without the offset, by dimension
    size       ///< global_size of the whole grid, by dimension
};

struct parameter_origin {
    origin from = origin::user;
    std::uint16_t number = 0;

    friend bool operator==(const parameter_origin&, const parameter_origin&) = default;
};

struct launch_plan {
    std::vector<parameter_origin> parameters;
    std::size_t elements_per_item = 1;  ///< indices of a grid_range
    std::size_t local_size = 256;
};

}  // namespace balm::runtime
