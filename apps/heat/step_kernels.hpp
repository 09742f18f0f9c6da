#pragma once
// The kernels of the heat step, in Balm's kernel language. In: a plan. Out: a kernel. All of them work on a
// bordered grid of `pitch` cells per row, whose border and excess hold 0 and keep it, with the codes and
// coefficients of conductance.hpp. They read temperatures from one buffer and write them to the other.

#include <balm/kernel.hpp>

#include "plan.hpp"

namespace heat {

/// Clamps to [0, 1]; NaN becomes 0.
balm::dsl::Float to_unit_range(const balm::dsl::Float& value);

using single_kernel = balm::typed_kernel<2, balm::dsl::Index, balm::dsl::Index, balm::dsl::Float,
                                         balm::dsl::Float, balm::dsl::In<float>, balm::dsl::In<std::uint8_t>,
                                         balm::dsl::In<float>, balm::dsl::Out<float>>;

/// heat_step(pitch, first, inner, outer, weights, cells, from, to), for a grid with a border of `border`
/// cells: one cell per work-item, from row `first` on. It divides and clamps as `step_serial` does, so it is
/// correct for every dt.
single_kernel make_single_kernel(unsigned border);

using tile_kernel =
    balm::typed_kernel<2, balm::dsl::Int, balm::dsl::Index, balm::dsl::Index, balm::dsl::Float,
                       balm::dsl::Float, balm::dsl::In<float>, balm::dsl::In<std::uint32_t>,
                       balm::dsl::In<float>, balm::dsl::Out<float>, balm::dsl::Local<float>>;

/// heat_tile(steps, pitch, first, keep, take, coefficients, cells, from, to, shared): a work-group holds a
/// tile (of row `first` of tiles or one below) in registers, one block of cells per work-item, and advances
/// it by up to plan.steps steps. In each step, work-items exchange the edges of their blocks through local
/// memory; invalid values at the tile's edge move in by one cell per step and are not written. `coefficients`
/// is keep and take by code, `keep` and `take` are those of plain cells; `cells` packs the codes of four
/// cells of a row into a word. For steps that are means (is_mean).
tile_kernel make_tile_kernel(const plan& plan);

/// Whether a plan has a shape that `make_tile_kernel` accepts.
bool is_tile(const plan& plan);

/// Elements of `shared`.
std::size_t tile_shared_size(const plan& plan);

using stream_kernel =
    balm::typed_kernel<2, balm::dsl::Index, balm::dsl::Index, balm::dsl::Index, balm::dsl::Float,
                       balm::dsl::Float, balm::dsl::In<float>, balm::dsl::In<balm::uchar16>,
                       balm::dsl::In<std::uint8_t>, balm::dsl::In<balm::float16>,
                       balm::dsl::Out<balm::float16>, balm::dsl::Local<balm::float16>,
                       balm::dsl::Local<balm::float16>, balm::dsl::Local<balm::float16>>;

/// heat_stream(pitch, strips, first, keep, take, coefficients, cells, plain, from, to, odd, even, weights): a
/// work-group of one work-item advances a tile (of row `first` of tiles or one below) by exactly `steps`
/// steps, at most plan.steps. It goes down the tile row by row, in vectors of 16 cells, which `pitch` counts,
/// too. Each incoming row makes it possible to compute one row of step 1, one row further up, then one of
/// step 2, and so on. So only the last rows of each step are kept: two of each odd step in `odd`, three of
/// each even one in `even`, and the weights of `steps` rows. `plain` tells for each row of each of the
/// `strips` strips of tiles (row * strips + strip) whether all of its cells have the plain code. For steps
/// that are means (is_mean).
stream_kernel make_stream_kernel(const plan& plan, unsigned steps);

/// Whether a plan has a shape that `make_stream_kernel` accepts.
bool is_stream(const plan& plan);

/// Elements of `odd` and of `even`.
std::size_t stream_odd_size(const plan& plan);
std::size_t stream_even_size(const plan& plan);
/// Elements of `weights`.
std::size_t stream_weights_size(const plan& plan);

using sweep_kernel =
    balm::typed_kernel<1, balm::dsl::Int, balm::dsl::Int, balm::dsl::In<balm::int4>, balm::dsl::Float,
                       balm::dsl::Float, balm::dsl::In<float>, balm::dsl::In<std::uint32_t>,
                       balm::dsl::In<std::uint8_t>, balm::dsl::In<balm::float4>, balm::dsl::Out<balm::float4>,
                       balm::dsl::Local<balm::float2>>;

/// heat_sweep(words, strips, segments, keep, take, coefficients, cells, plain, from, to, table): a work-group
/// of one sub-group advances a segment (segments.hpp) by exactly `steps` steps, at most plan.steps. It goes
/// down the rows of the segment, and those above and below that they depend on. Each incoming row makes it
/// possible to compute one row of step 1, one row further up, then one of step 2, and so on. `cells` packs
/// the codes of four cells of a row into a word; a row has `words` of them. `coefficients` is as for a tile,
/// `table` has room for both of each code; `plain` is as for a stream. For steps that are means (is_mean).
sweep_kernel make_sweep_kernel(const plan& plan, unsigned steps);

/// Lanes of a sub-group, on every device.
inline constexpr unsigned lanes_of_sweep = balm::dsl::lanes_of_sub_group;

/// The maximum number of cells of a layout: sweeps index words by int.
inline constexpr std::uint64_t most_cells_of_sweep = std::uint64_t{4} * 0x7fff'ffff;

/// Whether a plan has a shape that `make_sweep_kernel` accepts.
bool is_sweep(const plan& plan);

}  // namespace heat
