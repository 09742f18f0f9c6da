#pragma once
// Thread coarsening, for GPUs: a work-item computes several elements, so that enough bytes are in flight
// whatever the size of an element. In: the body of a grid_for that a grid covers. Out: the body repeated,
// with one wide load or store in place of several for neighbouring elements.

#include <cstdint>
#include <optional>
#include <span>

#include "ir/ir.hpp"
#include "ir/lower/loop_index.hpp"

namespace balm::ir {

/// The elements of a work-item: runs of neighbours, one grid of runs apart.
struct coarsening {
    std::uint8_t width = 1;  ///< neighbours in a run: a power of two
    std::uint8_t runs = 1;
    /// Accesses whose index is the loop's plus this sum become vector accesses; empty: none do.
    std::optional<index_sum> wide;

    std::size_t elements() const { return std::size_t{width} * runs; }
    /// Whether the first run begins ahead of the loop's first element, so that vectors are aligned.
    bool has_peel() const { return wide && !wide->is_zero(); }
};

/// The coarsening that pays off for the loop's body. With `is_tight`, memory may be misaligned for vectors.
coarsening coarsening_for(const function&, value_id loop, const runtime::launch_facts&);

/// The registers to which a work-item of the loop is limited; 0: to as many as the compiler likes.
std::uint32_t max_registers_for(const function&, value_id loop, const coarsening&);

/// One run: the index of its first element, and the number of the vector that begins there.
struct element_run {
    value_id first;
    value_id vector;
};
/// The body for the elements of these runs.
block coarsened(function&, const block& body, value_id loop, std::span<const element_run>, const coarsening&);

}  // namespace balm::ir
