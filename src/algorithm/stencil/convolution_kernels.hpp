#pragma once
// The kernel of convolutions whose weights are in memory. The array is viewed as rows x length x inner, with
// the convolution along the length. A group computes a tile of results, and takes the weights in chunks: for
// each chunk it stages the values that the tile needs in local memory, where the border is applied.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "array/layout.hpp"
#include "balm/stencil.hpp"
#include "ir/ir.hpp"

namespace balm::array {

struct convolution_plan {
    convolution_terms terms;
    border beyond = border::clamp;
    bool has_constant = false;   ///< the tape's second value
    bool is_narrow = false;      ///< positions fit in 32 bits
    bool is_part = false;        ///< the device has a part of the values
    int columns = 1;             ///< of a tile, along the inner dimension
    int each = 1;                ///< weights per step; on GPUs elements per work-item along the length
    int rest = 0;                ///< weights beyond a multiple of `each`
    std::size_t group = 1;       ///< work-items; 1: CPUs
    std::size_t room = 0;        ///< GPUs: bytes of local memory for a tile
    std::size_t values = 0;      ///< CPUs: of a tile
    std::size_t results = 0;     ///< CPUs: of a tile
    std::size_t most_chunk = 0;  ///< GPUs: weights

    bool is_of_cpus() const { return group == 1; }
    /// Whether work-items pass results through local memory, so that neighbours store to neighbouring
    /// positions.
    bool has_exchange() const;

    friend bool operator==(const convolution_plan& a, const convolution_plan& b);
    void add_to(runtime::table_hash& hash) const;
};

/// Maximum columns of a tile, which are then the lanes of a sub-group.
inline constexpr int most_columns = 32;

/// Records the body of a kernel whose parameters are declared. The tape has the value at an index, and the
/// constant beyond the border.
std::shared_ptr<const ir::function> trace_convolution(trace::recording&, const parameter_list& given,
                                                      const convolution_plan&, const tape&, const layout&);

}  // namespace balm::array
