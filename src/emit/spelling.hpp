#pragma once
// What the two dialects say differently: one table of words each, read by the one walker.

#include <string>
#include <string_view>

#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

struct spelling {
    std::string_view kernel;             ///< ahead of a kernel
    std::string_view only_for;           ///< behind it: the work-group's size {0}, {1}, {2}, in all {3}
    std::string_view device_function;    ///< ahead of a function
    std::string_view number_function;    ///< ahead of one of numbers, without memory or structures
    std::string_view global_memory;      ///< ahead of a pointer to global memory
    std::string_view local_memory;       ///< ahead of a pointer to local memory
    std::string_view local_array;        ///< ahead of an array in local memory
    std::string_view constant_array;     ///< ahead of one in constant memory
    std::string_view zeroed;             ///< behind an array that begins as zeros
    std::string_view restrict_pointer;   ///< behind the star
    std::string_view long_suffix;        ///< of a 64-bit literal
    std::string_view f32_bits, f32_end;  ///< around the bits of a float that has no literal
    std::string_view f64_bits, f64_end;
    std::string_view places[10];        ///< by ir::place; $ is the dimension; of one row of work-items
    std::string_view linear_places[3];  ///< the last three where there may be more dimensions
    std::string_view axes[3];           ///< what $ becomes
    std::string_view local_barrier, global_barrier, full_barrier;
    bool masks_shift_counts;      ///< the language takes a shift count modulo the width
    bool local_memory_by_offset;  ///< local parameters are offsets into one dynamic array
};

const spelling& spelling_of(runtime::dialect) noexcept;

}  // namespace balm::emit
