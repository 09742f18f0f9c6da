#include "algorithm/scan/work_division.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "algorithm/divided_up.hpp"
#include "array/vector_state.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<const forced_scan*> forced{nullptr};

/// Elements of a work-item's chunk on CPUs. 16 M u32 on 2 cores: 6.6 ms, serially 7.9 (PoCL 3.1).
constexpr std::size_t cpu_chunk = 65536;
/// Groups per compute unit of a GPU, each with one chunk.
constexpr std::size_t groups_per_unit = 8;
constexpr std::size_t vector_bytes = 16;
/// Groups that look back wait for each other, so the number of bytes in flight decides; small tiles
/// distribute a short input over more groups.
constexpr tile_shape small_tiles{256, 64};
constexpr std::size_t enough_for_large_tiles = std::size_t{1} << 23;  ///< elements
/// For the single group that takes a short input. With a wait, 2^14 u32 take 11.4 µs through CUDA and 11.6
/// through OpenCL, with announcements 12.4 and 13.2; 2^14 f64 16.7 and 16.4, with announcements 13.5 and 13.9
/// (H100).
constexpr tile_shape tiles_of_one_group{1024, 32, 64};
constexpr std::size_t most_of_one_group = std::size_t{1} << 16;  ///< bytes of states

/// Bytes of local memory for a value of each work-item. Without sub-groups they take up to three values each.
constexpr std::size_t most_local_bytes = 32768, most_local_bytes_without_sub_groups = 12288;

/// Work-items of a group whose values of this size fit in local memory.
std::size_t most_items(std::size_t bytes, bool has_sub_groups) {
    const std::size_t room = has_sub_groups ? most_local_bytes : most_local_bytes_without_sub_groups;
    return std::max<std::size_t>(room / std::max<std::size_t>(bytes, 1), 1);
}

scan_strategy strategy_for(bool on_cpu, bool has_sub_groups, const divided_work& work) {
    if (on_cpu) return scan_strategy::chunk_an_item;
    if (!has_sub_groups) return scan_strategy::chunk_a_group;
    return work.n * work.bytes <= most_of_one_group ? scan_strategy::one_group
                                                    : scan_strategy::tiles_look_back;
}
const tile_shape& shape_for(scan_strategy strategy, const divided_work& work) {
    if (strategy == scan_strategy::one_group) return tiles_of_one_group;
    const bool is_long = strategy == scan_strategy::tiles_look_back && work.n >= enough_for_large_tiles;
    return is_long ? work.large_tiles : small_tiles;
}

/// Whether computing an element leaves registers free: otherwise a cap would make the compiler spill.
bool has_few_steps(const tape& p) {
    constexpr std::size_t few = 16;
    const auto is_call = [](const step& s) { return s.what == step::kind::call; };
    return p.steps.size() <= few && std::none_of(p.steps.begin(), p.steps.end(), is_call);
}

/// A work-item's share of a tile, in vectors of 16 bytes of the widest type. Its elements are a power of two
/// unless their states fill the share.
block::runs tile_of_item(std::size_t tile_bytes, const layout& leaves, const divided_work& work) {
    std::size_t widest = work.widest_result;
    for (const vector_state* each : leaves.vectors) widest = std::max(widest, each->element_size());
    const std::size_t state = std::max<std::size_t>(work.bytes, 4), fitting = tile_bytes / state;
    const std::size_t most =
        tile_bytes % state == 0 ? fitting : std::max<std::size_t>(std::bit_floor(fitting), 1);
    const std::size_t length = std::clamp<std::size_t>(vector_bytes / std::bit_ceil(widest), 1, most);
    return {static_cast<int>(most / length), static_cast<int>(length)};
}

}  // namespace

void force_scans(const forced_scan* asked) { forced = asked; }

bool are_shared_by_groups(bool on_cpu) {
    const forced_scan* const asked = forced.load();
    return asked != nullptr ? asked->strategy != scan_strategy::chunk_an_item : !on_cpu;
}

work_division divide(const runtime::device_state& device, bool on_cpu, const tape& p, const layout& leaves,
                     const divided_work& work) {
    work_division made;
    tile_plan& tiles = made.tiles;
    tiles.has_sub_groups = kernels::features_of(device).has_sub_groups;
    made.strategy = strategy_for(on_cpu, tiles.has_sub_groups, work);
    if (const forced_scan* const asked = forced.load()) {
        made.strategy = asked->strategy;
        tiles.has_sub_groups |= asked->has_sub_groups;
    }
    const bool is_one_pass =
        made.strategy == scan_strategy::tiles_look_back || made.strategy == scan_strategy::one_group;
    if (is_one_pass && !(work.may_be_one_pass && work.may_look_back))
        made.strategy = scan_strategy::chunk_a_group;
    if (made.strategy == scan_strategy::chunk_an_item) {
        tiles.has_sub_groups = false;
        made.chunk = cpu_chunk;
    } else {
        const tile_shape& shape = shape_for(made.strategy, work);
        if (most_items(work.bytes, true) < block::lanes) tiles.has_sub_groups = false;
        tiles.group = std::bit_floor(std::min(
            {shape.group, device.info().max_work_group_size, most_items(work.bytes, tiles.has_sub_groups)}));
        tiles.is_exact = tiles.has_sub_groups || made.strategy == scan_strategy::tiles_look_back;
        // A group of 1,024 has at most 64 registers per work-item, whatever computes an element.
        if (has_few_steps(p) || made.strategy == scan_strategy::one_group)
            tiles.max_registers = shape.max_registers;
        tiles.tile = tile_of_item(shape.bytes, leaves, work);
        tiles.loads_vectors = leaves.has_whole_vectors();
        const std::size_t units = std::max<std::size_t>(device.info().compute_units, 1);
        const std::size_t most_groups =
            made.strategy == scan_strategy::one_group ? 1 : units * groups_per_unit;
        const std::size_t count = divided_up(work.n, tiles.elements());
        made.chunk = divided_up(count, std::min(count, most_groups)) * tiles.elements();
    }
    made.chunks = divided_up(work.n, made.chunk);
    return made;
}

runtime::grid grid_of(std::size_t groups, const tile_plan& tiles, const kernels::device_kernel& kernel) {
    runtime::grid made;
    made.local[0] = tiles.is_exact ? tiles.group : group_size_of(kernel, tiles.group);
    made.global[0] = groups * made.local[0];
    return made;
}

}  // namespace balm::array
