#pragma once
// Records the steps of a tape for one index, part by part: between the parts a kernel may record something
// else, such as a reduction of values whose result later parts use.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// Whether the last value of a statement is kept here, in a list of several statements.
inline bool ends_statement(const step& s) {
    return s.what == step::kind::keep && s.detail == static_cast<std::uint32_t>(value_of_statement::last);
}

/// The number of statements that the tape's last value follows.
std::uint32_t statement_count(const tape&);

/// Whether elements of this type are accessed in the short vectors of the coordinates.
bool is_in_short_vectors(trace::type element, const coordinates&);
/// Stores the lanes of the short vector that holds the element.
void store_in_short_vector(trace::node memory, const std::vector<trace::node>& lanes, const coordinates&);

class expression_recorder {
public:
    /// For one index, or `lanes` consecutive ones. The tape, its layout and the parameters must outlive it.
    expression_recorder(const tape&, const layout&, const parameter_list&, const coordinates& at,
                        int lanes = 1);

    /// Numbers the next `count` statements from `first` on. Recorders of several elements in one block must
    /// number those statements apart that round as in kernels of one element: a product that all elements
    /// share would otherwise be one value with several uses, which no sum takes as its `fma`.
    void number_statements(std::uint32_t first, std::uint32_t count);
    /// Records the steps up to this one, and returns the values that they leave.
    std::vector<trace::node> record_until(std::size_t step);
    /// Passes over the steps up to this one, which another recorder records.
    void skip_until(std::size_t step);
    /// Lets the number of a kept value stand for this one from now on.
    void keep(std::uint64_t number, trace::node value) { kept_.push_back({number, value, places_.size()}); }
    /// The kept value of a number.
    trace::node kept(std::uint64_t number) const;

private:
    struct kept_value {
        std::uint64_t number;
        trace::node value;
        std::size_t depth;  ///< nesting depth of positions
    };

    trace::node next_scalar();
    trace::node loaded(const step&) const;
    trace::node called(const step&, const trace::node* operands) const;
    void begin_statement() const {
        trace::begin_statement(statement_ < apart_end_ ? statement_ + apart_by_ : statement_);
    }

    const tape* p_;
    const layout* leaves_;
    const parameter_list* given_;
    int lanes_;
    std::size_t next_ = 0, scalars_ = 0, positions_ = 0;  ///< steps, scalars and positions so far
    std::uint32_t statement_ = 0, apart_end_ = 0, apart_by_ = 0;
    std::vector<coordinates> places_;  ///< where the step is recorded, the innermost last
    std::vector<kept_value> kept_;
};

}  // namespace balm::array
