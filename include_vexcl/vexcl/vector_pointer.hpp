#pragma once
// Pointers to elements of vectors, for expressions and as arguments of functions.

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <balm/kernel.hpp>
#include <balm/tie.hpp>
#include <balm/vector.hpp>

#include "vexcl/detail/element_view.hpp"
#include "vexcl/vector.hpp"

namespace vex {

template <class D>
class pointed_view;

/// A pointer into the memory of a vector: to its first element, or to the element whose index an expression
/// of integers computes.
template <class D>
class pointer {
public:
    pointer(balm::vector<D> memory, detail::queue_list queues, bool is_constant = false)
        : memory_(std::move(memory)), queues_(std::move(queues)), is_constant_(is_constant) {}
    pointer(balm::vector<D> memory, detail::queue_list queues, balm::expr<std::int64_t> index)
        : memory_(std::move(memory)), queues_(std::move(queues)), index_(std::move(index)) {}

    template <detail::operand I>
    const pointer operator+(const I& i) const {
        return moved(detail::assigned<std::int64_t>(i));
    }
    template <detail::operand I>
    const pointer operator-(const I& i) const {
        return moved(-detail::assigned<std::int64_t>(i));
    }
    /// The element, to read and to assign.
    const pointed_view<D> operator*() const { return pointed_view<D>(*this); }
    template <detail::operand I>
    const pointed_view<D> operator[](const I& i) const {
        return *(*this + i);
    }

    const balm::vector<D>& memory() const { return memory_; }
    /// The memory, as the argument of a function's pointer parameter. Throws std::runtime_error for a pointer
    /// with an offset.
    balm::vector<D> memory_for_function() const {
        precondition(
            !index_,
            "A pointer with an offset cannot be the argument of a function: pass raw_pointer(x), and the "
            "offset as a number");
        return memory_.share();
    }
    const detail::queue_list& queues() const { return queues_; }
    /// The index of the element, counted from the first element of the memory.
    balm::expr<std::int64_t> index() const {
        return index_ ? *index_ : balm::expr<std::int64_t>(balm::constant(std::int64_t{0}));
    }
    /// Whether it was made by constant_pointer().
    bool is_constant() const { return is_constant_; }

    pointer(const pointer& other)
        : memory_(shared(other.memory_)),
          queues_(other.queues_),
          index_(other.index_),
          is_constant_(other.is_constant_) {}
    pointer(pointer&&) noexcept = default;
    pointer& operator=(const pointer&) = delete;
    ~pointer() = default;

    /// The same memory; for a vector without elements, none: &x is also a pointer to x on the host.
    static balm::vector<D> shared(const balm::vector<D>& memory) {
        return memory.size() == 0 ? balm::vector<D>() : memory.share();
    }

private:
    const pointer moved(balm::expr<std::int64_t> by) const {
        return pointer(shared(memory_), queues_, index_ ? *index_ + std::move(by) : std::move(by));
    }

    balm::vector<D> memory_;
    detail::queue_list queues_;
    std::optional<balm::expr<std::int64_t>> index_;
    bool is_constant_ = false;
};

/// The elements that a pointer points to, to read and to assign; `&` returns the pointer.
///
///     vex::eval(atomic_add(&vex::permutation(bin)(counts), 1));
template <class D>
class pointed_view : public vector_view<D> {
public:
    explicit pointed_view(const pointer<D>& to)
        : vector_view<D>(to.memory().share()[to.index()], to.queues()), to_(to) {}
    pointed_view(const pointed_view&) = default;
    ~pointed_view() = default;

    using vector_view<D>::operator=;
    const pointed_view& operator=(const pointed_view& a) const {
        vector_view<D>::operator=(a);
        return *this;
    }
    pointer<D> operator&() const { return to_; }  // NOLINT(google-runtime-operator)

private:
    pointer<D> to_;
};

/// The result of &x: in expressions of its size, a pointer to the current element of x; on the host, a
/// pointer to x.
template <class T>
class address : public pointer<detail::balm_element<T>> {
public:
    explicit address(const vector<T>& of)
        : pointer<detail::balm_element<T>>(pointer<detail::balm_element<T>>::shared(of.balm_vector()),
                                           of.queues(), balm::element_index(0, of.size())),
          of_(std::addressof(of)) {}
    operator vector<T>*() const { return const_cast<vector<T>*>(of_); }  // NOLINT

private:
    const vector<T>* of_;
};
template <class T>
vex::address<T> vector<T>::operator&() const {  // NOLINT(google-runtime-operator)
    return vex::address<T>(*this);
}

/// A pointer to the first element of a vector on a single queue, for functions with pointer parameters.
/// Throws std::runtime_error for a vector on several queues.
///
///     VEX_FUNCTION(double, left, (const double*, x)(size_t, i), return i > 0 ? x[i - 1] : 0;);
///     y = left(vex::raw_pointer(x), vex::element_index());
template <class T>
const pointer<detail::balm_element<T>> raw_pointer(const vector<T>& x) {
    precondition(x.nparts() == 1, "raw_pointer requires a vector on a single queue");
    return {x.balm_vector().share(), x.queues()};
}

/// The same for functions that take vex::constant_ptr<T>.
template <class T>
const pointer<detail::balm_element<T>> constant_pointer(const vector<T>& x) {
    precondition(x.nparts() == 1, "constant_pointer requires a vector on a single queue");
    return {x.balm_vector().share(), x.queues(), true};
}

// ---- memory selected by a condition ----

/// *if_else(c, &x, &y): the element of x where c is true, the element of y elsewhere, to read and to assign.
template <class D>
class chosen_view : public expression_base {
public:
    typedef detail::host_element<D> value_type;
    chosen_view(balm::expr<bool> condition, vector_view<D> if_true, vector_view<D> if_false)
        : condition_(std::move(condition)), if_true_(std::move(if_true)), if_false_(std::move(if_false)) {}
    chosen_view(const chosen_view&) = default;
    ~chosen_view() = default;

    VEX_ASSIGNED_BY_MEMBER(chosen_view)

    balm::expr<D> balm_expr() const {
        return balm::select(condition_, if_true_.balm_expr(), if_false_.balm_expr());
    }
    const detail::queue_list& queues() const { return if_true_.queues(); }
    auto balm_targets() const { return std::tuple_cat(if_true_.balm_targets(), if_false_.balm_targets()); }
    template <detail::operand A>
    auto balm_values(const A& a) const {
        const balm::expr<D> value = detail::assigned<D>(a);
        return std::tuple(balm::select(condition_, value, if_true_.balm_expr()),
                          balm::select(condition_, if_false_.balm_expr(), value));
    }

private:
    template <class A>
    const chosen_view& assign(const A& a) const {
        const detail::on_queues scope(queues());
        auto targets = balm_targets();
        std::apply([&](auto&... each) { balm::tie(each...) = balm_values(a); }, targets);
        return *this;
    }

    balm::expr<bool> condition_;
    vector_view<D> if_true_, if_false_;
};
/// The result of if_else of two pointers.
template <class D>
class chosen_pointer {
public:
    chosen_pointer(balm::expr<bool> condition, pointer<D> if_true, pointer<D> if_false)
        : condition_(std::move(condition)), if_true_(std::move(if_true)), if_false_(std::move(if_false)) {}
    const chosen_view<D> operator*() const { return {condition_, *if_true_, *if_false_}; }

private:
    balm::expr<bool> condition_;
    pointer<D> if_true_, if_false_;
};
namespace detail {
template <class D>
pointer<D> as_pointer(const pointer<D>& p) {
    return p;
}
template <class P>
concept pointer_operand = requires(const P& p) {
    as_pointer(p);
};
}  // namespace detail
/// For each element, the pointer that the condition selects.
///
///     *vex::if_else(x < 0.5, &y, &z) = 42;
template <detail::vexpr C, detail::pointer_operand P, detail::pointer_operand Q>
decltype(auto) if_else(const C& condition, const P& if_true, const Q& if_false) {
    return chosen_pointer(detail::assigned<bool>(condition), detail::as_pointer(if_true),
                          detail::as_pointer(if_false));
}

// ---- atomic operations on the elements that pointers point to; the result is the previous value ----

#define VEX_ATOMIC(name, operation)                                                                         \
    template <class P, detail::operand A>                                                                   \
    requires detail::pointer_operand<P>                                                                     \
    decltype(auto) name(const P& p, const A& a) {                                                           \
        return detail::atomically(                                                                          \
            detail::as_pointer(p), a,                                                                       \
            [](auto memory, auto i, auto value) { return balm::dsl::operation(memory[i], value); }, #name); \
    }
namespace detail {
template <class D, operand A, class F>
auto atomically(const pointer<D>& p, const A& a, F operation, const char* name) {
    static const auto function =
        balm::function(name, [operation](balm::dsl::InOut<D> memory, balm::dsl::Long i,
                                         balm::dsl::Var<D> value) { return operation(memory, i, value); });
    balm::expr<std::int64_t> at = p.index();
    balm::expr<D> value = assigned<D>(a);
    match(at, value);
    return wrap(balm::call_function(function, p.memory().share(), std::move(at), std::move(value)),
                p.queues());
}
template <class D, operand E, operand A>
auto atomically_if_equal(const pointer<D>& p, const E& expected, const A& a) {
    static const auto function = balm::function(
        "atomic_cmpxchg",
        [](balm::dsl::InOut<D> memory, balm::dsl::Long i, balm::dsl::Var<D> seen, balm::dsl::Var<D> value) {
            return balm::dsl::atomic_compare_exchange(memory[i], seen, value);
        });
    return wrap(
        balm::call_function(function, p.memory().share(), p.index(), assigned<D>(expected), assigned<D>(a)),
        p.queues());
}
}  // namespace detail
/// OpenCL's atomic functions. Use vex::eval if the result is not needed.
///
///     vex::eval(atomic_add(vex::raw_pointer(bins) + bin, 1));
VEX_ATOMIC(atomic_add, atomic_add)
VEX_ATOMIC(atomic_sub, atomic_sub)
VEX_ATOMIC(atomic_xchg, atomic_exchange)
VEX_ATOMIC(atomic_min, atomic_min)
VEX_ATOMIC(atomic_max, atomic_max)
VEX_ATOMIC(atomic_and, atomic_and)
VEX_ATOMIC(atomic_or, atomic_or)
VEX_ATOMIC(atomic_xor, atomic_xor)
#undef VEX_ATOMIC
/// Stores `value` if the element equals `expected`.
template <class P, detail::operand E, detail::operand A>
requires detail::pointer_operand<P>
decltype(auto) atomic_cmpxchg(const P& p, const E& expected, const A& value) {
    return detail::atomically_if_equal(detail::as_pointer(p), expected, value);
}
template <detail::pointer_operand P>
decltype(auto) atomic_inc(const P& p) {
    return atomic_add(p, 1);
}
template <detail::pointer_operand P>
decltype(auto) atomic_dec(const P& p) {
    return atomic_sub(p, 1);
}

// ---- functions with a second result, which is stored in the elements that a pointer points to ----

namespace detail {

/// The floating-point type in which a function of an operand computes: double for integers.
template <operand A>
using floating_of = std::conditional_t<std::is_integral_v<element_of<A>>, double, element_of<A>>;

template <class D, class F, operand A, operand... More>
auto store_second(const char* name, F both, const pointer<D>& p, const A& a, const More&... more) {
    using T = floating_of<A>;
    static const auto function =
        balm::function(name, [both](balm::dsl::InOut<D> memory, balm::dsl::Long i, balm::dsl::Var<T> x,
                                    std::conditional_t<true, balm::dsl::Var<T>, More>... rest) {
            const auto [result, second] = both(x, rest...);
            memory[i] = balm::dsl::cast<D>(second);
            return result;
        });
    return [&](auto at, auto... x) {
        match(at, x...);
        return wrap(balm::call_function(function, p.memory().share(), std::move(at), std::move(x)...),
                    queues_of(p));
    }(p.index(), assigned<T>(a), assigned<T>(more)...);
}

}  // namespace detail

/// OpenCL's functions that store a second result through a pointer: the floor (fract), the exponent (frexp),
/// the sign of the gamma function (lgamma_r), the whole part (modf), the cosine (sincos), the low bits of the
/// quotient (remquo).
///
///     vex::vector<double> x(ctx, n), sine(ctx, n), cosine(ctx, n);
///     sine = vex::sincos(x, &cosine);
#define VEX_SECOND_RESULT(name, both)                                                           \
    template <detail::vexpr A, detail::pointer_operand P>                                       \
    decltype(auto) name(const A& a, const P& p) {                                               \
        return detail::store_second(                                                            \
            #name, [](const auto& x) { return balm::dsl::both(x); }, detail::as_pointer(p), a); \
    }
VEX_SECOND_RESULT(fract, fract_floor)
VEX_SECOND_RESULT(frexp, frexp)
VEX_SECOND_RESULT(lgamma_r, lgamma_r)
VEX_SECOND_RESULT(modf, modf)
VEX_SECOND_RESULT(sincos, sincos)
#undef VEX_SECOND_RESULT
template <class A, class B, detail::pointer_operand P>
requires detail::operands<A, B>
decltype(auto) remquo(const A& a, const B& b, const P& p) {
    return detail::store_second(
        "remquo", [](const auto& x, const auto& y) { return balm::dsl::remquo(x, y); }, detail::as_pointer(p),
        a, b);
}

}  // namespace vex
