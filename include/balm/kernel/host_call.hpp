#pragma once
// Results of device functions and operators on host values alone, such as `f(2.f) + 1`. Their types do not
// tell whether they are part of a kernel or of an array expression: while a kernel is traced such a result is
// a device value, otherwise the tape of an expression.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "balm/dsl/value.hpp"
#include "balm/kernel/parameter.hpp"
#include "balm/trace.hpp"

namespace balm {

namespace array {
struct tape;
}

namespace detail {

/// A host value that a call takes as it is: neither a device value nor memory.
template <class A>
concept host_value =
    scalar_type<A> || vector_type<A> || structure_type<A> || complex_type<A> || is_host_call<A>;

/// The result of functions and operators on host values alone, as an array expression.
class host_expression {
public:
    void push(trace::type, const bound_argument&);
    void push(scalar, std::uint64_t bits);
    void push(const host_expression&);
    void push_call(std::shared_ptr<const ir::function>, trace::type, std::size_t arity);
    void push_row(builtin, scalar, std::size_t arity);

    /// Throws usage_error if the value was recorded while a kernel was traced.
    const array::tape& list() const;

private:
    array::tape& own_list();

    std::shared_ptr<array::tape> list_;
};

/// The result of a call with host values alone. While a kernel is traced it is the value; in an array
/// expression it is computed for each element. The same holds for calls and operators on such results.
template <class R>
class host_call : public R {
public:
    explicit host_call(const trace::node& value) : R(value) {}
    explicit host_call(host_expression e) : R(trace::node{}), expression_(std::move(e)) {}
    using R::operator=;

    const host_expression& expression() const { return expression_; }

private:
    host_expression expression_;
};

}  // namespace detail

template <class R>
inline constexpr bool dsl::detail::is_var<detail::host_call<R>> = true;

namespace detail {

/// Appends the argument of a call outside of kernels.
template <class P, class A>
void push_argument(host_expression& to, const A& a) {
    if constexpr (is_host_call<A>)
        to.push(a.expression());
    else
        to.push(parameter<P>::element(), parameter<P>::bind(a));
}
/// Appends the operand of a row of builtins.def outside of kernels.
template <builtin B, scalar Strong, class A>
void push_operand(host_expression& to, const A& a) {
    if constexpr (is_host_call<A>) {
        to.push(a.expression());
    } else {
        constexpr scalar entering = dsl::detail::operand_scalar<B, A>(Strong);
        using T = typename host_type<entering>::type;
        if constexpr (!takes_bit_patterns(B)) dsl::detail::refuse_wrapping<T>(a);
        if (!dsl::detail::fits<T>(a))
            dsl::detail::constant_does_not_fit(entering, scalar_of<A>, static_cast<std::uint64_t>(a));
        to.push(entering, dsl::detail::bits_of(static_cast<T>(a)));
    }
}

template <builtin B, scalar Strong, scalar Result, class... A>
auto row_of_host_values(const A&... a) {
    using result = host_call<dsl::var_of<Result>>;
    if (trace::is_recording()) {
        const trace::node nodes[] = {dsl::detail::row_operand<B, Strong>(a)...};
        return result(trace::apply(B, nodes, sizeof...(A)));
    }
    host_expression made;
    (push_operand<B, Strong>(made, a), ...);
    made.push_row(B, Result, sizeof...(A));
    return result(std::move(made));
}

}  // namespace detail

}  // namespace balm
