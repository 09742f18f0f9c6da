#pragma once
// The kernels of reductions along dimensions. The loops of the walk are kept or reduced; a kernel counts the
// kept ones together as k, and the reduced ones as r. What is reduced is cut into segments of `piece`
// elements: where there are several, a first kernel leaves a partial result of each in the slots, and another
// one reduces those of each k in the same way.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// How work-items share out a reduction along dimensions.
enum class along_shape : std::uint8_t {
    rows_an_item,       ///< CPUs, a reduced loop is the fastest: a work-item has some rows
    strip_an_item,      ///< CPUs, a kept loop is the fastest: a work-item has a strip of columns
    lanes_behind_rows,  ///< GPUs, a reduced loop is the fastest: neighbouring work-items share a row
    lanes_of_columns    ///< GPUs, a kept loop is the fastest: neighbouring work-items have columns
};

/// What of it a kernel does: elements to partial results, partial results to results, or all.
enum class along_stage : std::uint8_t { partials, finish, whole };

struct along_plan {
    along_shape shape = along_shape::rows_an_item;
    along_stage stage = along_stage::whole;
    int lanes = 1;            ///< elements that a work-item of a CPU computes at once
    bool is_short = false;    ///< rows of fewer elements than twice the lanes
    std::size_t at_once = 1;  ///< elements that a work-item of a GPU loads before it combines them
    std::size_t result = 0;   ///< which result of the operations it is
    bool is_narrow = false;   ///< k, r and what is added to them fit in 31 bits
    int loops = 1;
    std::uint8_t reduced = 0;     ///< a bit for each loop, the slowest first
    bool gives_in_order = true;   ///< k is where the result goes
    bool counts_in_order = true;  ///< r is the position that arg_min and arg_max give

    bool is_reduced(int loop) const { return (reduced >> loop & 1) != 0; }
    /// The loops that are reduced, or those that are not.
    int count(bool of_reduced) const;
    bool is_finish() const { return stage == along_stage::finish; }
    bool is_strip() const { return shape == along_shape::strip_an_item; }
    bool on_cpu() const { return shape == along_shape::rows_an_item || shape == along_shape::strip_an_item; }
    /// Whether what a loop adds to the result's index, or to a position, is an argument.
    bool has_strides(bool of_reduced) const {
        return of_reduced ? stage != along_stage::finish && !counts_in_order
                          : stage != along_stage::partials && !gives_in_order;
    }
    bool has_counts(bool of_reduced) const { return stage != along_stage::finish || !of_reduced; }

    friend bool operator==(const along_plan&, const along_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        hash.add(shape, stage, lanes, is_short, at_once, result, is_narrow, loops, reduced, gives_in_order,
                 counts_in_order);
    }
};

inline constexpr std::size_t along_group = 256;  ///< work-items of a group, at most
inline constexpr std::size_t strip_elements = 512;

/// Records the body of a kernel whose parameters are declared. All but the memory have 64 bits.
std::shared_ptr<const ir::function> trace_along(trace::recording&, const parameter_list& given,
                                                const along_plan&, const operations&, const tape&,
                                                const layout&);

}  // namespace balm::array
