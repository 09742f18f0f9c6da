#pragma once
// Statements over the same elements as one tape: a later statement uses the values of earlier ones instead of
// loading them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
    std::vector<vector_handle> of_rows;    ///< read at the index of the element's row
    std::vector<vector_handle> scattered;  ///< written, at other indices than the element's own

    vector_accesses() = default;
    /// If `columns` is not 0, the elements are those of rows of this length.
    vector_accesses(const tape&, target_list, std::size_t columns = 0);
};

/// The same of several statements that one kernel computes.
class fused_accesses {
public:
    /// Why a statement, or a reduction's operand, cannot follow, for users: an element needs what is computed
    /// for another one, or overwrites what another one reads. Null if it can.
    const char* conflict_of(const vector_accesses&) const;
    bool can_add(const vector_accesses& s) const { return conflict_of(s) == nullptr; }
    /// Whether the order matters in which these and the others are computed.
    bool conflict_with(const vector_accesses& s) const {
        return overlap(s.here, written_) || overlap(s.elsewhere, written_) || overlap(s.written, written_) ||
               overlap(s.written, here_) || overlap(s.written, elsewhere_);
    }
    void add(const vector_accesses&);

    const std::vector<vector_handle>& here() const { return here_; }  ///< loaded
    const std::vector<vector_handle>& written() const { return written_; }
    bool are_scattered() const { return !scattered_.empty(); }
    /// The place of a vector among the written ones, or their number.
    std::size_t place_of(const vector_handle& v) const {
        return static_cast<std::size_t>(std::find(written_.begin(), written_.end(), v) - written_.begin());
    }
    /// Calls f(vector, is it written).
    template <class F>
    void for_each_vector(F&& f) const {
        for (const vector_handle& v : here_) f(*v, false);
        for (const vector_handle& v : elsewhere_) f(*v, false);
        for (const vector_handle& v : written_) f(*v, true);
    }

private:
    std::vector<vector_handle> here_, elsewhere_, written_, scattered_;  ///< written_: each once
};

/// The number of the value that stands for a vector's element, or for that of the element's row; nullopt if
/// it is loaded.
using known_values = std::function<std::optional<std::uint64_t>(const vector_handle&, bool is_of_row)>;
/// A tape with values in place of vectors. Calls after_value(tape, number) where the value with this number
/// is the last one. `columns`: as above.
tape with_known_values(const tape&, std::size_t columns, const known_values&,
                       const std::function<void(tape&, std::size_t)>& after_value = {});

/// Whether it calls functions of the library that vectors and scalars may round differently.
bool calls_inexact_functions(const tape&);

/// The tape of a statement over the box, with the element itself in place of views of all elements in order.
tape with_own_elements(const tape&, const shape& box);

/// The tape of a statement over the box as one loop over its elements, in which those of a row find its
/// number by dividing their own; nullopt if it has other views, or rows that are not whole short vectors
/// (ir::most_lanes).
std::optional<tape> in_one_loop(const tape&, const shape& box);

/// Whether nothing reads in memory what a kernel would store in a vector.
using unread_test = std::function<bool(const vector_state&)>;

class fused_statements {
public:
    bool is_empty() const { return count_ == 0; }
    std::uint32_t count() const { return count_; }
    const fused_accesses& uses() const { return uses_; }
    /// The statements as one value.
    const tape& values() const { return values_; }
    /// The number of the value that is in a written vector; nullopt if it is in memory.
    std::optional<std::uint64_t> value_in(const vector_handle&) const;

    /// The same statements for another kernel, which computes them again and stores no value of theirs.
    fused_statements again() const;
    /// Whether the vector has a value here that this kernel does not store.
    bool is_only_computed(const vector_handle&) const;
    /// The tape with the statements' values in place of the vectors that hold them.
    tape with_values(const tape&) const;

    void add(target_list, const tape&, const vector_accesses&, std::size_t elements);
    /// Adds an operand of the same elements; returns it with_values().
    tape add_operand(const tape&, const vector_accesses&);
    /// Adds vectors that something else writes before the statements, which read them in memory.
    void add_written(const std::vector<vector_handle>&);

    /// A tape whose first values are those of the targets. Vectors that nobody can read afterwards are no
    /// targets; a tape without any has one value nevertheless.
    struct stored_values {
        tape values;  ///< then the positions of targets that have some
        std::vector<target> targets;
    };
    stored_values stored(const unread_test&) const;

private:
    known_values known() const;

    static constexpr std::uint64_t in_memory = 0;
    /// What is in a written vector: the numbers of the value and of its position, if it is not the element's
    /// own index.
    struct written_value {
        std::uint64_t value = in_memory, position = 0;
        std::shared_ptr<const tape> where;
        bool is_stored = true;
    };
    tape values_;
    std::uint32_t count_ = 0;
    fused_accesses uses_;
    std::vector<written_value> last_values_;
};

/// Whether only so many handles keep the vector, which are those of kernels that compute it: nothing reads it
/// in memory any more, not even the next replay.
bool is_dead(const vector_state&, long handles);

}  // namespace balm::array
