#pragma once
// The kernel of one pass of a transform (Stockham): lines of `length` numbers, `distance` apart, are
// transformed in stages and stored `out_distance` apart, so that the passes together leave the results in
// order. A transform along a dimension of extent n, with `inner` elements of faster dimensions, has lines
// that begin at each c below distance = n inner / length:
//
//     in:   outer * (n inner) + c + p * distance
//     out:  outer * (n inner) + c / out_distance * (out_distance * length) + c % out_distance
//               + p * out_distance,          out_distance = inner * (product of the earlier passes' lengths)
//
// All passes but the first multiply element p by exp(-2 π i p k / (length * earlier)), k = c % out_distance /
// inner.
//
// C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM 1992, 1.7; D. H. Bailey, FFTs in
// external or hierarchical memory, J. Supercomputing 4 (1990).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// How the lines are divided among work-items.
enum class fft_shape : std::uint8_t {
    lines_an_item,  ///< CPUs: a work-item transforms some lines, one in each lane of short vectors
    tile_a_group    ///< GPUs: work-items hold a few numbers each and exchange them through local memory
};

/// What is applied to elements as they are loaded or stored, in this order: their parts are swapped, they are
/// multiplied by factors, their parts are swapped.
struct fft_end {
    bool swaps_first = false;
    bool has_factors = false;  ///< one for each element of the dimension
    bool is_cut = false;       ///< the memory has fewer elements of the dimension than the transform
    bool swaps_last = false;
    friend bool operator==(const fft_end&, const fft_end&) = default;
};

/// The exponents of the twiddle factors of lines in neighbouring lanes.
enum class lane_turns : std::uint8_t { any, equal, consecutive };

struct fft_plan_of_pass {
    fft_shape shape = fft_shape::lines_an_item;
    scalar element = scalar::f32;
    int length = 1;
    std::vector<int> radices;
    bool is_rows = false;       ///< lines are contiguous: distance and out_distance are 1
    bool keeps_places = false;  ///< distance and out_distance are equal: lines are stored in place
    bool is_turned = false;     ///< there are earlier passes
    bool has_inner = false;     ///< inner is not 1
    bool is_narrow = false;     ///< GPUs: all positions fit in 31 bits
    bool is_scaled = false;
    fft_end in, out;
    // CPUs:
    int lanes = 1;      ///< lines that a work-item transforms at once
    int out_apart = 0;  ///< between the results of neighbouring lines, if the lanes' lines are neighbours
    lane_turns turns = lane_turns::any;
    // GPUs:
    int items = 1;                                     ///< work-items per line
    int lines = 1;                                     ///< lines per group
    bool loads_across = false, stores_across = false;  ///< neighbouring work-items have neighbouring lines
    bool is_staged = false;     ///< short rows, whose elements reach work-items through local memory
    bool splits_parts = false;  ///< real and imaginary parts take turns in local memory

    int group() const { return shape == fft_shape::tile_a_group ? items * lines : 1; }
    friend bool operator==(const fft_plan_of_pass&, const fft_plan_of_pass&) = default;
};

/// Where the first of two passes of a kernel stores its results.
enum class fft_between : std::uint8_t {
    target,  ///< where those of the second go
    memory,  ///< in memory for all rows
    item     ///< in private memory for one row
};

/// What a kernel computes: a pass, or on CPUs two over the same rows. A work-item then transforms one row
/// after the other, which stays in its cache between the passes.
struct fft_plan_of_kernel {
    std::vector<fft_plan_of_pass> passes;
    fft_between between = fft_between::target;

    bool is_of_rows() const { return passes.size() > 1; }
    friend bool operator==(const fft_plan_of_kernel&, const fft_plan_of_kernel&) = default;
};

/// The size of the table of roots by which all stages but the first multiply: for each stage, with `before`
/// as the product of the earlier radices, exp(-2 π i q k / (before * radix)) for q from 1, then k below
/// `before`.
std::size_t stage_roots(const std::vector<int>& radices);

/// The local memory of a group, in elements (pairs of parts, or single ones).
std::size_t fft_room(const fft_plan_of_pass&);

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_fft(trace::recording&, const parameter_list& given,
                                              const fft_plan_of_kernel&, const tape&, const layout&);

}  // namespace balm::array
