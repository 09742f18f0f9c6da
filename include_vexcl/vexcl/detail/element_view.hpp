#pragma once
// Views of some elements of a vector or expression: slices, permutations and dereferenced pointers.

#include <tuple>
#include <type_traits>
#include <utility>

#include <balm/view.hpp>

#include "vexcl/detail/assignments.hpp"
#include "vexcl/detail/expression.hpp"
#include "vexcl/operations.hpp"

namespace vex {

/// Elements of a vector (T), to read and to assign, or of an expression (const T), to read.
template <class T>
class vector_view : public expression_base {
    using D = std::remove_const_t<T>;

public:
    typedef detail::host_element<D> value_type;

    vector_view(balm::view<T> of, detail::queue_list queues)
        : of_(std::move(of)), queues_(std::move(queues)) {}
    vector_view(const vector_view&) = default;
    ~vector_view() = default;

    VEX_ASSIGNED_BY_MEMBER(vector_view)

    balm::expr<D> balm_expr() const { return balm::expr<D>(of_); }
    const detail::queue_list& queues() const { return queues_; }
    const balm::view<T>& balm_view() const { return of_; }
    auto balm_targets() const { return std::tuple(of_); }
    template <detail::operand A>
    auto balm_values(const A& a) const {
        return std::tuple(detail::assigned<D>(a));
    }

private:
    template <class A>
    const vector_view& assign(const A& a) const {
        static_assert(!std::is_const_v<T>, "elements of an expression can only be read");
        const detail::on_queues scope(queues_);
        balm::expr<D> value = detail::assigned<D>(a);
        balm::view<T> target = of_;
        detail::extents_met met;
        met.look(value);
        met.look(balm::expr<D>(target));
        if (met.differ()) {  // reshape() and not an assignment of it, which would assign elements
            detail::flatten(value);
            target.reshape(balm::shape(target.size())) = std::move(value);
        } else {
            target = std::move(value);
        }
        return *this;
    }

    balm::view<T> of_;
    detail::queue_list queues_;
};

}  // namespace vex
