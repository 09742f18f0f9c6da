#pragma once
// Custom functions, written in OpenCL C and called in expressions.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/text_kernel.hpp>

#include "vexcl/backend/source.hpp"
#include "vexcl/detail/expression.hpp"
#include "vexcl/detail/macro_lists.hpp"
#include "vexcl/operations.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {

/// The base class of custom functions.
struct user_function {};

namespace generator {
/// Records a call with symbolic numbers; defined in generator.hpp.
template <class Function, class... A>
auto call_with_symbols(const A&... a);
}  // namespace generator

namespace detail {

/// Balm's parameter type for a parameter in OpenCL C. A pointer is memory that is read, or read and written.
template <class P>
struct function_parameter {
    using type = balm_element<P>;
    static constexpr bool is_memory = false;
};
template <class T>
struct function_parameter<global_ptr<T>> {
    using type = balm::dsl::InOut<balm_element<T>>;
    static constexpr bool is_memory = true;
};
template <class T>
struct function_parameter<global_ptr<const T>> {
    using type = balm::dsl::In<balm_element<T>>;
    static constexpr bool is_memory = true;
};
template <class T>
struct function_parameter<constant_ptr<T>> {
    using type = balm::dsl::ConstantPtr<balm_element<std::remove_const_t<T>>>;
    static constexpr bool is_memory = true;
};
template <class T>
struct function_parameter<T*> : function_parameter<global_ptr<T>> {};

/// Balm's result type for a result type in OpenCL C.
template <class R>
struct function_result {
    using type = balm_element<R>;
};
template <>
struct function_result<void> {
    using type = void;
};

/// The argument for a parameter P: memory, or an expression converted to the parameter's type.
template <class P, class A>
auto function_argument(const A& a) {
    if constexpr (function_parameter<P>::is_memory)
        return a.memory_for_function();
    else
        return assigned<balm_element<P>>(a);
}

/// The units of source as a Balm function.
template <class R, class... P>
auto text_function(const std::string& name, const std::vector<std::string>& units) {
    balm::text_source text;
    for (const std::string& each : units) text = text + balm::text_source(each);
    using signature = typename function_result<R>::type(typename function_parameter<P>::type...);
    return balm::source_function<signature>(name, text);
}
/// Calls the function for each element.
template <class R, class... P, class Function, class... A>
auto call_text_function(const Function& f, const A&... a) {
    static_assert((!function_parameter<P>::is_memory || ...),
                  "a function that is called in an expression needs a parameter that is not a pointer");
    return [&](auto... argument) {
        match(argument...);
        return wrap(balm::call_function(f, std::move(argument)...), queues_of(a...));
    }(function_argument<P>(a)...);
}

}  // namespace detail

/// A custom function with parameters P… and result R. Impl has `static std::string name()`, and either a
/// body() that names the parameters prm1, prm2, …, or its own `static void define(source_generator&)`.
template <class Impl, class Signature>
struct UserFunction;

template <class Impl, class R, class... P>
struct UserFunction<Impl, R(P...)> : user_function {
    typedef R value_type;

    /// Source that precedes the function.
    static std::string preamble() { return {}; }
    /// Appends the function, under its own name or the given one.
    static void define(backend::source_generator& src) { define(src, Impl::name()); }
    static void define(backend::source_generator& src, const std::string& name) {
        src << Impl::preamble();
        src.end_unit();
        std::size_t number = 0;
        src.begin_function<R>(name).begin_function_parameters();
        (src.parameter<P>("prm" + std::to_string(++number)), ...);
        src.end_function_parameters().new_line() << Impl::body();
        src.end_function();
    }

    /// Calls the function for each element; for multivectors, in each component.
    template <class... A>
    requires(sizeof...(A) == sizeof...(P)) decltype(auto) operator()(const A&... a) const {
        if constexpr ((detail::symbolic<A> || ...))
            return generator::call_with_symbols<Impl>(a...);
        else if constexpr ((detail::multi<A> || ...))
            return detail::each_component([this](const auto&... each) { return (*this)(each...); }, a...);
        else
            return detail::call_text_function<R, P...>(balm_function(), a...);
    }

    /// The function for Balm's expressions and reductions.
    static auto balm_function() {
        using function = decltype(made());
        static std::mutex mutex;
        static std::map<std::string, function> known;  // key: the preamble
        const std::lock_guard lock(mutex);
        const std::string preamble = detail::program_preamble();
        const auto found = known.find(preamble);
        return found != known.end() ? found->second : known.emplace(preamble, made()).first->second;
    }

private:
    static auto made() {
        backend::source_generator src;
        src << detail::program_preamble();
        src.end_unit();
        Impl::define(src);
        return detail::text_function<R, P...>(Impl::name(), src.units());
    }
};

namespace detail {

/// A function of OpenCL C, by its name.
template <class Name, class R, class... P>
struct named_builtin : UserFunction<named_builtin<Name, R, P...>, R(P...)> {
    static std::string name() { return std::string("call_") + Name::name(); }
    static std::string body() {
        std::string arguments;
        for (std::size_t k = 1; k <= sizeof...(P); ++k)
            arguments += (k > 1 ? ", prm" : "prm") + std::to_string(k);
        return std::string("return ") + Name::name() + "(" + arguments + ");";
    }
};
template <class E>
E common_type_of(const balm::expr<E>&);
template <class E, class... F>
auto common_type_of(const balm::expr<E>&, const balm::expr<F>&... rest)
    -> decltype(common_type_of((std::declval<balm::expr<E>>() + ... + std::declval<balm::expr<F>>())));
template <class Name, operand... A>
decltype(auto) call_builtin(const A&... a) {
    using R = decltype(common_type_of(lower(a)...));
    return named_builtin<Name, host_element<R>, host_element<element_of<A>>...>()(a...);
}

/// The lanes of Count vectors X, numbered one after the other, that the lanes of a mask M select.
template <class X, class M, unsigned Count>
struct lane_selection {
    typedef typename cl_vector_of<typename cl_scalar_of<X>::type, cl_vector_length<M>::value>::type result;

    static std::string name() { return "lanes_of_" + type_name<X>() + "_by_" + type_name<M>(); }
    static std::string body() {
        constexpr unsigned lanes = cl_vector_length<X>::value;
        const auto lane = [](unsigned operand, unsigned k) {
            return "prm" + std::to_string(operand) + ".s" + "0123456789abcdef"[k];
        };
        std::string all, selected;
        for (unsigned k = 0; k < Count * lanes; ++k)
            all += (k > 0 ? ", " : "") + lane(1 + k / lanes, k % lanes);
        for (unsigned k = 0; k < cl_vector_length<M>::value; ++k)
            selected += (k > 0 ? ", lanes[" : "lanes[") + lane(Count + 1, k) + " & " +
                        std::to_string(Count * lanes - 1) + "]";
        return type_name<typename cl_scalar_of<X>::type>() + " lanes[] = {" + all + "}; return (" +
               type_name<result>() + ")(" + selected + ");";
    }
};
template <class X, class M>
struct shuffle_one : UserFunction<shuffle_one<X, M>, typename lane_selection<X, M, 1>::result(X, M)>,
                     lane_selection<X, M, 1> {
    using lane_selection<X, M, 1>::body, lane_selection<X, M, 1>::name;
};
template <class X, class M>
struct shuffle_two : UserFunction<shuffle_two<X, M>, typename lane_selection<X, M, 2>::result(X, X, M)>,
                     lane_selection<X, M, 2> {
    using lane_selection<X, M, 2>::body;
    static std::string name() { return lane_selection<X, M, 2>::name() + "_of_two"; }
};

}  // namespace detail

/// The lanes of a short vector, or of two, that the lanes of a mask of integers select.
///
///     swapped = shuffle(x, cl_uint2{{1, 0}});
template <class X, class M>
requires detail::operands<X, M>
decltype(auto) shuffle(const X& x, const M& mask) {
    using V = detail::host_element<detail::element_of<X>>;
    return detail::shuffle_one<V, detail::host_element<detail::element_of<M>>>()(x, mask);
}
template <class X, class Y, class M>
requires detail::operands<X, Y, M>
decltype(auto) shuffle2(const X& x, const Y& y, const M& mask) {
    using V = detail::host_element<detail::element_of<X>>;
    return detail::shuffle_two<V, detail::host_element<detail::element_of<M>>>()(x, y, mask);
}

}  // namespace vex

/// The arguments as a string.
#define VEX_STRINGIZE_SOURCE(...) #__VA_ARGS__

/// Defines a function from a list of parameters and a body:
///
///     VEX_FUNCTION(double, distance, (double, x)(double, y), return sqrt(x * x + y * y););
///     z = distance(x, 2 * y);
///
/// With suffix S, the body is a string; with suffix D, a list of the functions that it calls, `(f)(g)`,
/// precedes the body.
#define VEX_FUNCTION(type, name, parameters, ...) \
    VEX_FUNCTION_SD(type, name, parameters, , VEX_STRINGIZE_SOURCE(__VA_ARGS__))
#define VEX_FUNCTION_S(type, name, parameters, body) VEX_FUNCTION_SD(type, name, parameters, , body)
#define VEX_FUNCTION_D(type, name, parameters, functions, ...) \
    VEX_FUNCTION_SD(type, name, parameters, functions, VEX_STRINGIZE_SOURCE(__VA_ARGS__))
#define VEX_FUNCTION_DS(type, name, parameters, functions, body) \
    VEX_FUNCTION_SD(type, name, parameters, functions, body)
#define VEX_FUNCTION_SD(type, func_name, parameters, functions, body_text)                              \
    struct vex_function_##func_name                                                                     \
        : vex::UserFunction<vex_function_##func_name,                                                   \
                            vex::detail::signature_of<type VEX_TYPES_OF(parameters)>> {                 \
        vex_function_##func_name() {}                                                                   \
        static std::string name() { return #func_name; }                                                \
        static void define(vex::backend::source_generator& src) { define(src, name()); }                \
        static void define(vex::backend::source_generator& src, const std::string& as) {                \
            VEX_DEFINITIONS_OF(functions)                                                               \
            vex::detail::define_function<type VEX_TYPES_OF(parameters)>(src, as, body_text,             \
                                                                        {"" VEX_NAMES_OF(parameters)}); \
        }                                                                                               \
    } const func_name

/// Defines a function of expressions that calls a function of OpenCL C with as many operands; the result has
/// the type of their sum.
#define VEX_BUILTIN_FUNCTION(operands_, func)                                                               \
    struct vex_builtin_##func {                                                                             \
        static const char* name() { return #func; }                                                         \
    };                                                                                                      \
    template <class... A>                                                                                   \
    requires(sizeof...(A) == operands_ && vex::detail::operands<A...>) decltype(auto) func(const A&... a) { \
        return vex::detail::call_builtin<vex_builtin_##func>(a...);                                         \
    }

/// The same from a signature such as double(double, double); the body names the parameters prm1, prm2, …
#define VEX_FUNCTION_V1(name, signature, body) VEX_FUNCTION_V1_WITH_PREAMBLE(name, signature, "", body)
#define VEX_FUNCTION_V1_WITH_PREAMBLE(func_name, signature, preamble_text, body_text) \
    VEX_FUNCTION_V1_TYPE(func_name, signature, preamble_text, body_text) const func_name
/// The class of such a function, vex_function_<name>.
#define VEX_FUNCTION_V1_TYPE(func_name, signature, preamble_text, body_text)                   \
    struct vex_function_##func_name : vex::UserFunction<vex_function_##func_name, signature> { \
        vex_function_##func_name() {}                                                          \
        static std::string name() { return #func_name; }                                       \
        static std::string preamble() { return preamble_text; }                                \
        static std::string body() { return body_text; }                                        \
    }

/// In a class: defines operator() for the host, and `device`, the same function for devices.
///
///     struct less { VEX_DUAL_FUNCTOR(bool, (double, a)(double, b), return a < b;) };
#define VEX_DUAL_FUNCTOR(type, parameters, ...)          \
    VEX_FUNCTION(type, device, parameters, __VA_ARGS__); \
    type operator()(VEX_PARAMETERS_OF(parameters)) const { __VA_ARGS__ }

namespace vex {
namespace detail {

template <class R, class... P>
struct signature_from {
    using type = R(P...);
};
template <class... T>
using signature_of = typename signature_from<T...>::type;

/// Appends a function with these parameter names; the first name in the list is empty and not used.
template <class R, class... P>
void define_function(backend::source_generator& src, const std::string& name, const std::string& body,
                     const std::vector<std::string>& parameter_names) {
    std::size_t number = 0;
    src.begin_function<R>(name).begin_function_parameters();
    (src.parameter<P>(parameter_names[++number]), ...);
    src.end_function_parameters().new_line() << body;
    src.end_function();
}

}  // namespace detail
}  // namespace vex
