#pragma once
// The kernels of matrix products.

#include <memory>
#include <vector>

#include "algorithm/contract/product_shapes.hpp"
#include "array/parameters.hpp"
#include "balm/dsl/value.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// The coordinates of a matrix in the batch, slowest first; none for a batch of one. Uses the parameters of
/// computation::declare_batch_counts.
std::vector<trace::node> batch_coordinates(const parameter_list&, const dsl::Index& matrix, std::size_t loops,
                                           bool is_narrow);
/// How a kernel of tiles loads an operand from memory.
struct tile_loads {
    bool has_unit_inner = false;  ///< the inner axis has stride 1
    bool has_unit_rows = false;   ///< rows (of b: columns) have stride 1
    int width = 1;                ///< elements of one load: strides and the offset are in units of it
    trace::type stored{};         ///< the element type in memory
    friend bool operator==(const tile_loads&, const tile_loads&) = default;
};

/// A kernel of tiles. computation::multiply_tiles lists its parameters.
struct product_tile_plan {
    product_tile_shape shape;
    scalar element = scalar::f32;
    tile_loads a, b;
    bool is_narrow = false;        ///< every index fits in 31 bits
    bool stores_vectors = false;   ///< rows of the result are aligned for short vectors
    std::uint8_t batch_loops = 0;  ///< dimensions of the batch, after fusing
    bool has_splits = false;
    bool has_slow_inner = false;  ///< inner elements are rows of `fast`, a multiple of the depth
    friend bool operator==(const product_tile_plan&, const product_tile_plan&) = default;
    /// Elements in 16 bytes.
    int lanes() const { return static_cast<int>(16 / size_of(element)); }
};
std::shared_ptr<const ir::function> trace_tiles(trace::recording&, const parameter_list&,
                                                const product_tile_plan&);

/// CPUs: a kernel that packs an operand into panels of `width` rows. The last row pads a panel that is not
/// full.
struct pack_plan {
    int width = 0;
    scalar element = scalar::f32;
    trace::type stored{};        ///< the element type in memory
    bool has_unit_rows = false;  ///< rows have stride 1
    std::uint8_t batch_loops = 0;
    friend bool operator==(const pack_plan&, const pack_plan&) = default;
};
std::shared_ptr<const ir::function> trace_pack(trace::recording&, const parameter_list&, const pack_plan&);

/// A kernel of panels, on CPUs.
struct panel_plan {
    panel_shape shape;
    scalar element = scalar::f32;
    std::uint8_t batch_loops = 0;
    bool has_splits = false;
    friend bool operator==(const panel_plan&, const panel_plan&) = default;
};
/// The maximum number of panels of a block: 96 rows by 128 columns of f32 with AVX2, whose operands fit in
/// the second-level cache for `block_depth` inner elements at a time.
inline constexpr int block_row_panels = 16, block_column_panels = 8, block_depth = 256;
std::shared_ptr<const ir::function> trace_panels(trace::recording&, const parameter_list&, const panel_plan&);

}  // namespace balm::array
