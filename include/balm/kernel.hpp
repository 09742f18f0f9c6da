#pragma once
// Kernels and device functions in C++. A kernel is traced when it is defined: its lambda runs once with
// device values, and what they record is the kernel. Its captures are frozen then.
//
//     using namespace balm::dsl;
//     auto scale = balm::kernel<1>("scale(factor, in, out)", [](Float factor, In<float> in, Out<float> out) {
//         Index i = global_id(0);
//         out[i] = factor * in[i];
//     });
//     device.execute(scale(2.f, a, b), {n});

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/bound_kernel.hpp"
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
#include "balm/dsl/volatile.hpp"
#include "balm/sampler.hpp"
#include "balm/trace.hpp"

namespace balm {

namespace array {
struct tape;
}

/// Local memory for a kernel's `Local<T>` parameter: room for `count` elements in each work-group.
template <class T>
requires element_type<T> || complex_type<T>
struct local {
    explicit local(std::size_t element_count) : count(element_count) {}
    std::size_t count;
};
/// Local memory of so many bytes, as an argument of a text kernel without a signature, whose text says what
/// elements it has: `kernel(balm::local_bytes(1024), n)`.
struct local_bytes {
    explicit local_bytes(std::size_t byte_count) : count(byte_count) {}
    std::size_t count;
};

namespace detail {

template <class T>
inline constexpr bool is_grid = false;
template <int N>
inline constexpr bool is_grid<dsl::Grid<N>> = true;

/// Host memory objects say what they hold and how kernels may use it.
template <class A>
concept memory_argument = requires(const A& a) {
    typename A::value_type;
    a.storage();
    { A::kernels_may_read } -> std::convertible_to<bool>;
    { A::kernels_may_write } -> std::convertible_to<bool>;
};

template <class A>
bound_argument bind_memory(const A& a) {
    bound_argument bound;
    bound.what = bound_argument::kind::memory;
    bound.memory = a.storage();
    if constexpr (requires { a.byte_offset(); }) {  // perhaps a part of the allocation
        bound.offset = a.byte_offset();
        bound.extent = a.size_bytes();
    } else {
        bound.extent = a.size() * sizeof(typename A::value_type);
    }
    return bound;
}
/// Whether two host types are the same element: `long` and `std::int64_t` are.
template <class A, class B>
inline constexpr bool is_same_element = std::same_as<A, B>;
template <scalar_type A, scalar_type B>
inline constexpr bool is_same_element<A, B> = scalar_of<A> == scalar_of<B>;

bound_argument bind_value(const void* bytes, std::size_t size);
bound_argument bind_local(std::size_t count, std::size_t element_size, std::size_t alignment);
bound_argument bind_image(const std::shared_ptr<runtime::storage>&, const sampler&);
[[noreturn]] void argument_does_not_fit(scalar type);

#define BALM_HOST_PARAMETER                                                                   \
    "Balm: a kernel's parameters are device types: Int, Float, … by value, In<T>, Out<T>, " \
    "Mixed<T>, Local<T>; by value, not by reference"

/// How each kind of kernel parameter is declared in a trace, and bound to a host argument.
template <class P>
struct parameter {
    static_assert(dsl::detail::always_false<P>, BALM_HOST_PARAMETER);
};

template <scalar_type T>
struct parameter<dsl::Var<T>> {
    static trace::type element() { return scalar_of<T>; }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A& value) {
        static_assert(scalar_type<A>, "Balm: this parameter is passed by value; give it a host scalar");
        static_assert(kind_of(scalar_of<A>) <= kind_of(scalar_of<T>),
                      "Balm: this host value would narrow to the parameter's type; cast it");
        const T converted = static_cast<T>(value);
        if constexpr (std::integral<T> && !std::same_as<T, bool> && std::integral<A>)
            if (!std::in_range<T>(static_cast<canonical_integer<A>>(value)))
                argument_does_not_fit(scalar_of<T>);
        return bind_value(&converted, sizeof converted);
    }

private:
    /// A type that std::in_range takes: bool and character types as integers of their size.
    template <class A>
    using canonical_integer =
        std::conditional_t<std::same_as<A, bool>, unsigned char, typename host_type<scalar_of<A>>::type>;
};

/// Vectors and structures are passed as they lie in memory.
template <class T>
requires vector_type<T> || structure_type<T>
struct parameter<dsl::Var<T>> {
    static trace::type element() { return type_of_element<T>(); }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A& value) {
        static_assert(
            std::same_as<A, T>,
            "Balm: this parameter is a vector or a structure by value; give it one of the same type");
        return bind_value(&value, sizeof value);
    }
};

/// A pointer is a parameter of functions; kernels are given memory.
template <class T, space Where>
struct parameter<dsl::Ptr<T, Where>> {
    static trace::type element() { return dsl::Ptr<T, Where>::type(); }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A&) {
        static_assert(
            dsl::detail::always_false<A>,
            "Balm: a kernel's parameters in memory are In<T>, Out<T>, Mixed<T>, Local<T>; take pointers "
            "into them with address_of");
        return {};
    }
};

template <class P, bool Reads, bool Writes>
struct memory_parameter {
    using T = typename P::value_type;
    static trace::type element() { return type_of_element<T>(); }
    static constexpr trace::access use = P::use;

    template <class A>
    static bound_argument bind(const A& a) {
        static_assert(memory_argument<A>, "Balm: this parameter is memory; give it a buffer or a vector");
        static_assert(is_same_element<typename A::value_type, T>,
                      "Balm: the buffer's elements are of another type than the parameter's");
        static_assert(!Reads || A::kernels_may_read,
                      "Balm: an out buffer is bound to an In or Mixed parameter; kernels only write it");
        static_assert(!Writes || A::kernels_may_write,
                      "Balm: an in buffer is bound to an Out or Mixed parameter; kernels only read it");
        return bind_memory(a);
    }
};
template <class T, int N>
struct parameter<dsl::In<T, N>> : memory_parameter<dsl::In<T, N>, true, false> {};
template <class T, int N>
struct parameter<dsl::Out<T, N>> : memory_parameter<dsl::Out<T, N>, false, true> {};
template <class T, int N>
struct parameter<dsl::Mixed<T, N>> : memory_parameter<dsl::Mixed<T, N>, true, true> {};

template <class T>
struct parameter<dsl::Local<T>> {
    static trace::type element() { return type_of_element<typename dsl::Local<T>::value_type>(); }
    static constexpr trace::access use = trace::access::local;

    static bound_argument bind(const local<T>& room) { return bind_local(room.count, sizeof(T), alignof(T)); }
};

/// Images are of the parameter's elements and dimensions; a sampled one comes with its sampler.
template <class P>
struct image_parameter {
    using T = typename P::value_type;
    static trace::type element() { return type_of_image<T>(P::dimensions); }
    static constexpr trace::access use = P::use;

    template <class A>
    static constexpr void check() {
        if constexpr (is_sampled) {
            static_assert(
                requires(const A& a) { a.through(); },
                "Balm: this parameter is a sampled image; give it image.sampled(sampler)");
            static_assert(std::same_as<typename A::value_type, T> && A::dimensions == P::dimensions,
                          "Balm: the image's elements or dimensions are others than the parameter's");
        } else {
            static_assert(
                requires { typename A::image_value_type; },
                "Balm: this parameter is an image; give it a whole image, without a sampler");
            static_assert(std::same_as<typename A::image_value_type, T> && A::dimensions == P::dimensions,
                          "Balm: the image's elements or dimensions are others than the parameter's");
        }
    }
    template <class A>
    static bound_argument bind(const A& a) {
        check<A>();
        if constexpr (is_sampled)
            return bind_image(a.part().memory, a.through());
        else
            return bind_image(a.part().memory, {});
    }

private:
    static constexpr bool is_sampled = P::use == trace::access::sampled_image;
};
template <class T, int N>
struct parameter<dsl::InImage<T, N>> : image_parameter<dsl::InImage<T, N>> {};
template <class T, int N>
struct parameter<dsl::OutImage<T, N>> : image_parameter<dsl::OutImage<T, N>> {};
template <class T, int N>
struct parameter<dsl::Sampled<T, N>> : image_parameter<dsl::Sampled<T, N>> {};

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

}  // namespace detail

namespace detail {

/// What stands for itself in a call: no device value, no memory.
template <class A>
concept host_value =
    scalar_type<A> || vector_type<A> || structure_type<A> || complex_type<A> || is_host_call<A>;

/// What functions and operators make of host values alone, as an array expression.
class host_expression {
public:
    void push(trace::type, const bound_argument&);
    void push(scalar, std::uint64_t bits);
    void push(const host_expression&);
    void push_call(std::shared_ptr<const ir::function>, trace::type, std::size_t arity);
    void push_row(builtin, scalar, std::size_t arity);

    /// Throws usage_error where a kernel was traced when it was made.
    const array::tape& list() const;

private:
    array::tape& own_list();

    std::shared_ptr<array::tape> list_;
};

/// What a call with host values alone gives: the value, where a kernel is traced; in an array expression it
/// is computed for each element. So are calls and operators on such values.
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

/// Refuses a call outside of kernels.
[[noreturn]] void called_outside_of_kernels(const ir::function&);

}  // namespace detail

namespace dsl::detail {

template <class R>
inline constexpr bool is_var<balm::detail::host_call<R>> = true;

/// What can be passed to a function, and only exists while a kernel is traced.
template <class A>
concept on_device = device_value<A> || requires(const A& a) {
    a.balm_place();
} || requires(const A& a) {
    { a.node() } -> std::convertible_to<node>;
};

}  // namespace dsl::detail

namespace detail {

template <class P>
inline constexpr bool parameter_is_image =
    parameter<P>::use == trace::access::in_image || parameter<P>::use == trace::access::sampled_image ||
    parameter<P>::use == trace::access::out_image;

/// The node that an argument of a call inside a kernel is passed as.
template <class P, class A>
trace::node argument_node(A&& a) {
    if constexpr (parameter<P>::use == trace::access::value)
        return dsl::detail::result_node(P(static_cast<A&&>(a)));
    else {
        static_assert(
            requires { std::remove_cvref_t<A>::use; },
            "Balm: this parameter is memory; pass on an In, Out, Mixed or Local of the kernel's");
        static_assert(P::use == std::remove_cvref_t<A>::use,
                      "Balm: memory is passed on as what it is: In to In, Mixed to Mixed, Local to Local");
        static_assert(is_same_element<typename std::remove_cvref_t<A>::value_type, typename P::value_type>,
                      "Balm: the memory's elements are of another type than the parameter's");
        static_assert(!parameter_is_image<P> || std::remove_cvref_t<A>::dimensions == P::dimensions,
                      "Balm: the image has another number of dimensions than the parameter");
        return a.node();
    }
}

}  // namespace detail

/// A kernel of N dimensions: what `kernel<N>(…)` gives. Called with host arguments it gives what
/// `device.execute` takes; called inside a kernel of N dimensions, with that kernel's parameters and values,
/// it does its work for the same work-item. A handle; safe to use from any thread.
template <int N, class... P>
class typed_kernel {
public:
    explicit typed_kernel(detail::traced trace) : trace_(std::move(trace)) {}

    /// A call inside a kernel: at least one argument lives on the device. Throws trace_error where the kernel
    /// around has another number of dimensions.
    template <class... A>
    requires((dsl::detail::on_device<A> || ...) && !(dsl::detail::not_a_number<A> || ...)) void operator()(
        A&&... arguments) const {
        static_assert(sizeof...(A) == sizeof...(P), "Balm: the kernel takes another number of arguments");
        const trace::node nodes[] = {detail::argument_node<P>(static_cast<A&&>(arguments))...};
        trace::call(trace_.get(), nodes, sizeof...(A), {});
    }
    template <class... A>
    requires(!(dsl::detail::on_device<A> || ...) && !(dsl::detail::not_a_number<A> || ...)) bound_kernel<N>
    operator()(const A&... arguments) const {
        static_assert(sizeof...(A) == sizeof...(P), "Balm: the kernel takes another number of arguments");
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

namespace detail {

template <int N, class R, class... P>
typed_kernel<N, P...> kernel_type(signature<R, P...>);
template <int N, class R, int M, class... P>
typed_kernel<N, P...> kernel_type(signature<R, dsl::Grid<M>, P...>);
/// The dimensions that a leading Grid parameter says; 0 where there is none.
template <class S>
inline constexpr int grid_dimensions = 0;
template <class R, int M, class... P>
inline constexpr int grid_dimensions<signature<R, dsl::Grid<M>, P...>> = M;
template <int N, class S>
using kernel_type_of = decltype(kernel_type<N>(S{}));

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

}  // namespace detail

/// Defines a kernel of N dimensions from a lambda on device types. `words` is its name, a C identifier, with
/// the names of its parameters in parentheses if the printed source is to use them: "scale(factor, in, out)".
/// Throws trace_error for a fault in the kernel.
template <int N, detail::traceable F>
auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
            std::uint32_t line = __builtin_LINE()) {
    static_assert(N >= 1 && N <= 3, "Balm: a kernel has 1, 2 or 3 dimensions");
    using S = typename detail::signature_of<F>::type;
    static_assert(std::is_void_v<typename S::result>,
                  "Balm: a kernel returns nothing; write to an Out parameter");
    static_assert(detail::grid_dimensions<S> == 0 || detail::grid_dimensions<S> == N,
                  "Balm: the Grid parameter has another number of dimensions than the kernel");
    return detail::kernel_type_of<N, S>(detail::traced(words, N, f, S{}, {file, line}));
}

template <int N, detail::generic_lambda F>
BALM_REFUSED(
    "Balm: a kernel's parameters have types: [](In<float> a, Out<float> b, Int n), or give the "
    "signature: kernel<1, void(In<float>, Out<float>)>(name, lambda)")
F kernel(std::string_view words, F f);
template <int N, detail::takes_host_values F>
BALM_REFUSED(BALM_HOST_PARAMETER)
F kernel(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class F>
BALM_REFUSED("Balm: a kernel says how many dimensions its grid has: balm::kernel<1>(\"name\", lambda)")
F kernel(std::string_view words, F f);
template <int N, class F>
requires std::is_function_v<F> BALM_REFUSED(
    "Balm: a kernel is traced from a lambda: balm::kernel<1>(\"name\", [](In<float> a, Out<float> b) {…})")
int kernel(std::string_view words, F& f);
template <int N, class F>
requires std::is_class_v<F> BALM_REFUSED("Balm: a kernel has a name: balm::kernel<1>(\"name\", lambda)")
F kernel(F f);

/// The same for a generic lambda, which has no signature of its own:
/// `kernel<1, void(In<float>, Out<float>)>("copy", [](auto in, auto out) {…})`.
template <int N, class Signature, class F>
requires std::is_function_v<Signature>
auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
            std::uint32_t line = __builtin_LINE()) {
    static_assert(N >= 1 && N <= 3, "Balm: a kernel has 1, 2 or 3 dimensions");
    using S = typename detail::signature_of<Signature>::type;
    static_assert(detail::grid_dimensions<S> == 0 || detail::grid_dimensions<S> == N,
                  "Balm: the Grid parameter has another number of dimensions than the kernel");
    return detail::kernel_type_of<N, S>(detail::traced(words, N, f, S{}, {file, line}));
}

/// A device function: what `function(…)` gives. Called inside a kernel it records a call; the array layer
/// lets it stand in vector expressions too.
template <class R, class... P>
class device_function {
public:
    /// Without a definition; calling it is an error. Assign what `function(…)` gives.
    device_function() = default;
    explicit device_function(detail::traced trace)
        : trace_(std::make_shared<detail::traced>(std::move(trace))) {}

    template <class... A>
    requires(sizeof...(A) == sizeof...(P)) auto operator()(A&&... arguments) const {
        return call_function(*this, static_cast<A&&>(arguments)...);
    }
    template <class... A>
    requires(sizeof...(A) != sizeof...(P)) BALM_REFUSED(
        "Balm: the function takes another number of arguments: one for each parameter of its lambda")
    R operator()(A&&... arguments) const;

    const std::shared_ptr<const ir::function>& function() const {
        if (!trace_) detail_undefined();
        return trace_->get();
    }

private:
    [[noreturn]] static void detail_undefined();

    std::shared_ptr<detail::traced> trace_;
};

namespace detail {

[[noreturn]] void undefined_function();

template <class R, class... P>
device_function<R, P...> function_type(signature<R, P...>);
template <class S>
using function_type_of = decltype(function_type(S{}));

}  // namespace detail

template <class R, class... P>
void device_function<R, P...>::detail_undefined() {
    detail::undefined_function();
}

namespace dsl {

/// A call inside a kernel: at least one argument lives on the device.
template <class R, class... P, class... A>
requires((detail::on_device<A> || ...) && !(balm::detail::host_value<std::remove_cvref_t<A>> && ...)) R
    call_function(const device_function<R, P...>& f, A&&... arguments) {
    const trace::node nodes[] = {balm::detail::argument_node<P>(static_cast<A&&>(arguments))...};
    const trace::node result = trace::call(f.function(), nodes, sizeof...(A), {});
    if constexpr (!std::is_void_v<R>) return R(result);
}

}  // namespace dsl

namespace detail {

/// Functions whose calls with host values alone mean something in array expressions: numbers of numbers.
template <class R, class... P>
inline constexpr bool gives_numbers = dsl::detail::is_var<R> && ((parameter<P>::use == trace::access::value &&
                                                                  !dsl::detail::is_pointer<P>)&&...);

/// The argument of a call outside of kernels.
template <class P, class A>
void push_argument(host_expression& to, const A& a) {
    if constexpr (is_host_call<A>)
        to.push(a.expression());
    else
        to.push(parameter<P>::element(), parameter<P>::bind(a));
}
/// The operand of a row outside of kernels.
template <builtin B, scalar Strong, class A>
void push_operand(host_expression& to, const A& a) {
    if constexpr (is_host_call<A>) {
        to.push(a.expression());
    } else {
        constexpr scalar entering = dsl::detail::operand_scalar<B, A>(Strong);
        using T = typename host_type<entering>::type;
        if constexpr (!takes_bit_patterns(B)) dsl::detail::refuse_wrapping<T>(a);
        if (!dsl::detail::fits<T>(a)) dsl::detail::constant_does_not_fit(entering);
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

/// A call with host values alone, or with nothing: inside a kernel as any other; in an array expression,
/// beside an array or assigned to one, it is computed for each element. Throws usage_error outside of both,
/// unless it is a number.
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
    "Balm: a function's parameters have types: [](Float x, Int n), or give the signature: "
    "function<Float(Float, Int)>(name, lambda)")
F function(std::string_view words, F f);
template <detail::takes_host_values F>
BALM_REFUSED(BALM_HOST_PARAMETER)
F function(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class F>
requires std::is_class_v<F> BALM_REFUSED("Balm: a function has a name: balm::function(\"name\", lambda)")
F function(F f);
template <detail::gives_host_value F>
BALM_REFUSED("Balm: a function gives a device value: return Float(1.f), not 1.f")
F function(std::string_view words, F f, const char* file = "", std::uint32_t line = 0);
template <class Signature, class F>
requires std::is_function_v<Signature>
auto function(std::string_view words, F f, const char* file = __builtin_FILE(),
              std::uint32_t line = __builtin_LINE()) {
    using S = typename detail::signature_of<Signature>::type;
    return detail::function_type_of<S>(detail::traced(words, 0, f, S{}, {file, line}));
}

}  // namespace balm
