#pragma once
// From a lambda to a function of the IR: the lambda's signature says the parameters, and the lambda, called
// once with device values, records the body. Serves kernels and device functions, which differ in what may
// be done with the trace.

#include <concepts>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/kernel/parameter.hpp"
#include "balm/trace.hpp"

namespace balm::detail {

/// The parameters of a lambda, without a leading Grid.
template <class R, class... P>
struct signature {
    using result = R;
};
template <class F>
struct signature_of_member;
template <class C, class R, class... P>
struct signature_of_member<R (C::*)(P...) const> {
    using type = signature<R, P...>;
};
template <class C, class R, class... P>
struct signature_of_member<R (C::*)(P...)> {
    using type = signature<R, P...>;
};
template <class F>
struct signature_of {
    using type = typename signature_of_member<decltype(&F::operator())>::type;
};
template <class R, class... P>
struct signature_of<R(P...)> {
    using type = signature<R, P...>;
};
template <class R, class... P>
struct signature_of<R (*)(P...)> {
    using type = signature<R, P...>;
};

template <class F>
concept traceable = requires {
    &F::operator();
}
&&!std::is_function_v<F>;
template <class F>
concept generic_lambda = std::is_class_v<F> && !traceable<F>;

/// Types of the host, which are no parameters of a kernel.
template <class P>
inline constexpr bool is_host_parameter =
    std::is_arithmetic_v<P> || std::is_enum_v<P> || std::is_pointer_v<P> || std::is_reference_v<P>;
template <class S>
inline constexpr bool has_host_parameter = false;
template <class R, class... P>
inline constexpr bool has_host_parameter<signature<R, P...>> = (is_host_parameter<P> || ...);
template <class F>
concept takes_host_values = traceable<F> && has_host_parameter<typename signature_of<F>::type>;
template <class F>
concept gives_host_value = traceable<F> && !has_host_parameter<typename signature_of<F>::type> &&
                           is_host_parameter<typename signature_of<F>::type::result>;

/// Runs the lambda with its parameters declared in the trace.
template <class F, class R, class... P>
std::shared_ptr<const ir::function> record(std::string_view words, int dimensions, F& f, signature<R, P...>,
                                           trace::location where) {
    trace::recording recording(words, dimensions, where);
    // An array's braces declare the parameters in order, which a call's arguments would not.
    const trace::node nodes[] = {recording.parameter(parameter<P>::element(), parameter<P>::use)...,
                                 trace::node{}};
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        if constexpr (std::is_void_v<R>) {
            f(P(nodes[K])...);
            return recording.finish(nullptr);
        } else {
            const R result = f(P(nodes[K])...);
            const trace::node value = dsl::detail::result_node(result);
            return recording.finish(&value);
        }
    }
    (std::index_sequence_for<P...>{});
}
template <class F, class R, int N, class... P>
std::shared_ptr<const ir::function> record(std::string_view words, int dimensions, F& f,
                                           signature<R, dsl::Grid<N>, P...>, trace::location where) {
    auto without_grid = [&f](P... rest) { return f(dsl::Grid<N>{}, std::move(rest)...); };
    return record(words, dimensions, without_grid, signature<R, P...>{}, where);
}

/// A finished trace, or the fault that it ended with: one defined before main could be caught by nobody, so
/// it is kept for the first use.
class traced {
public:
    template <class F, class S>
    traced(std::string_view words, int dimensions, F& f, S s, trace::location where) {
        try {
            function_ = record(words, dimensions, f, s, where);
        } catch (...) {
            if (trace::main_has_begun()) throw;
            fault_ = std::current_exception();
        }
    }
    /// The same of a function that is made in another way than by tracing.
    template <class Make>
    requires std::same_as<std::invoke_result_t<Make&>, std::shared_ptr<const ir::function>>
    explicit traced(Make&& make) {
        try {
            function_ = make();
        } catch (...) {
            if (trace::main_has_begun()) throw;
            fault_ = std::current_exception();
        }
    }
    const std::shared_ptr<const ir::function>& get() const {
        if (fault_) std::rethrow_exception(fault_);
        return function_;
    }

private:
    std::shared_ptr<const ir::function> function_;
    std::exception_ptr fault_;
};

}  // namespace balm::detail
