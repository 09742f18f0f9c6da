#pragma once
// Device functions: C++ lambdas that kernels call, and that array expressions call for each element (see
// balm/function_calls.hpp). Each is traced when it is defined, and printed as a function of its own.
//
//     auto square = balm::function("square(x)", [](Double x) { return x * x; });

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/kernel/host_call.hpp"
#include "balm/kernel/parameter.hpp"
#include "balm/kernel/parameter_names.hpp"
#include "balm/kernel/traced.hpp"
#include "balm/shared_state.hpp"
#include "balm/trace.hpp"

namespace balm {

namespace detail {

[[noreturn]] void undefined_function();
/// Refuses a call outside of kernels.
[[noreturn]] void called_outside_of_kernels(const ir::function&);

}  // namespace detail

/// A device function, the result of `function(…)`. A call inside a kernel is recorded; array expressions
/// accept calls, too.
template <class R, class... P>
class device_function {
public:
    /// Undefined: calling it is an error. Assign the result of `function(…)` to it.
    device_function() = default;
    explicit device_function(detail::traced trace)
        : trace_(std::make_shared<detail::traced>(std::move(trace))) {}

    template <class... A>
    requires(sizeof...(A) == sizeof...(P)) auto operator()(A&&... arguments) const {
        return call_function(*this, static_cast<A&&>(arguments)...);
    }
    template <class... A>
    requires(sizeof...(A) != sizeof...(P)) BALM_REFUSED(
        "Balm: wrong number of arguments: the function takes one for each parameter of its lambda")
    R operator()(A&&... arguments) const;

    const std::shared_ptr<const ir::function>& function() const {
        if (!trace_) detail::undefined_function();
        return trace_->get();
    }

private:
    detail::shared_state<detail::traced> trace_;
};

/// Refused: functions cannot be printed.
template <class R, class... P>
BALM_REFUSED("Balm: a function cannot be printed; BALM_SHOW_KERNELS=1 prints each program as it is made")
std::ostream& operator<<(std::ostream& to, const device_function<R, P...>& f);

namespace dsl {

/// A call inside a kernel: at least one argument is on the device.
template <class R, class... P, class... A>
requires((detail::on_device<A> || ...) && !(balm::detail::host_value<std::remove_cvref_t<A>> && ...)) R
    call_function(const device_function<R, P...>& f, A&&... arguments) {
    const trace::node nodes[] = {balm::detail::argument_node<P>(static_cast<A&&>(arguments))...};
    const trace::node result = trace::call(f.function(), nodes, sizeof...(A), {});
    if constexpr (!std::is_void_v<R>) return R(result);
}

}  // namespace dsl

namespace detail {

/// Functions of numbers that return a number: array expressions accept their calls without device arguments.
template <class R, class... P>
inline constexpr bool gives_numbers = dsl::detail::is_var<R> && ((parameter<P>::use == trace::access::value &&
                                                                  !dsl::detail::is_pointer<P>)&&...);

}  // namespace detail

/// A call without device arguments. Inside a kernel it is a call like any other; in an array expression,
/// beside an array or assigned to one, it is computed for each element. Elsewhere it throws usage_error,
/// unless the function takes and returns numbers.
template <class R, class... P, class... A>
requires(detail::host_value<A>&&...) auto call_function(const device_function<R, P...>& f, const A&... a) {
    const auto record = [&] {
        const trace::node nodes[] = {detail::argument_node<P>(a)..., trace::node{}};
        return trace::call(f.function(), nodes, sizeof...(A), {});
    };
    if constexpr (detail::gives_numbers<R, P...>) {
        using result = detail::host_call<R>;
        if (trace::is_recording()) return result(record());
        detail::host_expression made;
        (detail::push_argument<P>(made, a), ...);
        made.push_call(f.function(), detail::type_of_element<typename R::value_type>(), sizeof...(A));
        return result(std::move(made));
    } else {
        if (!trace::is_recording()) detail::called_outside_of_kernels(*f.function());
        if constexpr (std::is_void_v<R>)
            record();
        else
            return R(record());
    }
}

namespace detail {

template <class R, class... P>
device_function<R, P...> function_type(signature<R, P...>);
template <class S>
using function_type_of = decltype(function_type(S{}));

}  // namespace detail

/// Defines a device function from a lambda on device types; it is printed as a function of its own.
///
///     auto square = balm::function("square(x)", [](Double x) { return x * x; });
template <detail::traceable F>
auto function(std::string_view words, F f, const char* file = __builtin_FILE(),
              std::uint32_t line = __builtin_LINE()) {
    using S = typename detail::signature_of<F>::type;
    return detail::function_type_of<S>(detail::traced(words, 0, f, S{}, {file, line}));
}
template <detail::generic_lambda F>
BALM_REFUSED(
    "Balm: the parameters of a function need types: [](Float x, Int n); for a generic lambda, give the "
    "signature: function<Float(Float, Int)>(name, lambda)")
F function(std::string_view words, F f);
template <detail::takes_host_values F>
BALM_REFUSED(BALM_HOST_PARAMETER)
F function(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class F>
requires std::is_class_v<F> BALM_REFUSED("Balm: a function needs a name: balm::function(\"name\", lambda)")
F function(F f);
template <detail::gives_host_value F>
BALM_REFUSED("Balm: a function must return a device value: return Float(1.f), not 1.f")
F function(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class Signature, class F>
requires std::is_function_v<Signature>
auto function(std::string_view words, F f, const char* file = __builtin_FILE(),
              std::uint32_t line = __builtin_LINE()) {
    using S = typename detail::signature_of<Signature>::type;
    return detail::function_type_of<S>(detail::traced(words, 0, f, S{}, {file, line}));
}

}  // namespace balm
