#pragma once
// The kernels that search for splitters of sorted parts: they read pivots from a part, and count how many of
// a part's elements precede each pivot.

#include <cstdint>

#include "algorithm/merge/sorted_keys.hpp"
#include "array/parameters.hpp"
#include "balm/trace.hpp"

namespace balm::array {

enum class splitter_stage : std::uint8_t {
    pick,  ///< reads pivots at positions of the part
    rank   ///< finds where pivots belong in ranges of the part
};

struct splitter_plan {
    splitter_stage stage = splitter_stage::pick;
    sorted_keys keys;

    friend bool operator==(const splitter_plan&, const splitter_plan&) = default;
};

/// Numbers per pivot in the table of `rank`: the beginning and end of its range, and whether elements equal
/// to it precede it. The rank replaces the first.
inline constexpr std::int64_t numbers_of_pivot = 3;

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_splitters(trace::recording&, const parameter_list& given,
                                                    const splitter_plan&, const comparison& is_ahead);

}  // namespace balm::array
