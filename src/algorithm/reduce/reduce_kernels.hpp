#pragma once
// The kernels of a reduction. The first one stores a partial result for each piece of the elements, the
// second one reduces these to the results; if a single work-group has all pieces, one kernel does both.
//
// Order of operations, unless work-items run a grid-stride loop over short vectors (GPUs, run_to_run): the
// elements are divided into pieces of whole runs of 1,024, with as few runs per piece as give at most 4,096
// pieces. 32 lanes share a run: lane k combines the elements k, k + 32 … sequentially. A lane combines its
// runs sequentially, 32 at a time, and then these blocks. The lanes of a piece are combined as a tree: lane k
// with lane k + 16, then + 8, 4, 2, 1. The partial results are combined likewise, by 256 lanes or, if they
// are fewer, by the next power of two.

#include <cstddef>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/fusion.hpp"
#include "array/layout.hpp"

namespace balm::array {

inline constexpr std::size_t reduction_lanes = 32;
inline constexpr std::size_t run_elements = 1024;
inline constexpr std::size_t most_partials = 4096;
inline constexpr std::size_t finish_lanes = 256;

/// How the elements are divided among work-items.
enum class reduction_shape : std::uint8_t {
    pieces_an_item,  ///< CPUs: a work-item has neighbouring pieces, and all lanes of them
    pieces_a_group,  ///< GPUs: 32 work-items share a piece, one lane each
    grid             ///< GPUs: a grid-stride loop over short vectors
};

/// What a kernel computes: partial results from elements, results from partial results, or both.
enum class reduction_stage : std::uint8_t { partials, finish, whole };

struct reduction_plan {
    reduction_shape shape;
    reduction_stage stage;
    bool into_vectors;    ///< each result goes to a vector, not to the slots
    bool in_vectors;      ///< a work-item that has all lanes keeps them in short vectors
    std::size_t at_once;  ///< elements that a work-item of a GPU loads before it combines them
    int lanes;            ///< of its short vectors
    bool loads_vectors;   ///< elements are loaded as these vectors
    bool has_sub_groups;  ///< of the device
    bool locates;         ///< pieces have extremes only, and the results' positions are found at the end
    bool finishes_last;   ///< of several groups that store partial results, the last one gives the results

    bool on_cpu() const { return shape == reduction_shape::pieces_an_item; }
    bool has_pieces() const { return shape != reduction_shape::grid; }
    bool has_partials() const { return stage != reduction_stage::finish; }
    bool reads_elements() const { return has_partials() || locates; }
    bool gives_results() const { return stage != reduction_stage::partials; }

    friend bool operator==(const reduction_plan&, const reduction_plan&) = default;
};

/// The maximum number of work-items of a group, a power of two.
inline constexpr std::size_t reduction_group = 256;

/// What a kernel computes with.
struct reduction_values {
    const tape& p;  ///< of the elements, then what follows the results
    const layout& leaves;
    std::size_t end_of_elements;  ///< steps
    target_list stored;           ///< what p's first values are assigned to
    std::size_t first_operand;
    std::uint32_t statements;  ///< before the operands
    target_list stored_then;
};

/// Records the body of a kernel whose parameters are declared. The results take the first slots, partial
/// results those after them.
std::shared_ptr<const ir::function> trace_reduction(trace::recording&, const parameter_list& given,
                                                    const reduction_plan&, const operations&,
                                                    const reduction_values&);

}  // namespace balm::array
