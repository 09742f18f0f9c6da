// The table of plans, with what was measured: slalom world, 5000 x 5000, 1000 steps (bench/heat.cpp). Beside
// it, the plans that a search tries.

#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "step_kernels.hpp"

namespace heat {

bool runs_on(const balm::device_info& device, const plan& plan) {
    if (plan.method == method::tile) {
        if (!is_tile(plan)) return false;
        const std::size_t items =
            std::size_t{plan.tile_width / plan.item_width} * (plan.tile_height / plan.item_height);
        return items <= device.max_work_group_size &&
               tile_shared_size(plan) * sizeof(float) <= device.local_memory;
    }
    const std::size_t rows = 2 * stream_rows_size(plan) + stream_weights_size(plan);
    return plan.method != method::stream || rows * sizeof(float) <= device.local_memory;
}

namespace {

// Most promising first, for searches that end early.

/// Shapes of which more cells are written than read alone.
std::vector<plan> tiles() {
    std::vector<plan> result;
    for (const unsigned steps : {8u, 12u, 16u, 4u})
        for (const unsigned item_height : {16u, 8u})
            for (const unsigned height : {128u, 64u})
                for (const unsigned width : {128u, 64u}) {
                    const plan each{method::tile, steps, width, height, 4, item_height};
                    if (2 * each.inner_width() * each.inner_height() > width * height) result.push_back(each);
                }
    return result;
}

std::vector<plan> streams() {
    std::vector<plan> result;
    for (const unsigned steps : {8u, 4u, 12u})
        for (const unsigned width : {256u, 512u, 128u})
            for (const unsigned height : {128u, 256u, 64u})
                result.push_back({method::stream, steps, width + 2 * steps, height + 2 * steps});
    return result;
}

}  // namespace

std::string describe(const plan& plan) {
    const std::string shape = fmt::format("{} x {} cells", plan.tile_width, plan.tile_height);
    switch (plan.method) {
        case method::tile:
            return fmt::format("tile of {}, {} x {} a work-item, {} steps a launch", shape, plan.item_width,
                               plan.item_height, plan.steps);
        case method::stream: return fmt::format("stream through {}, {} steps a launch", shape, plan.steps);
        default: return fmt::format("a cell a work-item, work-groups of {}", shape);
    }
}

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

std::vector<plan> candidate_plans(const balm::device_info& device) {
    std::vector<plan> result{plan_for(device.type)};
    const auto add = [&](const plan& each) {
        if (runs_on(device, each) && std::find(result.begin(), result.end(), each) == result.end())
            result.push_back(each);
    };
    if (device.type != balm::device_type::cpu)
        for (const plan& each : tiles()) add(each);
    if (device.type != balm::device_type::gpu)
        for (const plan& each : streams()) add(each);
    add(single_plan(device.type));
    return result;
}

}  // namespace heat
