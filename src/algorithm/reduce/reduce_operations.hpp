#pragma once
// The operations of reductions, recorded: the state of an element, the combination of two states, and the
// result. Several reductions that share a pass are one `operations`, whose state is the concatenation of
// theirs.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/block/operation.hpp"
#include "array/layout.hpp"
#include "balm/reduce.hpp"

namespace balm::array {

using block::values;

/// Whether the result is a truth value, whatever the elements are.
bool is_condition(const reduction&);
/// Whether the result has the position of an element beside its value.
bool has_position(const reduction&);
/// Whether the result is the least or the greatest element, which an empty input does not have.
bool is_extreme(const reduction&);
/// The number of values in a partial result.
std::size_t state_size(const reduction&);
/// The number of slots of 8 bytes that a result takes on the host, with its position.
std::size_t result_slots(const reduction&);
/// Writes the result of no elements to such slots; not for extremes.
void write_result_of_nothing(const reduction&, std::uint64_t* slots);

/// The properties of a reduction that kernels depend on.
struct reduction_form {
    reduction_kind kind;
    trace::type element;
    std::uint64_t identity;  ///< of a fold
    std::uint32_t statement;
    runtime::digest function;  ///< of a fold
    friend bool operator==(const reduction_form&, const reduction_form&) = default;
};
using reduction_forms = balm::detail::inline_vector<reduction_form, 2>;
reduction_form form_of(const reduction&);
reduction_forms forms_of(std::span<const reduction>);

/// What a scan begins with, if it has a value: with an element, or with the result of no elements.
struct initial_value {
    std::optional<trace::node> value;
    bool is_element = true;
};

/// How the operations are carried out; the results are the same.
struct operation_style {
    /// Results do not depend on which of two equal values a device's min and max return.
    bool exact_order = false;
    /// The extremes of floating-point numbers begin at infinity, not at NaN, and take one comparison. A state
    /// that is still infinity may come from nothing but NaN.
    bool assumes_numbers = false;
    int lanes = 1;
};

class operations {
public:
    operations(const reduction* first, std::size_t count, operation_style);
    operations with_lanes(int lanes) const {
        return with({style_.exact_order, style_.assumes_numbers, lanes});
    }
    operations assuming_numbers() const { return with({style_.exact_order, true, style_.lanes}); }
    /// Of arg_min and arg_max only the extremes; their positions are found later.
    operations without_positions() const;
    /// A state of without_positions() as one of these operations, whose extremes all have this position.
    values with_position(const values& state, trace::node position) const;
    const operation_style& style() const { return style_; }

    /// The types of the state, and of the results.
    const block::types& state() const { return state_; }
    const block::types& results() const { return results_; }
    std::size_t bytes_of_state() const;
    /// Whether the order of combinations affects the results.
    bool depend_on_order() const;

    /// The state of no elements.
    values identity() const;
    /// The same with initial values for the reductions that have one.
    values beginning_with(const std::vector<initial_value>&) const;
    /// The state of one element: `elements` has one for each reduction.
    values of_element(const values& elements, trace::node position) const;
    /// The state of both; with in_order, all positions of `a` are before those of `b`.
    values combined(const values& a, const values& b, bool in_order) const;
    /// combined() and identity() for the block primitives.
    block::operation operation(bool in_order) const;
    /// Combines the lanes of a state of with_lanes(lanes): lane k with k + w, for w from half of them down to
    /// 1.
    values of_lanes(int lanes, values states) const;
    values result(const values& state) const;
    /// Which values of the state are followed by their position.
    std::vector<bool> have_positions() const;
    /// Whether the reductions include extremes of floating-point numbers.
    bool have_extremes() const;
    /// Which values of the state are such extremes.
    std::vector<bool> are_extremes() const;
    /// For a state that assumes numbers: whether an extreme still has its initial value.
    trace::node is_doubtful(const values& state) const;

private:
    /// Whether the elements themselves are short vectors.
    bool is_vector(const reduction&) const;
    /// Whether extremes begin at infinity: not those of vectors, where one test decides for all lanes.
    bool assumes_numbers(const reduction&) const;
    operations with(operation_style other) const { return {all_.data(), all_.size(), other}; }

    std::vector<reduction> all_;
    operation_style style_;
    block::types state_;
    block::types results_;
};

}  // namespace balm::array
