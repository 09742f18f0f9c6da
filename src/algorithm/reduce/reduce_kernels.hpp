#pragma once
// The kernels of a reduction. A first one leaves a partial result for each piece of the elements, a second
// one reduces these and gives the results; if a single work-group has all pieces, one kernel does both.
//
// Order of operations, unless work-items take short vectors a grid apart (GPUs, run_to_run): the elements are
// cut into pieces of whole runs of 1,024, as few runs as give at most 4,096 pieces. Of a run 32 lanes take an
// element each in turn, lane k the elements k, k + 32 …, one after the other. A lane's runs are combined one
// after the other, 32 at a time, and then these. The lanes of a piece are halved: lane k with lane k + 16,
// then + 8, 4, 2, 1. Of the pieces 256 lanes, or as many as the power of two that has room for fewer, take
// one each in turn, and are halved likewise.

#include <cstddef>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

inline constexpr std::size_t reduction_lanes = 32;
inline constexpr std::size_t run_elements = 1024;
inline constexpr std::size_t most_partials = 4096;
inline constexpr std::size_t finish_lanes = 256;

/// How work-items share out the elements.
enum class reduction_shape : std::uint8_t {
    pieces_an_item,  ///< CPUs: a work-item has neighbouring pieces, and all lanes of them
    pieces_a_group,  ///< GPUs: each 32 work-items have a piece, a lane each
    grid             ///< GPUs: work-items take short vectors a grid apart
};

/// What of a reduction a kernel does: elements to partial results, partial results to results, or all.
enum class reduction_stage : std::uint8_t { partials, finish, whole };

struct reduction_plan {
    reduction_shape shape;
    reduction_stage stage;
    bool into_vectors;    ///< the results go to a vector each, not to the slots
    bool in_vectors;      ///< a work-item that has all lanes has them in short vectors
    std::size_t at_once;  ///< elements that a work-item of a GPU loads before it combines them
    int lanes;            ///< of its short vectors
    bool loads_vectors;   ///< memory is read in them
    bool has_sub_groups;  ///< the device has

    bool on_cpu() const { return shape == reduction_shape::pieces_an_item; }
    bool has_pieces() const { return shape != reduction_shape::grid; }
    bool reads_elements() const { return stage != reduction_stage::finish; }
    bool gives_results() const { return stage != reduction_stage::partials; }

    friend bool operator==(const reduction_plan&, const reduction_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        hash.add(shape, stage, into_vectors, in_vectors, at_once, lanes, loads_vectors, has_sub_groups);
    }
};

/// Work-items of a group, at most; a power of two.
inline constexpr std::size_t reduction_group = 256;

/// Records the body of a kernel whose parameters are declared. The results take the first slots,
/// partial results those behind.
std::shared_ptr<const ir::function> trace_reduction(trace::recording&, const parameter_list& given,
                                                    const reduction_plan&, const operations&, const tape&,
                                                    const layout&);

}  // namespace balm::array
