#pragma once
// The kernels of scans along a dimension that is not the last one. Its elements are rows, those of the other
// dimensions are columns: the box is `outer` times `rows` times `inner`, and column c has outer index c /
// inner and inner index c % inner. If there are few columns, rows are divided into chunks, as in other scans:
// one kernel computes the columns' totals in each chunk, one scans the totals, which are a box of 1 times
// chunks times columns, and one scans the chunks.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

enum class columns_stage : std::uint8_t {
    chunk_totals,  ///< for each column a total per chunk
    parts,         ///< the chunks' totals, scanned in place
    chunks,        ///< the results of chunks, given the scanned totals
    whole          ///< the results of a single chunk
};

/// How columns are divided among work-items.
enum class columns_shape : std::uint8_t {
    strip_an_item,   ///< CPUs: a work-item has a strip of neighbouring columns
    column_an_item,  ///< GPUs: a work-item has a column
    shared_columns   ///< GPUs: some work-items of a group share each column
};

struct columns_plan {
    columns_shape shape = columns_shape::strip_an_item;
    columns_stage stage = columns_stage::whole;
    bool is_inclusive = true;
    bool has_init = false;
    bool starts_from_nothing = false;  ///< the first result is that of no elements, which is no identity
    int at_once = 1;                   ///< rows that a work-item of a GPU loads before it combines them
    bool is_narrow = false;            ///< positions of elements fit in 31 bits

    bool on_cpu() const { return shape == columns_shape::strip_an_item; }
    bool of_parts() const { return stage == columns_stage::parts; }
    bool gives_results() const { return stage == columns_stage::chunks || stage == columns_stage::whole; }
    bool has_partials() const { return stage != columns_stage::whole; }
    /// Whether columns begin with the initial value, not with the total before a chunk.
    bool begins_with_init() const {
        return starts_from_value() && (of_parts() || stage == columns_stage::whole);
    }
    bool starts_from_value() const { return has_init || starts_from_nothing; }

    friend bool operator==(const columns_plan&, const columns_plan&) = default;
};

inline constexpr std::size_t columns_group = 256, shared_columns_group = 512;  ///< work-items, at most
/// Columns of a strip, whose states of `bytes` bytes are a work-item's private memory.
constexpr std::size_t most_of_strip(std::size_t bytes) {
    constexpr std::size_t most = 512, most_bytes = 16384;
    return std::clamp<std::size_t>(std::bit_floor(most_bytes / bytes), 1, most);
}

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_columns(trace::recording&, const parameter_list& given,
                                                  const columns_plan&, const operations&, const tape&,
                                                  const layout&);

}  // namespace balm::array
