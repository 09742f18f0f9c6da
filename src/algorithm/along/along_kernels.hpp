#pragma once
// The kernels of reductions along dimensions. The loops of the walk are kept or reduced; a kernel combines
// the kept ones into one index k, and the reduced ones into r. The reduced elements are cut into segments of
// `piece` elements: if there are several, a first kernel stores a partial result of each in the slots, and a
// second one reduces those of each k in the same way.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// How work-items divide a reduction along dimensions.
enum class along_shape : std::uint8_t {
    rows_an_item,       ///< CPUs, a reduced loop is the fastest: a work-item has some rows
    strip_an_item,      ///< CPUs, a kept loop is the fastest: a work-item has a strip of columns
    lanes_behind_rows,  ///< GPUs, a reduced loop is the fastest: neighbouring work-items share a row
    lanes_of_columns    ///< GPUs, a kept loop is the fastest: neighbouring work-items have columns
};

/// What a kernel computes: partial results from elements, results from partial results, or the whole.
enum class along_stage : std::uint8_t { partials, finish, whole };

struct along_plan {
    along_shape shape = along_shape::rows_an_item;
    along_stage stage = along_stage::whole;
    int lanes = 1;            ///< elements that a work-item of a CPU computes at once
    bool is_short = false;    ///< rows have fewer elements than twice the lanes
    std::size_t at_once = 1;  ///< elements that a work-item of a GPU loads before it combines them
    std::size_t result = 0;   ///< index among the results of the operations
    bool is_narrow = false;   ///< k, r and what is added to them fit in 31 bits
    int loops = 1;
    std::uint8_t reduced = 0;     ///< a bit for each loop, the slowest first
    bool gives_in_order = true;   ///< k is the result's position
    bool counts_in_order = true;  ///< r is the position that arg_min and arg_max return

    bool is_reduced(int loop) const { return (reduced >> loop & 1) != 0; }
    /// The number of reduced loops, or of kept ones.
    int count(bool of_reduced) const;
    bool is_finish() const { return stage == along_stage::finish; }
    /// Whether vectors are as long as those of the elementary functions on vectors.
    bool has_vector_functions() const { return lanes >= 8; }
    bool is_strip() const { return shape == along_shape::strip_an_item; }
    bool on_cpu() const { return shape == along_shape::rows_an_item || shape == along_shape::strip_an_item; }
    /// Whether the strides of the result's index, or of positions, are arguments.
    bool has_strides(bool of_reduced) const {
        return of_reduced ? stage != along_stage::finish && !counts_in_order
                          : stage != along_stage::partials && !gives_in_order;
    }
    bool has_counts(bool of_reduced) const { return stage != along_stage::finish || !of_reduced; }

    friend bool operator==(const along_plan&, const along_plan&) = default;
};

inline constexpr std::size_t along_group = 256;  ///< limit of work-items per group
inline constexpr std::size_t strip_elements = 512;

/// Records the body of a kernel whose parameters are declared. All parameters except memory have 64 bits.
std::shared_ptr<const ir::function> trace_along(trace::recording&, const parameter_list& given,
                                                const along_plan&, const operations&, const tape&,
                                                const layout&);

}  // namespace balm::array
