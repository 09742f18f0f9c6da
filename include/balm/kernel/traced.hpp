#pragma once
// From a lambda to an IR function: the signature of the lambda determines the parameters, and calling it once
// with device values records the body. Kernels and device functions share this; they differ in how the trace
// may be used.

#include <concepts>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/kernel/parameter.hpp"
#include "balm/shared_state.hpp"
#include "balm/trace.hpp"

namespace balm::detail {

/// The result of a function whose lambda returns R: for an element, `return x[i]`, its value.
template <class R>
struct returned {
    using type = R;
};
template <class T, trace::access Use, space Where>
struct returned<dsl::Element<T, Use, Where>> {
    using type = dsl::Var<dsl::detail::loaded_type<T>>;
};

/// The result and the parameters of a lambda; record() removes a leading Grid.
template <class R, class... P>
struct signature {
    using result = R;
};
template <class F>
struct signature_of_member;
template <class C, class R, class... P>
struct signature_of_member<R (C::*)(P...) const> {
    using type = signature<typename returned<R>::type, P...>;
};
template <class C, class R, class... P>
struct signature_of_member<R (C::*)(P...)> {
    using type = signature<typename returned<R>::type, P...>;
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

/// Host types, which cannot be parameters of a kernel.
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

/// Declares the parameters in a trace and runs the lambda on them.
template <class F, class R, class... P>
std::shared_ptr<const ir::function> record(std::string_view words, int dimensions, F& f, signature<R, P...>,
                                           trace::location where) {
    trace::recording recording(words, dimensions, where);
    // Braced initialisers are evaluated in order, function arguments are not: the braces order the
    // parameters.
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

/// A finished trace, or the exception that ended it. Nobody could catch an exception that is thrown before
/// main, so it is stored and thrown at the first use.
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
    /// The same for a function that `make` returns instead of a trace.
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
    shared_state<const ir::function> function_;
    std::exception_ptr fault_;
};

}  // namespace balm::detail
