#pragma once
// How a matrix product is divided among work-items.

#include <array>
#include <cstddef>
#include <cstdint>

#include "algorithm/contract/product.hpp"
#include "balm/device_info.hpp"
#include "balm/types.hpp"

namespace balm::array {

/// GPUs: the tile of the result that a group computes, and the number of inner elements (`depth`) that it
/// loads into local memory at once. A work-item computes item_rows x item_columns elements, in vectors of 16
/// bytes; the 32 lanes of a sub-group are 4 along the rows and 8 along the columns.
struct product_tile_shape {
    int rows = 0, columns = 0, depth = 0;
    int item_rows = 0, item_columns = 0;

    static constexpr int lane_rows = 4, lane_columns = 8;
    constexpr int warp_rows() const { return lane_rows * item_rows; }
    constexpr int warp_columns() const { return lane_columns * item_columns; }
    constexpr int items() const { return rows / warp_rows() * (columns / warp_columns()) * 32; }
    /// Two tiles of each operand, with 16 bytes of padding per row.
    constexpr std::size_t local_bytes(std::size_t element_size) const {
        return 2 * static_cast<std::size_t>(depth) *
               (static_cast<std::size_t>(rows + columns) * element_size + 32);
    }
    friend bool operator==(const product_tile_shape&, const product_tile_shape&) = default;
};

/// Local memory holds two tiles of each operand, at most 34 KiB. Registers per work-item on sm_90 (CUDA 13),
/// without spills: f32 124, 96, 113, 109, 63.
enum tile_choice : std::uint8_t {
    large_tile,
    medium_tile,  ///< for results with too few large tiles to fill the device
    flat_tile,    ///< for few rows
    tall_tile,    ///< for few columns
    small_tile,   ///< for batches of small matrices
    tile_choices
};
constexpr std::array<product_tile_shape, tile_choices> tiles_of_4_bytes{
    {{128, 128, 16, 8, 8}, {64, 64, 16, 8, 4}, {32, 128, 16, 4, 8}, {128, 32, 16, 8, 4}, {16, 32, 8, 4, 4}}};
constexpr std::array<product_tile_shape, tile_choices> tiles_of_8_bytes{
    {{64, 64, 16, 8, 4}, {32, 64, 16, 4, 4}, {32, 128, 8, 4, 8}, {128, 32, 8, 8, 4}, {16, 32, 8, 4, 4}}};

/// A multiple of the depth of every tile.
constexpr std::size_t common_depth = 16;
static_assert([] {
    for (const auto& shapes : {tiles_of_4_bytes, tiles_of_8_bytes})
        for (const product_tile_shape& each : shapes)
            if (common_depth % static_cast<std::size_t>(each.depth) != 0) return false;
    return true;
}());

/// CPUs: a work-item computes blocks of register tiles from packed panels. A tile has `rows` rows of
/// `vectors` vectors, each of `lanes` lanes.
struct panel_shape {
    int rows = 0, vectors = 2, lanes = 0;

    int columns() const { return vectors * lanes; }
    friend bool operator==(const panel_shape&, const panel_shape&) = default;
};

/// How a product is divided: `splits` groups compute each tile, each with `share` inner elements.
struct tile_division {
    product_tile_shape shape;
    std::size_t splits = 1, share = 0;
};

/// For a GPU: the tiles fit in its local memory.
tile_division tiles_for(const product_extents&, scalar element, const device_info&);
panel_shape panels_for(scalar element, const device_info&);

/// For tests: whether CPUs compute products as GPUs do, with which tile (any if -1) and in how many splits
/// (any if 0).
struct forced_product {
    bool as_on_gpus = false;
    int tile = -1;
    std::size_t splits = 0;
};
void force_products(const forced_product&);
const forced_product& forced_products();

}  // namespace balm::array
