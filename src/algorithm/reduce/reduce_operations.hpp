#pragma once
// What reductions do with values, recorded: how an element enters, how two partial results become one, what
// the result is. Several reductions that share a pass are one `operations`, whose state is theirs side by
// side.

#include <cstdint>
#include <memory>
#include <vector>

#include "array/layout.hpp"
#include "balm/reduce.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// Values of the kernel that is being traced: the state of several reductions, or their results.
using nodes = std::vector<trace::node>;

/// Whether the result is a truth value, whatever the elements are.
bool is_condition(const reduction&);
/// Whether the result has the position of an element beside its value.
bool has_position(const reduction&);
/// Whether it is the least or the greatest element, which of no elements there is none.
bool is_extreme(const reduction&);
/// The bits of a result of no elements, of what is no extreme.
std::uint64_t result_of_nothing(const reduction&);

/// What kernels depend on of a reduction.
struct reduction_form {
    explicit reduction_form(const reduction&);
    friend bool operator==(const reduction_form&, const reduction_form&) = default;
    void add_to(runtime::table_hash&) const;

    reduction_kind kind;
    trace::type element;
    std::uint64_t identity;    ///< of a fold
    runtime::digest function;  ///< of a fold
};

/// How the operations are carried out; the results are the same.
struct operation_style {
    /// Results do not depend on which of two equal values a device's min and max give.
    bool exact_order = false;
    /// The extremes of floating numbers begin at infinity, not at NaN, and take one comparison. Where nothing
    /// nearer came, the state stays there though there may have been nothing but NaN.
    bool assumes_numbers = false;
    int lanes = 1;
};

class operations {
public:
    operations(const reduction* first, std::size_t count, operation_style);
    operations with(operation_style other) const { return {all_.data(), all_.size(), other}; }
    const operation_style& style() const { return style_; }

    /// The types of the state, and of the results.
    const std::vector<trace::type>& state() const { return state_; }
    const std::vector<trace::type>& results() const { return results_; }
    /// Whether the order of combinations shows in the results.
    bool depend_on_order() const;

    /// The state of no elements.
    nodes identity() const;
    /// The state of one element: `values` has one for each reduction.
    nodes of_element(const nodes& values, trace::node position) const;
    /// The state of both; with in_order, all positions of `a` are before those of `b`.
    nodes combined(const nodes& a, const nodes& b, bool in_order) const;
    nodes result(const nodes& state) const;
    /// Whether extremes of floating numbers are among them.
    bool have_extremes() const;
    /// Which values of the state those are.
    std::vector<bool> are_extremes() const;
    /// Of a state that assumed numbers: whether an extreme stayed where it began.
    trace::node is_doubtful(const nodes& state) const;

private:
    std::vector<reduction> all_;
    operation_style style_;
    std::vector<trace::type> state_;
    std::vector<trace::type> results_;
};

}  // namespace balm::array
