#pragma once
// The facts that a kernel is compiled for, and how the program is launched: where the argument of each
// parameter comes from, and the grid that covers n indices.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "balm/types.hpp"

namespace balm::runtime {

/// How the driver's grid relates to the requested one.
struct grid_facts {
    bool is_offset = false;   ///< global_id begins at an offset
    bool is_subgrid = false;  ///< one of several that the requested grid is launched as
    bool is_padded = false;   ///< rounded up to whole work-groups: the additional work-items do nothing
    friend bool operator==(const grid_facts&, const grid_facts&) = default;

    bool any() const { return is_offset || is_subgrid || is_padded; }
};

/// The facts of a launch that its kernel is compiled for.
struct launch_facts {
    bool on_cpu = false;
    bool loops_over_items = false;  ///< the compiler runs a group's work-items in loops, barrier to barrier
    bool distinct = true;           ///< no memory that the kernel writes overlaps another of its arguments
    bool grid_covers_loop = false;  ///< the grid is the one that `ir::lowered` describes
    grid_facts grid{};              ///< how the driver's grid relates to the requested one
    bool is_shifted = false;  ///< memory arguments begin within allocations: each is followed by its offset
    bool is_tight = false;    ///< memory may be unaligned or unpadded for vectors
    std::uint64_t small_counts = 0;  ///< a bit for each of the first 64 parameters: a count, in [0, 2^31)
    std::array<std::uint32_t, 3> only_for{};  ///< the launch's work-group size, if the compiler must be told
                                              ///< it to limit registers; zeros: any
    std::uint32_t max_registers = 0;  ///< per work-item, so that more groups fit on a compute unit; 0: any
    friend bool operator==(const launch_facts&, const launch_facts&) = default;
};

enum class origin : std::uint8_t {
    user,       ///< the user's arguments, by number
    shift,      ///< the byte offset of the user's memory of this number in its allocation
    extent,     ///< an extent of a memory argument: 4 times its number, plus the dimension
    constant,   ///< a constant of the kernel's module, by number
    exchange,   ///< local memory of emulated sub-groups, by the scalar type
    records,    ///< the buffer that prints and checks write to
    item,       ///< in functions: the work-item that prints
    offset,     ///< global_offset, by dimension
    first,      ///< the first index of the part of the grid, without the offset, by dimension
    size,       ///< global_size of the whole grid, by dimension
    reciprocal  ///< computed from the argument of this number: see reciprocal.hpp
};

/// A number by which kernels multiply instead of dividing by an argument.
enum class reciprocal_part : std::uint8_t {
    none,
    narrow,       ///< for dividends of 32 bits
    wide,         ///< for dividends of 63 bits and a sign
    wide_shift,   ///< the shift that follows the multiplication by it
    whole,        ///< for dividends of 64 bits
    whole_shift,  ///< the shifts that follow
};

struct parameter_origin {
    origin from = origin::user;
    std::uint16_t number = 0;
    reciprocal_part part = reciprocal_part::none;
    scalar given = scalar::nothing;    ///< the type of the argument that is divided by
    scalar divides = scalar::nothing;  ///< the type of the division

    friend bool operator==(const parameter_origin&, const parameter_origin&) = default;
};

struct launch_plan {
    std::vector<parameter_origin> parameters;
    std::size_t elements_per_item = 1;  ///< indices of a grid_range per work-item
    std::size_t most_peeled = 0;        ///< indices by which the first work-item may begin before 0
    std::size_t local_size = 256;
    std::array<std::size_t, 2> rows_per_item{1, 1};  ///< indices in the second and third dimension

    /// The number of work-items for n indices; n > 0.
    std::size_t items_for(std::size_t n) const { return (n - 1 + most_peeled) / elements_per_item + 1; }
};

}  // namespace balm::runtime
