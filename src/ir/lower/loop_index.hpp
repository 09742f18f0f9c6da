#pragma once
// Memory indices as sums over loop variables, which show which elements are neighbours, which are the same,
// and where a vector begins.

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "ir/builder.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

/// The maximal number of operations of an index that are analysed; beyond it, an invariant operand counts as
/// one value. Without a bound, nested sums would be walked down to every leaf.
inline constexpr int max_index_operations = 64;

/// constant + sum of coefficient * factor * variable. Variables are loop variables, factors are
/// loop-invariant; either may be missing.
struct index_sum {
    struct term {
        value_id variable = none, factor = none;
        std::int64_t coefficient = 0;
        friend bool operator==(const term&, const term&) = default;
        friend bool operator<(const term& a, const term& b) {
            return std::tie(a.variable, a.factor, a.coefficient) <
                   std::tie(b.variable, b.factor, b.coefficient);
        }
    };
    std::vector<term> terms;  ///< sorted, each product once, without zero coefficients
    std::int64_t constant = 0;

    friend bool operator==(const index_sum&, const index_sum&) = default;

    void add(const term&);
    void add(const index_sum&, std::int64_t times = 1);
    /// The sum for a variable that is larger by `by`.
    index_sum moved(value_id variable, std::int64_t by) const;
    std::int64_t coefficient_of(value_id variable) const;
    /// The sum without the term that is the variable times a constant.
    index_sum besides(value_id variable) const;
    /// The sum minus the variable; empty if the sum depends on the variable in another way.
    std::optional<index_sum> offset_from(value_id variable) const;
    /// Whether the terms are known to be multiples of the number.
    bool is_multiple_of(std::int64_t) const;
    bool is_zero() const { return terms.empty() && constant == 0; }
};

class loop_index {
public:
    /// For nested loops, the outermost first.
    loop_index(const function&, std::span<const value_id> loops);
    loop_index(const function& f, value_id loop) : loop_index(f, std::span(&loop, 1)) {}
    /// For no loop: every value is invariant.
    explicit loop_index(const function& f) : loop_index(f, std::span<const value_id>()) {}

    /// The sum that a 64-bit index is; empty if it is not one.
    std::optional<index_sum> sum_of(value_id index) const;
    /// The index of a load or store.
    std::optional<index_sum> sum_of_access(value_id access) const { return sum_of(f_.operand(access, 1)); }

    /// Whether the terms are known to be multiples of four.
    bool is_in_fours(const index_sum&) const;

private:
    bool is_invariant(value_id v) const { return v >= varies_.size() || !varies_[v]; }
    bool is_variable(value_id v) const;
    std::optional<index_sum> sum(value_id v, int& budget) const;
    std::optional<index_sum> sum_of_builtin(value_id v, int& budget) const;
    std::optional<index_sum> product(value_id a, value_id b, int& budget) const;
    bool is_in_fours(value_id v, int& budget) const;

    const function& f_;
    const std::vector<value_id> loops_;
    std::vector<bool> varies_;  ///< by value: it depends on a loop's variable, on memory, or has an effect
};

/// Computes sums ahead of the loops, with values in place of the variables.
class index_values {
public:
    struct variable {
        value_id loop, value;
    };
    index_values(const function& f, std::span<const value_id> loops, std::vector<variable> variables)
        : f_(f), loops_(loops.begin(), loops.end()), variables_(std::move(variables)) {}

    value_id value_of(const index_sum&, builder&) const;

private:
    value_id product(const index_sum::term&, builder&) const;
    value_id value_of_variable(value_id loop) const;
    value_id hoisted(value_id v, builder&) const;

    const function& f_;
    const std::vector<value_id> loops_;
    const std::vector<variable> variables_;
};

}  // namespace balm::ir
