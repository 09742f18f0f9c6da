#pragma once
// Stencils: weighted sums of neighbours, and functions of neighbours written in OpenCL C. Beyond the ends of
// a vector, its first and last elements are repeated.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <balm/stencil.hpp>

#include "vexcl/backend/program_header.hpp"
#include "vexcl/detail/multi_expression.hpp"
#include "vexcl/function.hpp"
#include "vexcl/vector.hpp"

namespace vex {

/// The weights of a convolution: element i of `x * s` is the sum of s[k] * x[i + k - center].
///
///     vex::stencil<double> average(ctx, {0.25, 0.5, 0.25}, 1);
///     y = x * average;
template <class T>
class stencil {
    using D = detail::balm_element<T>;

public:
    typedef T value_type;

    template <class It>
    stencil(const std::vector<command_queue>& queues, It begin, It end, unsigned center) : queues_(queues) {
        for (; begin != end; ++begin) reversed_.push_back(detail::to_balm(static_cast<T>(*begin)));
        precondition(center < reversed_.size(),
                     "vex::stencil: center must be less than the number of weights");
        std::reverse(reversed_.begin(), reversed_.end());
        how_.centre = reversed_.size() - 1 - center;
    }
    stencil(const std::vector<command_queue>& queues, const std::vector<T>& weights, unsigned center)
        : stencil(queues, weights.begin(), weights.end(), center) {}
    stencil(const std::vector<command_queue>& queues, std::initializer_list<T> weights, unsigned center)
        : stencil(queues, weights.begin(), weights.end(), center) {}

    /// The same as `x * s` and `s * x`.
    template <detail::vexpr X>
    decltype(auto) convolve(const X& x) const {
        auto e = detail::placed(detail::assigned<D>(x), detail::queues_in(x), queues_);
        detail::flatten(e);
        return detail::wrap(detail::converted<D>(balm::convolve(balm::border::clamp, e, reversed_, how_)),
                            detail::first_of(detail::queues_in(x), queues_));
    }
    /// y = beta * y + alpha * (x * s)
    void apply(const vector<T>& x, vector<T>& y, T alpha = 1, T beta = 0) const {
        if (beta == T())
            y = alpha * convolve(x);
        else
            y = beta * y + alpha * convolve(x);
    }
    template <detail::multi X>
    decltype(auto) convolve(const X& x) const {
        return detail::each_component([this](const auto& each) { return this->convolve(each); }, x);
    }

private:
    detail::queue_list queues_;
    std::vector<D> reversed_;  ///< the weights, in the order of balm::convolve
    balm::convolution how_;
};

template <class X, class T>
requires(detail::vexpr<X> || detail::multi<X>) decltype(auto) operator*(const X& x, const stencil<T>& s) {
    return s.convolve(x);
}
template <class T, class X>
requires(detail::vexpr<X> || detail::multi<X>) decltype(auto) operator*(const stencil<T>& s, const X& x) {
    return s.convolve(x);
}

/// A function of an element and its neighbours. Impl has `static std::string body()`, OpenCL C in which X[k]
/// is the element at offset k, for -Center <= k < Width - Center; see VEX_STENCIL_OPERATOR.
template <class T, unsigned Width, unsigned Center, class Impl>
class StencilOperator {
    using D = detail::balm_element<T>;
    static_assert(Center < Width, "vex::StencilOperator: Center must be less than Width");

public:
    typedef T value_type;

    explicit StencilOperator(const std::vector<command_queue>& queues) : queues_(queues) {}

    template <detail::vexpr X>
    decltype(auto) operator()(const X& x) const {
        auto e = detail::placed(detail::assigned<D>(x), detail::queues_in(x), queues_);
        detail::flatten(e);
        return detail::wrap(computed(e, std::make_index_sequence<Width>()),
                            detail::first_of(detail::queues_in(x), queues_));
    }
    template <detail::multi X>
    decltype(auto) operator()(const X& x) const {
        return detail::each_component([this](const auto& each) { return (*this)(each); }, x);
    }

private:
    template <std::size_t>
    using element = T;

    template <std::size_t... K>
    static auto computed(const balm::expr<D>& e, std::index_sequence<K...>) {
        const auto f = of_window<element<K>...>::balm_function();
        return balm::expr<D>(balm::stencil(
            balm::border::clamp,
            [&](const auto& u) {
                return balm::call_function(f, u(static_cast<int>(K) - static_cast<int>(Center))...);
            },
            e));
    }
    /// The body as a function of the window's elements.
    template <class... Element>
    struct of_window : UserFunction<of_window<Element...>, T(Element...)> {
        static std::string name() { return "stencil_operator"; }
        static std::string body() {
            std::string text = type_name<T>() + " window[] = {prm1";
            for (unsigned k = 2; k <= Width; ++k) text += ", prm" + std::to_string(k);
            return text + "}; const " + type_name<T>() + " *X = window + " + std::to_string(Center) + "; " +
                   Impl::body();
        }
    };

    detail::queue_list queues_;
};

}  // namespace vex

/// Defines the type of a stencil operator.
#define VEX_STENCIL_OPERATOR_TYPE(name, type, width, center, body_text)  \
    struct name : vex::StencilOperator<type, width, center, name> {      \
        explicit name(const std::vector<vex::command_queue>& queues)     \
            : vex::StencilOperator<type, width, center, name>(queues) {} \
        static std::string body() { return body_text; }                  \
    }
/// Defines a stencil operator from the element type, the width of the window, the index of the element itself
/// in the window, and a body in OpenCL C.
///
///     VEX_STENCIL_OPERATOR(bend, double, 3, 1, "return X[1] - 2 * X[0] + X[-1];", ctx);
///     y = bend(x);
#define VEX_STENCIL_OPERATOR(name, type, width, center, body, queues) \
    VEX_STENCIL_OPERATOR_TYPE(stencil_operator_##name, type, width, center, body) const name(queues)
