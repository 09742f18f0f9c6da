#pragma once
// Statements over the same elements as one tape: a later statement uses the values of earlier ones instead of
// loading them.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "array/layout.hpp"
#include "array/vector_state.hpp"

namespace balm::array {

using vector_handle = std::shared_ptr<vector_state>;

/// Whether the vector shares elements with one of the list, or a list with another.
bool overlaps(const vector_state& v, const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const vector_handle& each) { return each->overlaps(v); });
}
bool overlap(const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(), [&](const vector_handle& each) { return overlaps(*each, b); });
}

/// The vectors that a statement or a reduction reads, at the element's own index and at others, and writes.
struct vector_accesses {
    std::vector<vector_handle> here, elsewhere, written;

    vector_accesses(const tape&, target_list);
};

class fused_statements {
public:
    /// Whether the order matters in which these and the others are computed.
    bool conflict_with(const vector_accesses& s) const {
        return overlap(s.here, written_) || overlap(s.elsewhere, written_) || overlap(s.written, written_) ||
               overlap(s.written, here_) || overlap(s.written, elsewhere_);
    }
    bool is_empty() const { return count_ == 0; }
    std::uint32_t count() const { return count_; }
    const std::vector<vector_handle>& read_here() const { return here_; }
    const std::vector<vector_handle>& read_elsewhere() const { return elsewhere_; }
    const std::vector<vector_handle>& written() const { return written_; }

    /// Whether a statement, or a reduction's operand, can follow: no element needs what is computed for
    /// another one, or overwrites what another one reads.
    bool can_add(const vector_accesses&) const;
    void add(target_list, const tape&, const vector_accesses&, std::size_t elements);
    /// Adds an operand of the same elements: the tape with the statements' values in place of the vectors
    /// that hold them.
    tape add_operand(const tape&, const vector_accesses&);
    /// Adds vectors that something else writes before the statements, which read them in memory.
    void add_written(const std::vector<vector_handle>&);

    /// A tape whose first values are those of the targets. Vectors that nobody can read afterwards are no
    /// targets; a tape without any has one value nevertheless.
    struct stored_values {
        tape values;
        std::vector<target> targets;
    };
    stored_values stored() const;

private:
    /// The tape with values in place of vectors; calls after_value(tape, number) where the value with this
    /// number is the last one.
    template <class AfterValue>
    tape rewritten(const tape&, const AfterValue&) const;

    void add_reads(const vector_accesses&);

    static constexpr std::uint64_t in_memory = 0;
    tape values_;
    std::uint32_t count_ = 0;
    std::vector<vector_handle> written_, here_, elsewhere_;  ///< here_: loaded, by statements and operands
    std::vector<std::uint64_t> last_values_;  ///< the numbers of what is in the written vectors, or in_memory
};

/// Whether only this handle keeps the vector: nothing reads it in memory any more, not even the next replay.
bool is_dead(const vector_handle&);

}  // namespace balm::array
