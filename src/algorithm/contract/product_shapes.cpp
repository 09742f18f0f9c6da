#include "algorithm/contract/product_shapes.hpp"

#include <algorithm>

#include "algorithm/divided_up.hpp"
#include "array/vector_state.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

forced_product forced;

/// The minimum number of inner elements of a split: 16 steps of 16, so that starting and storing a tile do
/// not dominate.
constexpr std::size_t least_share = 256;
/// The work-items of tiles that a compute unit has room for: two large tiles, four medium ones (256 x 16384
/// by 16384 x 256, f32, on H200: 16 medium tiles in 16 splits take 72.8 us, in 32 65.7, in 64 69.0).
constexpr std::size_t resident_items = 512;

std::size_t groups_of(const product_tile_shape& shape, const product_extents& sizes) {
    return divided_up(sizes.rows, static_cast<std::size_t>(shape.rows)) *
           divided_up(sizes.columns, static_cast<std::size_t>(shape.columns)) * sizes.batch;
}

std::size_t chosen(const product_extents& sizes, const product_tile_shape& large, std::size_t units) {
    if (sizes.rows <= 16 && sizes.columns <= 32) return small_tile;
    if (sizes.rows <= 32) return flat_tile;
    if (sizes.columns <= 32) return tall_tile;
    return groups_of(large, sizes) >= units ? large_tile : medium_tile;
}

}  // namespace

void force_products(const forced_product& how) { forced = how; }
const forced_product& forced_products() { return forced; }

tile_division tiles_for(const product_extents& sizes, scalar element, const device_info& device) {
    const std::size_t units = std::max<std::size_t>(device.compute_units, 1);
    const auto& shapes = size_of(element) == 4 ? tiles_of_4_bytes : tiles_of_8_bytes;
    const auto fits = [&](const product_tile_shape& shape) {
        return shape.local_bytes(size_of(element)) <= device.local_memory &&
               static_cast<std::size_t>(shape.items()) <= device.max_work_group_size;
    };
    tile_division made;
    made.shape = shapes[forced.tile >= 0 ? static_cast<std::size_t>(forced.tile)
                                         : chosen(sizes, shapes[large_tile], units)];
    for (const tile_choice less : {medium_tile, small_tile})
        if (!fits(made.shape)) made.shape = shapes[less];
    const std::size_t groups = groups_of(made.shape, sizes);
    // As many groups as a full device computes at once, if it would be at most half full.
    std::size_t splits = 1;
    const std::size_t at_once = units * resident_items / static_cast<std::size_t>(made.shape.items());
    if (2 * groups <= units)
        splits = std::max<std::size_t>(std::min(at_once / groups, sizes.inner / least_share), 1);
    if (forced.splits > 0) splits = forced.splits;
    const auto depth = static_cast<std::size_t>(made.shape.depth);
    made.share = divided_up(divided_up(sizes.inner, splits), depth) * depth;
    made.splits = divided_up(sizes.inner, made.share);
    return made;
}

panel_shape panels_for(scalar element, const device_info& device) {
    const std::size_t bytes = std::max<std::size_t>(4 * std::size_t{device.native_vectors.int32},
                                                    4 * std::size_t{device.native_vectors.float32});
    const std::size_t vector_bytes = std::clamp<std::size_t>(bytes, 16, 64);
    // Accumulators take 12 of the 16 registers of AVX2, 24 of the 32 of AVX-512.
    return {vector_bytes == 64 ? 12 : 6, 2, static_cast<int>(vector_bytes / size_of(element))};
}

bool is_reduction(const product_extents& sizes, const vector_state& near) {
    const bool on_cpu = kernels::facts_for(near.device()).on_cpu && !forced.as_on_gpus;
    const std::size_t least = std::min(sizes.rows, sizes.columns);
    if (least <= 1 || sizes.inner == 0 || sizes.batch == 0) return true;
    if (forced.tile >= 0) return false;
    return std::max(sizes.rows, sizes.columns) < 8 || (on_cpu && least < 4);
}

}  // namespace balm::array
