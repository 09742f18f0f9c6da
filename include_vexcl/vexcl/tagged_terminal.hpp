#pragma once
// Tags, which mark operands that occur several times. Balm detects equal operands without tags.

#include <cstddef>
#include <memory>

#include "vexcl/detail/assignments.hpp"
#include "vexcl/operations.hpp"
#include "vexcl/vector.hpp"

namespace vex {

/// A tagged vector, to read and to assign.
template <class T>
class tagged_vector : public expression_base {
public:
    typedef T value_type;
    explicit tagged_vector(vector<T>& of) : of_(std::addressof(of)) {}
    tagged_vector(const tagged_vector&) = default;
    ~tagged_vector() = default;

    VEX_ASSIGNED_BY_MEMBER(tagged_vector)

    auto balm_expr() const { return of_->balm_expr(); }
    const detail::queue_list& queues() const { return of_->queues(); }
    auto balm_targets() const { return of_->balm_targets(); }
    template <detail::operand A>
    auto balm_values(const A& a) const {
        return of_->balm_values(a);
    }

private:
    template <class A>
    const tagged_vector& assign(const A& a) const {
        *of_ = detail::wrap(detail::assigned<detail::balm_element<T>>(a), detail::queues_of(a));
        return *this;
    }
    vector<T>* of_;
};

/// The operand itself: equal operands are one argument and one load, tagged or not.
///
///     auto X = vex::tag<1>(x);
///     X = X * X + 2;
template <std::size_t Tag, class T>
const tagged_vector<T> tag(vector<T>& x) {
    return tagged_vector<T>(x);
}
template <std::size_t Tag, detail::vexpr A>
decltype(auto) tag(const A& a) {
    return detail::wrap(detail::lower(a), detail::queues_of(a));
}
template <std::size_t Tag, class T>
const vector_view<T> tag(const vector_view<T>& view) {
    return view;
}
template <std::size_t Tag, detail::literal A>
A tag(const A& a) {
    return a;
}
template <std::size_t Tag, class D>
pointer<D> tag(const pointer<D>& p) {
    return p;
}
template <std::size_t Tag, detail::host_value A>
A tag(const A& a) {
    return a;
}

}  // namespace vex
