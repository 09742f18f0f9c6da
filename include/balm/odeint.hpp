#pragma once
// Boost.odeint on Balm's vectors. Include it together with the steppers: no other header of Balm includes it,
// and the library does not depend on Boost.

#include <algorithm>
#include <array>
#include <boost/numeric/odeint/algebra/algebra_dispatcher.hpp>
#include <boost/numeric/odeint/algebra/operations_dispatcher.hpp>
#include <boost/numeric/odeint/algebra/vector_space_algebra.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/detail/pid_step_adjuster.hpp>
#include <boost/numeric/odeint/util/copy.hpp>
#include <boost/numeric/odeint/util/is_resizeable.hpp>
#include <boost/numeric/odeint/util/resize.hpp>
#include <boost/numeric/odeint/util/same_size.hpp>
#include <boost/type_traits/integral_constant.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/multivector.hpp"
#include "balm/reduce.hpp"
#include "balm/tie.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace detail {

/// The number of vectors in a state; 0 for any other type.
template <class S>
inline constexpr std::size_t vectors_of_state = 0;
template <class T>
inline constexpr std::size_t vectors_of_state<vector<T>> = 1;
template <class T, std::size_t N>
inline constexpr std::size_t vectors_of_state<multivector<T, N>> = N;
template <class T, std::size_t N>
inline constexpr std::size_t vectors_of_state<std::array<vector<T>, N>> = N;
template <class... T>
inline constexpr std::size_t vectors_of_state<std::tuple<vector<T>...>> = sizeof...(T);

/// The K-th vector of a state.
template <std::size_t K, class S>
auto& vector_of_state(S& state) {
    if constexpr (is_vector<std::remove_const_t<S>>)
        return state;
    else if constexpr (components_of<std::remove_const_t<S>> > 0)
        return state(K);
    else
        return std::get<K>(state);
}

/// The numbers that an element consists of: the parts of a complex number, the lanes of a short vector.
template <class E>
struct numbers_of {
    using type = E;
};
template <class E>
requires(is_complex_value<E> || vector_type<E>) struct numbers_of<E> {
    using type = typename E::value_type;
};
template <class V>
using number_of = typename numbers_of<element_of<V>>::type;
template <class V>
inline constexpr bool is_of_floats = std::floating_point<number_of<V>> || std::same_as<number_of<V>, half>;

template <class S>
constexpr bool has_floats() {
    return []<std::size_t... K>(std::index_sequence<K...>) {
        return (is_of_floats<std::remove_cvref_t<decltype(vector_of_state<K>(std::declval<S&>()))>> && ...);
    }
    (std::make_index_sequence<vectors_of_state<S>>());
}

}  // namespace detail

/// A state of the steppers of Boost.odeint: a balm::vector<T>, or several as a balm::multivector<T, N>, an
/// std::array<balm::vector<T>, N> or an std::tuple<balm::vector<T>...>, whose vectors have the same number of
/// elements on the same devices. T is float, double, half, complex, or a short vector of these.
template <class S>
concept odeint_state = (detail::vectors_of_state<S> > 0);

namespace detail {

/// Calls `f` with the indices of the vectors as integral constants.
template <class S, class F>
decltype(auto) with_vectors_of(F&& f) {
    return [&]<std::size_t... K>(std::index_sequence<K...>)->decltype(auto) {
        return f(std::integral_constant<std::size_t, K>()...);
    }
    (std::make_index_sequence<vectors_of_state<S>>());
}

template <class... S>
bool are_empty(const S&... states) {
    return (vector_of_state<0>(states).empty() && ...);
}

/// Whether both have the same number of elements on the same devices, or both have no device.
template <class T, class U>
bool are_alike(const vector<T>& a, const vector<U>& b) {
    if (!a.state() || !b.state()) return !a.state() && !b.state();
    return a.size() == b.size() && a.context() == b.context();
}

/// A vector of zeros like the other: multistep methods of odeint read states that they have not set.
template <class T>
vector<T> vector_like(const vector<T>& other) {
    if (!other.state()) return {};
    vector<T> made = make_like(other);
    made = T{};
    return made;
}

/// Assigns `value(k)` to the k-th vector, for every k in one kernel.
template <class S, class F>
void assign_state(S& to, const F& value) {
    with_vectors_of<S>([&](auto... k) {
        if constexpr (sizeof...(k) == 1)
            vector_of_state<0>(to) = value(k...);
        else
            balm::tie(vector_of_state<k>(to)...) = std::tuple(value(k)...);
    });
}

/// The sum of factors times vectors. A vector whose factor is 0 is not read: half the entries of a Butcher
/// tableau are zeros.
template <class Factor, class First, class... Rest>
expr<element_of<First>> weighted_sum(const Factor* factors, const First& first, const Rest&... rest) {
    static_assert((std::same_as<element_of<First>, element_of<Rest>> && ...),
                  "Balm: the states and derivatives of a stepper must have the same element type");
    std::optional<expr<element_of<First>>> sum;
    const auto add = [&](Factor factor, const auto& x) {
        if (factor == Factor(0)) return;
        auto term = static_cast<number_of<First>>(factor) * x;
        if (sum)
            sum.emplace(*std::move(sum) + std::move(term));
        else
            sum.emplace(std::move(term));
    };
    add(*factors, first);
    (add(*++factors, rest), ...);
    return sum ? *std::move(sum) : number_of<First>(0) * first;
}

/// The maximum of expressions, element by element.
template <class A>
A larger_of(A&& a) {
    return static_cast<A&&>(a);
}
template <class A, class... Rest>
auto larger_of(A&& a, Rest&&... rest) {
    return max(static_cast<A&&>(a), larger_of(static_cast<Rest&&>(rest)...));
}

/// The magnitude of each element, for norms: the absolute value; for short vectors that of the largest lane.
template <class A>
auto magnitude(A&& a) {
    using element = element_of<A>;
    if constexpr (vector_type<element>) {
        return [&]<int... K>(std::integer_sequence<int, K...>) { return larger_of(abs(lane<K>(a))...); }
        (std::make_integer_sequence<int, lanes_of<element>>());
    } else {
        return abs(static_cast<A&&>(a));
    }
}

/// The largest magnitude of `value(k)` over elements and vectors, by one reduction; 0 for no elements. NaNs
/// are ignored, as in the algebras of Boost.odeint.
template <class S, class F>
auto largest_in_state(const S& state, const F& value) {
    return with_vectors_of<S>([&](auto... k) {
        using number = element_of<decltype(larger_of(magnitude(value(k))...))>;
        if (are_empty(state)) return number(0);
        return std::fmax(number(0), balm::max(larger_of(magnitude(value(k))...)));
    });
}

template <class S>
struct vectors_themselves {
    const S& state;
    template <std::size_t K>
    auto& operator()(std::integral_constant<std::size_t, K>) const {
        return vector_of_state<K>(state);
    }
};

/// The error of a step relative to the tolerance.
template <class Factor, class E, class X, class D>
auto relative_error(const std::array<Factor, 4>& tolerance, const E& error, const X& x, const D& dxdt) {
    using number = number_of<E>;
    const auto [eps_abs, eps_rel, a_x, a_dxdt] = tolerance;
    return abs(error) / (static_cast<number>(eps_abs) +
                         static_cast<number>(eps_rel) *
                             (static_cast<number>(a_x) * abs(x) + static_cast<number>(a_dxdt) * abs(dxdt)));
}

/// a * x^power; for the power 0, x is not read.
template <class E, class X, class N>
expr<E> times_power(expr<E>&& a, const X& x, N power) {
    if (power > 0) return std::move(a) * pow(x, power);
    if (power < 0) return std::move(a) / pow(x, -power);
    return std::move(a);
}

/// to = a1 x1 + … + aN xN, in one kernel.
template <std::size_t N, class Factor>
class scaled_sum {
public:
    using result_type = void;

    template <class... A>
    requires(sizeof...(A) == N) scaled_sum(A... factors) : factors_{static_cast<Factor>(factors)...} {}

    template <odeint_state To, odeint_state... From>
    void operator()(To& to, const From&... from) const {
        static_assert(sizeof...(From) == N);
        if (are_empty(to, from...)) return;
        assign_state(to, [&](auto k) { return weighted_sum(factors_.data(), vector_of_state<k>(from)...); });
    }

private:
    std::array<Factor, N> factors_;
};

/// (a, b) = (a1 b + a2 c, a), in one kernel.
template <class Factor>
class scaled_sum_and_swap {
public:
    using result_type = void;

    scaled_sum_and_swap(Factor first, Factor second) : factors_{first, second} {}

    template <odeint_state A, odeint_state B, odeint_state C>
    void operator()(A& a, B& b, const C& c) const {
        if (are_empty(a, b, c)) return;
        with_vectors_of<A>([&](auto... k) {
            balm::tie(vector_of_state<k>(a)..., vector_of_state<k>(b)...) =
                std::tuple(weighted_sum(factors_.data(), vector_of_state<k>(b), vector_of_state<k>(c))...,
                           +vector_of_state<k>(a)...);
        });
    }

private:
    std::array<Factor, 2> factors_;
};

}  // namespace detail

/// The operations of Boost.odeint's steppers on states, in place of its `default_operations`: each operation
/// is one kernel over all vectors of the state, and reads no vector whose factor is 0. Steppers select it
/// automatically; it can also be named, together with the algebra
/// `boost::numeric::odeint::vector_space_algebra`.
///
///     using state = balm::multivector<double, 3>;
///     boost::numeric::odeint::runge_kutta4<state> stepper;
///     boost::numeric::odeint::integrate_const(stepper, system, x, 0.0, 10.0, 0.01);
struct odeint_operations {
#define BALM_SCALE_SUM(n)                             \
    template <class Factor = double, class... Others> \
    using scale_sum##n = detail::scaled_sum<n, std::common_type_t<Factor, Others...>>;
    BALM_SCALE_SUM(1)
    BALM_SCALE_SUM(2)
    BALM_SCALE_SUM(3)
    BALM_SCALE_SUM(4)
    BALM_SCALE_SUM(5)
    BALM_SCALE_SUM(6)
    BALM_SCALE_SUM(7)
    BALM_SCALE_SUM(8)
    BALM_SCALE_SUM(9)
    BALM_SCALE_SUM(10)
    BALM_SCALE_SUM(11)
    BALM_SCALE_SUM(12)
    BALM_SCALE_SUM(13)
    BALM_SCALE_SUM(14)
#undef BALM_SCALE_SUM
    template <class Factor = double, class Other = Factor>
    using scale_sum_swap2 = detail::scaled_sum_and_swap<std::common_type_t<Factor, Other>>;

    /// x = a x
    template <class Factor = double>
    struct scale {
        using result_type = void;
        explicit scale(Factor by) : by_(by) {}
        template <odeint_state S>
        void operator()(S& x) const {
            detail::scaled_sum<1, Factor>{by_}(x, x);
        }

    private:
        Factor by_;
    };

    /// error = |error| / (eps_abs + eps_rel (a_x |x| + a_dxdt |dxdt|))
    template <class Factor = double>
    struct rel_error {
        using result_type = void;
        rel_error(Factor eps_abs, Factor eps_rel, Factor a_x, Factor a_dxdt)
            : tolerance_{eps_abs, eps_rel, a_x, a_dxdt} {}
        template <odeint_state E, odeint_state X, odeint_state D>
        void operator()(E& error, const X& x, const D& dxdt) const {
            if (detail::are_empty(error, x, dxdt)) return;
            detail::assign_state(error, [&](auto k) {
                return detail::relative_error(tolerance_, detail::vector_of_state<k>(error),
                                              detail::vector_of_state<k>(x),
                                              detail::vector_of_state<k>(dxdt));
            });
        }

    private:
        std::array<Factor, 4> tolerance_;
    };
};

}  // namespace balm

namespace boost::numeric::odeint {

template <balm::odeint_state S>
struct algebra_dispatcher<S> {
    static_assert(balm::detail::has_floats<S>(),
                  "Balm: states of Boost.odeint must be vectors of float, double, half, complex numbers or "
                  "short vectors of these");
    using algebra_type = vector_space_algebra;
};
template <class T, std::size_t N>
struct algebra_dispatcher<std::array<balm::vector<T>, N>> : algebra_dispatcher<balm::vector<T>> {};

template <balm::odeint_state S>
struct operations_dispatcher<S> {
    using operations_type = balm::odeint_operations;
};

template <balm::odeint_state S>
struct is_resizeable<S> : boost::true_type {};

/// Makes a state of zeros like the other state.
template <balm::odeint_state To, balm::odeint_state From>
struct resize_impl<To, From> {
    static void resize(To& to, const From& from) {
        balm::detail::with_vectors_of<To>([&](auto... k) {
            ((balm::detail::vector_of_state<k>(to) =
                  balm::detail::vector_like(balm::detail::vector_of_state<k>(from))),
             ...);
        });
    }
};

template <balm::odeint_state A, balm::odeint_state B>
struct same_size_impl<A, B> {
    static bool same_size(const A& a, const B& b) {
        return balm::detail::with_vectors_of<A>([&](auto... k) {
            return (balm::detail::are_alike(balm::detail::vector_of_state<k>(a),
                                            balm::detail::vector_of_state<k>(b)) &&
                    ...);
        });
    }
};

template <balm::odeint_state From, balm::odeint_state To>
struct copy_impl<From, To> {
    static void copy(const From& from, To& to) {
        balm::detail::with_vectors_of<To>([&](auto... k) {
            ((balm::detail::vector_of_state<k>(to) = balm::detail::vector_of_state<k>(from)), ...);
        });
    }
};

template <balm::odeint_state S>
struct vector_space_norm_inf<S> {
    using result_type = decltype(balm::detail::largest_in_state(
        std::declval<const S&>(), std::declval<balm::detail::vectors_themselves<S>>()));
    result_type operator()(const S& x) const {
        return balm::detail::largest_in_state(x, balm::detail::vectors_themselves<S>{x});
    }
};

/// The largest error of a step relative to the tolerance, by one reduction, which does not change the errors.
template <class Value, class Algebra>
class default_error_checker<Value, Algebra, balm::odeint_operations> {
public:
    using value_type = Value;
    using algebra_type = Algebra;
    using operations_type = balm::odeint_operations;

    explicit default_error_checker(Value eps_abs = Value(1e-6), Value eps_rel = Value(1e-6),
                                   Value a_x = Value(1), Value a_dxdt = Value(1))
        : eps_abs_(eps_abs), eps_rel_(eps_rel), a_x_(a_x), a_dxdt_(a_dxdt) {}

    template <class State, class Deriv, class Err, class Time>
    value_type error(const State& x, const Deriv& dxdt, const Err& x_err, Time dt) const {
        using std::abs;
        const std::array<Value, 4> tolerance{eps_abs_, eps_rel_, a_x_, a_dxdt_ * abs(dt)};
        return balm::detail::largest_in_state(x_err, [&](auto k) {
            return balm::detail::relative_error(tolerance, balm::detail::vector_of_state<k>(x_err),
                                                balm::detail::vector_of_state<k>(x),
                                                balm::detail::vector_of_state<k>(dxdt));
        });
    }
    template <class State, class Deriv, class Err, class Time>
    value_type error(algebra_type&, const State& x, const Deriv& dxdt, const Err& x_err, Time dt) const {
        return error(x, dxdt, x_err, dt);
    }

private:
    Value eps_abs_, eps_rel_, a_x_, a_dxdt_;
};

namespace detail {

/// The length of the next step of a multistep method. A filter, whose coefficients Type selects, computes it
/// from the relative errors and the lengths of the last three steps. One kernel stores the errors, and one
/// reduction finds the largest filtered error.
///
/// Source: G. Söderlind, Digital filters in adaptive time-stepping, 2003.
template <class State, class Value, class Deriv, class Time, class Algebra, std::size_t Type>
struct pid_step_adjuster<State, Value, Deriv, Time, Algebra, balm::odeint_operations, Type> {
public:
    using state_type = State;
    using value_type = Value;
    using deriv_type = Deriv;
    using time_type = Time;
    using algebra_type = Algebra;
    using operations_type = balm::odeint_operations;

    /// A step is repeated if the factor for the next length is below this.
    static double threshold() { return 0.9; }

    pid_step_adjuster(double eps_abs = 1e-6, double eps_rel = 1e-6, time_type longest = time_type(1))
        : tolerance_{eps_abs, eps_rel, 1, 1}, longest_(longest) {}

    time_type adjust_stepsize(std::size_t steps, time_type dt, const state_type& error, const state_type& x,
                              const deriv_type& dxdt) {
        step& last = steps_[0];
        last.dt = dt;
        if (!odeint::same_size(last.error, error)) odeint::resize(last.error, error);
        store_relative(error, x, dxdt);
        const value_type allowed = 1 / largest_filtered(static_cast<double>(steps + 1));
        const value_type smooth = 1 + std::atan(allowed - 1);
        const value_type factor = smooth * dt >= longest_ ? static_cast<value_type>(longest_ / dt) : smooth;
        if (factor >= threshold()) {
            std::rotate(steps_.begin(), steps_.end() - 1, steps_.end());
            ++accepted_;
        } else {
            accepted_ = 0;
        }
        return dt * static_cast<time_type>(factor);
    }

private:
    struct step {
        state_type error;  ///< relative to the tolerance
        time_type dt{};
    };

    void store_relative(const state_type& error, const state_type& x, const deriv_type& dxdt) {
        using std::abs;
        if (balm::detail::are_empty(error, x, dxdt)) return;
        auto tolerance = tolerance_;
        tolerance[3] = static_cast<double>(abs(steps_[0].dt));
        balm::detail::assign_state(steps_[0].error, [&](auto k) {
            return balm::detail::relative_error(tolerance, balm::detail::vector_of_state<k>(error),
                                                balm::detail::vector_of_state<k>(x),
                                                balm::detail::vector_of_state<k>(dxdt));
        });
    }

    value_type largest_filtered(double order) const {
        using std::abs;
        std::array<double, 3> powers{0.7 / order, 0, 0};  // until there are three steps
        double by_lengths = 1;
        if (accepted_ >= 2) {
            for (std::size_t i = 0; i < 3; ++i) powers[i] = coefficients_[i] / order;
            for (std::size_t i = 0; i < 2; ++i)
                by_lengths *= std::pow(static_cast<double>(abs(steps_[i].dt / steps_[i + 1].dt)),
                                       coefficients_[3 + i] / order);
        }
        return balm::detail::largest_in_state(steps_[0].error, [&](auto k) {
            using number =
                balm::detail::number_of<decltype(balm::detail::vector_of_state<k>(steps_[0].error))>;
            const auto& vector_of = [&](std::size_t i) -> const auto& {
                return balm::detail::vector_of_state<k>(steps_[i].error);
            };
            balm::expr<balm::detail::element_of<decltype(vector_of(0))>> filtered =
                static_cast<number>(by_lengths) * pow(vector_of(0), static_cast<number>(powers[0]));
            if (accepted_ < 2) return filtered;
            return balm::detail::times_power(
                balm::detail::times_power(std::move(filtered), vector_of(1), static_cast<number>(powers[1])),
                vector_of(2), static_cast<number>(powers[2]));
        });
    }

    std::array<double, 4> tolerance_;
    time_type longest_;
    std::array<step, 3> steps_;  ///< the last step, and those before it
    std::size_t accepted_ = 0;
    pid_step_adjuster_coefficients<Type> coefficients_;
};

}  // namespace detail

}  // namespace boost::numeric::odeint
