#pragma once
// The kernels of scans along a dimension that is not the last one. Its elements are rows, and what the other
// dimensions have are columns: the box is `outer` times `rows` times `inner`, and column c is that of outer
// element c / inner, inner element c % inner. Where there are few columns, rows are cut into chunks, as
// elements of other scans are: a kernel that finds the columns' totals in each chunk, one that scans the
// totals, which lie as a box of 1 times chunks times columns, one that scans the chunks.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

enum class columns_stage : std::uint8_t {
    chunk_totals,  ///< of each column a total for each chunk
    parts,         ///< the chunks' totals, scanned in place
    chunks,        ///< the results, of chunks behind the scanned totals
    whole          ///< the results, of one chunk
};

/// How work-items share out columns.
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
    int at_once = 1;         ///< rows that a work-item of a GPU loads before it combines them
    bool is_narrow = false;  ///< places of elements fit in 31 bits

    bool on_cpu() const { return shape == columns_shape::strip_an_item; }
    bool of_parts() const { return stage == columns_stage::parts; }
    bool gives_results() const { return stage == columns_stage::chunks || stage == columns_stage::whole; }
    bool has_partials() const { return stage != columns_stage::whole; }
    /// Whether columns begin with the initial value, not with what is ahead of a chunk.
    bool begins_with_init() const { return has_init && (of_parts() || stage == columns_stage::whole); }

    friend bool operator==(const columns_plan&, const columns_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        hash.add(shape, stage, is_inclusive, has_init, at_once, is_narrow);
    }
};

inline constexpr std::size_t columns_group = 256, shared_columns_group = 512;  ///< work-items, at most
inline constexpr std::size_t most_of_strip = 512;                              ///< columns

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_columns(trace::recording&, const parameter_list& given,
                                                  const columns_plan&, const operations&, const tape&,
                                                  const layout&);

}  // namespace balm::array
