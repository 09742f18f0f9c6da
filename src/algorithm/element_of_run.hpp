#pragma once
// Wide loads of reductions, scans, selections and histograms on GPUs, which no pass of the IR makes. Which
// elements a work-item takes decides in which order they are combined, and with that the bits of a
// floating-point sum: the plan of the algorithm says it, and a pass must not change it. ir/lower/coarsen.cpp
// gives work-items of element-wise kernels other elements than were recorded, which is right because their
// iterations are independent. What is left to make wide here are the loads alone: each element is recorded as
// a lane of its vector (array/record.cpp), and value numbering makes the lanes share one load.

#include "algorithm/block/values.hpp"
#include "array/map/placement.hpp"

namespace balm::array {

/// Element k of a run of neighbours, which is loaded as one vector where the kernel loads such.
inline coordinates element_of_run(const block::Index& run, int k, int length, bool loads_vectors) {
    coordinates made(block::node_of(run * length + k));
    if (loads_vectors) made.vector = {block::node_of(run), k, length};
    return made;
}

}  // namespace balm::array
