// The table of plans, with what was measured: slalom world, 5000 x 5000, 1000 steps (bench/heat.cpp).

#include "plan.hpp"

namespace heat {

plan single_plan(balm::device_type type) {
    // On PoCL a work-group is a loop that is vectorised along its first dimension.
    return type == balm::device_type::cpu ? plan{method::single, 1, 256, 1} : plan{method::single, 1, 64, 4};
}

plan plan_for(balm::device_type type) {
    switch (type) {
        // H100: 1,419 Gcell/s (CUDA; 1,442 through OpenCL); 16 steps 1,394, 4 x 8 cells 1,102, one cell 195.
        // 128 registers, 40 KiB of local memory, so two work-groups share a multiprocessor.
        case balm::device_type::gpu: return {method::tile, 8, 128, 128, 4, 16};
        // PoCL, 2 cores: 8.4 Gcell/s (3.1 times an OpenMP loop over cells); 4 steps 4.8, one cell 1.5.
        case balm::device_type::cpu: return {method::stream, 8, 256 + 16, 128 + 16};
        default: return single_plan(type);
    }
}

}  // namespace heat
