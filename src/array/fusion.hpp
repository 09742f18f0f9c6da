#pragma once
// Statements of a recording become one kernel if they compute the same elements: a later statement uses the
// values of earlier ones instead of loading them, and vectors that nobody can read afterwards are not stored.
// Reductions of these elements join them, and statements of one element join the kernel that gives the
// reductions' results.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/layout.hpp"
#include "array/row_statements.hpp"

namespace balm::array {

/// Enqueues the kernel of an assignment of materialised values to vectors of one device; in evaluate.cpp.
void launch(target_list, const tape&, const shape& box);

/// If this thread records, and the statement can be fused with others: holds it back until a command that
/// cannot be, or the end of the recording, and returns true.
bool is_held_to_fuse(target_list, const tape&, const shape& box);

/// If this thread records: the operand of an algorithm over the box with cheap statements that are held back,
/// computed again, in place of vectors that they assign; nullopt if it reads none. Statements in it are to be
/// numbered apart (expression_recorder.hpp).
std::optional<tape> with_statements_again(const tape& operand, const shape& box);

/// What kernels of reductions compute beside their reductions.
struct fused_values {
    tape elements;                      ///< values for each element
    bool are_in_lanes = false;          ///< on CPUs, in short vectors
    std::vector<target> stored;         ///< what the first values are assigned to
    std::size_t first_operand = 0;      ///< the value that the first reduction reduces
    std::uint32_t first_statement = 0;  ///< the number of the first call's statement
    std::vector<vector_state*> results;
    tape then;  ///< values of one element, after the results
    std::vector<target> stored_then;
};

/// The reductions of one call, or of several over the same elements.
class held_reductions {
public:
    held_reductions() = default;
    held_reductions(const held_reductions&) = delete;
    held_reductions& operator=(const held_reductions&) = delete;
    virtual ~held_reductions() = default;
    /// Takes over the reductions of a later call, if one kernel can compute both with the results of two.
    virtual bool take(held_reductions& later) = 0;
    /// Whether CPUs compute the elements of the reductions alone in short vectors.
    virtual bool are_in_lanes() const = 0;
    virtual void launch(const fused_values&) = 0;
};

/// The same for reductions of a tape's values to vectors of one element.
bool are_held_to_fuse(std::unique_ptr<held_reductions>&&, const tape& operands,
                      std::span<vector_state* const> results);
/// The same for a reduction along rows into a vector of an element for each row.
bool is_held_to_fuse(std::unique_ptr<held_row_reduction>&&, const tape& operand, const row_box&,
                     vector_state& result);

}  // namespace balm::array
