#pragma once
// The kernels of fused rows, for GPUs. The work-items of a group hold some rows: `across` neighbours share
// one, and each holds `count` of its elements in registers, those that are `across` apart. A reduction
// combines the elements of a row in the order in which its own kernel does (along_kernels.hpp), so the bits
// are the same.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/along/along_kernels.hpp"
#include "array/row_statements.hpp"

namespace balm::array {

/// The most elements of a row that a work-item holds.
inline constexpr std::size_t most_of_item = 32;

struct rows_plan {
    int across = 1;       ///< work-items that share a row, a power of two up to along_group
    int count = 1;        ///< elements that each of them holds
    bool is_even = true;  ///< all of them hold as many; else some hold one less
    bool has_sub_groups = false;
    bool reads_results = false;  ///< a vector of results is also loaded, so that stores must follow all loads
    friend bool operator==(const rows_plan&, const rows_plan&) = default;
};

/// A reduction among those of the rows.
struct row_reduction {
    reduction what;
    std::size_t at_once = 1;  ///< elements that are combined as a tree
    std::size_t result = 0;   ///< index among the results of the operations
};

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_rows(trace::recording&, const parameter_list& given,
                                               const rows_plan&, const fused_rows&,
                                               const std::vector<row_reduction>&, const layout&);

}  // namespace balm::array
