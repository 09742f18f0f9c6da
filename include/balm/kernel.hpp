#pragma once
// Kernels in C++. A kernel is traced when it is defined: its lambda runs once with device values, which
// record the kernel; captured values are frozen. This header includes the kernel language and balm::function.
//
//     using namespace balm::dsl;
//     auto scale = balm::kernel<1>("scale(factor, in, out)", [](Float factor, In<float> in, Out<float> out) {
//         Index i = global_id(0);
//         out[i] = factor * in[i];
//     });
//     device.execute(scale(2.f, a, b), {n});

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/bound_kernel.hpp"
#include "balm/device_function.hpp"
#include "balm/dsl/array.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/image.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/parts.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/print.hpp"
#include "balm/dsl/sync.hpp"
#include "balm/dsl/value.hpp"
#include "balm/dsl/vector_memory.hpp"
#include "balm/dsl/views.hpp"
#include "balm/kernel/parameter.hpp"
#include "balm/kernel/traced.hpp"
#include "balm/trace.hpp"

namespace balm {

/// A kernel of N dimensions, made by `kernel<N>(…)`. Calling it with host arguments returns a bound kernel
/// for `device.execute`. Calling it inside a kernel of N dimensions, with that kernel's parameters and
/// values, runs it for the same work-item. A handle; safe to use from any thread.
template <int N, class... P>
class typed_kernel {
public:
    explicit typed_kernel(detail::traced trace) : trace_(std::move(trace)) {}

    /// A call inside a kernel: at least one argument is on the device. Throws trace_error if the calling
    /// kernel has another number of dimensions.
    template <class... A>
    requires((dsl::detail::on_device<A> || ...) && !(dsl::detail::not_a_number<A> || ...)) void operator()(
        A&&... arguments) const {
        static_assert(
            sizeof...(A) == sizeof...(P),
            "Balm: wrong number of arguments: the kernel takes one for each parameter of its lambda");
        const trace::node nodes[] = {detail::argument_node<P>(static_cast<A&&>(arguments))...};
        trace::call(trace_.get(), nodes, sizeof...(A), {});
    }
    template <class... A>
    requires(!(dsl::detail::on_device<A> || ...) && !(dsl::detail::not_a_number<A> || ...)) bound_kernel<N>
    operator()(const A&... arguments) const {
        static_assert(
            sizeof...(A) == sizeof...(P),
            "Balm: wrong number of arguments: the kernel takes one for each parameter of its lambda");
        bound_kernel<N> bound;
        bound.function = trace_.get();
        bound.arguments.reserve(sizeof...(P));
        (bound.arguments.push_back(detail::parameter<P>::bind(arguments)), ...);
        return bound;
    }

    template <class... A>
    requires(dsl::detail::not_a_number<A> || ...) BALM_REFUSED(BALM_NOT_A_NUMBER)
    bound_kernel<N> operator()(const A&... arguments) const;

    const std::shared_ptr<const ir::function>& function() const { return trace_.get(); }

private:
    detail::traced trace_;
};

/// Kernels cannot be printed.
template <int N, class... P>
BALM_REFUSED(BALM_KERNEL_PRINTED)
std::ostream& operator<<(std::ostream& to, const typed_kernel<N, P...>& k);

namespace detail {

template <int N, class R, class... P>
typed_kernel<N, P...> kernel_type(signature<R, P...>);
template <int N, class R, int M, class... P>
typed_kernel<N, P...> kernel_type(signature<R, dsl::Grid<M>, P...>);
/// The number of dimensions of a leading Grid parameter; 0 if there is none.
template <class S>
inline constexpr int grid_dimensions = 0;
template <class R, int M, class... P>
inline constexpr int grid_dimensions<signature<R, dsl::Grid<M>, P...>> = M;
template <int N, class S>
using kernel_type_of = decltype(kernel_type<N>(S{}));

/// The kernel of a lambda with signature S.
template <int N, class S, class F>
kernel_type_of<N, S> traced_kernel(std::string_view words, F& f, trace::location where) {
    static_assert(N >= 1 && N <= 3, "Balm: a kernel has 1, 2 or 3 dimensions");
    static_assert(std::is_void_v<typename S::result>,
                  "Balm: a kernel must return void; write to an Out parameter");
    static_assert(grid_dimensions<S> == 0 || grid_dimensions<S> == N,
                  "Balm: the Grid parameter and the kernel have different numbers of dimensions");
    return kernel_type_of<N, S>(traced(words, N, f, S{}, where));
}

}  // namespace detail

/// Defines a kernel of N dimensions from a lambda on device types. `words` is its name, a C identifier,
/// optionally followed by parameter names for the printed source in parentheses: "scale(factor, in, out)".
/// BALM_NAMED(scale, lambda) takes these from the lambda. Throws trace_error for an error in the kernel.
template <int N, detail::traceable F>
auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
            std::uint32_t line = __builtin_LINE()) {
    return detail::traced_kernel<N, typename detail::signature_of<F>::type>(words, f, {file, line});
}

template <int N, detail::generic_lambda F>
BALM_REFUSED(
    "Balm: the parameters of a kernel need types: [](In<float> a, Out<float> b, Int n); for a generic "
    "lambda, give the signature: kernel<1, void(In<float>, Out<float>)>(name, lambda)")
F kernel(std::string_view words, F f);
template <int N, detail::takes_host_values F>
BALM_REFUSED(BALM_HOST_PARAMETER)
F kernel(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class F>
BALM_REFUSED("Balm: a kernel needs the number of dimensions of its grid: balm::kernel<1>(\"name\", lambda)")
F kernel(std::string_view words, F f);
template <int N, class F>
requires std::is_function_v<F> BALM_REFUSED(
    "Balm: a kernel is traced from a lambda: balm::kernel<1>(\"name\", [](In<float> a, Out<float> b) {…})")
int kernel(std::string_view words, F& f);
template <int N, class F>
requires std::is_class_v<F> BALM_REFUSED("Balm: a kernel needs a name: balm::kernel<1>(\"name\", lambda)")
F kernel(F f);

/// The same for a generic lambda, with an explicit signature:
/// `kernel<1, void(In<float>, Out<float>)>("copy", [](auto in, auto out) {…})`.
template <int N, class Signature, class F>
requires std::is_function_v<Signature>
auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
            std::uint32_t line = __builtin_LINE()) {
    return detail::traced_kernel<N, typename detail::signature_of<Signature>::type>(words, f, {file, line});
}

}  // namespace balm
