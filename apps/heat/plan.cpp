// The table of plans, with measurements: slalom world, 5000 x 5000, 1000 steps (bench/heat.cpp). Also the
// plans that a search tries.

#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "step_kernels.hpp"

namespace heat {

unsigned plan::work_items() const {
    switch (method) {
        case method::stream: return 1;
        case method::sweep: return tile_width / item_width;
        default: return tile_width / item_width * (tile_height / item_height);
    }
}

bool runs_on(const balm::device_info& device, const plan& plan) {
    if (plan.method == method::tile) {
        if (!is_tile(plan)) return false;
        return plan.work_items() <= device.max_work_group_size &&
               tile_shared_size(plan) * sizeof(float) <= device.local_memory;
    }
    if (plan.method == method::sweep) return is_sweep(plan) && device.sub_group_size == lanes_of_sweep;
    const std::size_t rows = stream_odd_size(plan) + stream_even_size(plan) + stream_weights_size(plan);
    return plan.method != method::stream ||
           (is_stream(plan) && rows * sizeof(balm::float16) <= device.local_memory);
}

namespace {

// Most promising first, for searches that end early.

/// Shapes that write more cells than they only read.
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

std::vector<plan> sweeps() {
    std::vector<plan> result;
    for (const unsigned rows : {4u, 3u, 2u})
        for (const unsigned steps : {12u, 16u, 8u})
            for (const unsigned at_once : {8u, 12u})
                result.push_back(
                    {method::sweep, steps, 4 * lanes_of_sweep, rows + 2 * steps, 4, rows, at_once});
    return result;
}

std::vector<plan> streams() {
    std::vector<plan> result;
    for (const unsigned steps : {16u, 32u})
        for (const unsigned width : {128u, 256u, 512u})
            for (const unsigned height : {256u, 512u, 128u})
                result.push_back({method::stream, steps, width + 2 * steps, height + 2 * steps});
    return result;
}

}  // namespace

std::set<unsigned> launch_steps(const plan& plan, std::span<const unsigned> advances) {
    std::set<unsigned> made;
    for (const unsigned steps : advances) {
        if (steps >= plan.steps) made.insert(plan.steps);
        if (steps % plan.steps > 0) made.insert(steps % plan.steps);
    }
    if (made.empty()) made.insert(plan.steps);
    return made;
}

std::string describe(const plan& plan) {
    const std::string shape = fmt::format("{} x {} cells", plan.tile_width, plan.tile_height);
    switch (plan.method) {
        case method::tile:
            return fmt::format("tile of {}, {} x {} a work-item, {} steps a launch", shape, plan.item_width,
                               plan.item_height, plan.steps);
        case method::sweep:
            return fmt::format("sweep through {}, {} x {} a lane, {} steps a launch, {} sub-groups a unit",
                               shape, plan.item_width, plan.item_height, plan.steps, plan.at_once);
        case method::stream: return fmt::format("stream through {}, {} steps a launch", shape, plan.steps);
        default: return fmt::format("a cell a work-item, work-groups of {}", shape);
    }
}

plan single_plan(balm::device_type type) {
    // On PoCL a work-group is a loop that is vectorised along its first dimension.
    return type == balm::device_type::cpu ? plan{method::single, 1, 256, 1} : plan{method::single, 1, 64, 4};
}

plan plan_for(const balm::device_info& device) {
    // H200: 2,602 Gcell/s, 3,204 for 20,000 x 20,000, 1,854 for a strewn world; 3 rows at once 2,511, 16
    // steps 2,249; tiles 1,480. H100: 2,423; 8 steps, 12 at once, 1,805. Elsewhere tiles: this one reached
    // 1,422 (H100), with 16 steps 1,394, with 4 x 8 cells 1,102; one cell per work-item 195.
    const plan sweep{method::sweep, 12, 128, 4 + 24, 4, 4, 8}, tile{method::tile, 8, 128, 128, 4, 16};
    switch (device.type) {
        case balm::device_type::gpu: return runs_on(device, sweep) ? sweep : tile;
        // PoCL, 2 EPYC cores: 22.7 Gcell/s (8 times an OpenMP loop over cells), 512 columns 17.3, 32 steps
        // 16, one cell 1.5. 16 Xeon cores: 33 to 44 (5 times). Its rows fit into a first-level cache of 48
        // KiB.
        case balm::device_type::cpu: return {method::stream, 16, 128 + 32, 256 + 32};
        default: return single_plan(device.type);
    }
}

unsigned registers_of(const plan& plan) {
    constexpr unsigned of_a_unit = 65'536, most = 255, granularity = 8;
    return std::min(of_a_unit / lanes_of_sweep / plan.at_once / granularity * granularity, most);
}

std::vector<plan> candidate_plans(const balm::device_info& device) {
    std::vector<plan> result{plan_for(device)};
    const auto add = [&](const plan& each) {
        if (runs_on(device, each) && std::find(result.begin(), result.end(), each) == result.end())
            result.push_back(each);
    };
    if (device.type != balm::device_type::cpu)
        for (const std::vector<plan>& shapes : {sweeps(), tiles()})
            for (const plan& each : shapes) add(each);
    if (device.type != balm::device_type::gpu)
        for (const plan& each : streams()) add(each);
    add(single_plan(device.type));
    return result;
}

}  // namespace heat
