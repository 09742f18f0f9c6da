#pragma once
// Kernels and functions given as OpenCL C: as strings, in files, as both, or only declared. They take the
// same typed parameters as traced ones, and are launched and called in the same way. The CUDA backend
// compiles the same text (docs/text-kernels.md lists the supported part of OpenCL C).
//
//     auto plus = balm::source_function<float(float, float)>(
//         "plus", "float plus(float a, float b) { return a + b; }");
//     auto scale = balm::source_kernel<1, void(float, In<float>, Out<float>)>(
//         "scale", balm::text_source::from_files({"kernels/scale.cl"}));
//     device.execute(scale(2.f, a, b), {n});

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/bound_kernel.hpp"
#include "balm/kernel.hpp"
#include "balm/shared_state.hpp"
#include "balm/structure.hpp"

namespace balm {

namespace detail {
struct text_state;
}

/// OpenCL C with the definitions of kernels and functions: any number of texts, in order. A handle. A text
/// that several sources share is compiled once in a program.
///
///     auto library = balm::text_source::from_files({"vectors.cl", "noise.cl"});
///     auto all = library + "float twice(float x) { return 2 * x; }";
class text_source {
public:
    /// No text: a function that is looked up in it is only declared, and another text of the program defines
    /// it.
    text_source();
    /// A string, as from_string() takes it; messages name it after the first kernel or function that is
    /// looked up in it.
    text_source(const char* words, bool throws = trace::main_has_begun())  // NOLINT: "…" converts
        : text_source(std::string_view(words), throws) {}
    text_source(std::string_view words, bool throws = trace::main_has_begun());   // NOLINT
    text_source(const std::string& words, bool throws = trace::main_has_begun())  // NOLINT
        : text_source(std::string_view(words), throws) {}

    /// A string of OpenCL C. Messages and compiler logs call it `name`. Throws usage_error for invalid text:
    /// empty, with NUL bytes, or with an unterminated comment.
    static text_source from_string(std::string_view words, std::string_view name,
                                   bool throws = trace::main_has_begun());

    /// Files of OpenCL C, read immediately; paths are absolute or relative to the working directory.
    /// `#include "other.cl"` is resolved relative to the including file. Throws usage_error for a file that
    /// is absent, unreadable, empty, larger than 16 MiB, or invalid text.
    static text_source from_files(std::initializer_list<std::string_view> paths,
                                  bool throws = trace::main_has_begun());
    static text_source from_files(const std::vector<std::string>& paths,
                                  bool throws = trace::main_has_begun());
    static text_source from_file(std::string_view path, bool throws = trace::main_has_begun()) {
        return from_files({path}, throws);
    }

    /// The texts of both, without duplicates.
    friend text_source operator+(const text_source& a, const text_source& b) { return joined(a, b); }

    /// The texts that define the kernel or function. Throws usage_error if it was traced from C++.
    template <int N, class... P>
    text_source(const typed_kernel<N, P...>& kernel, bool throws = trace::main_has_begun())  // NOLINT
        : text_source(*kernel.function(), throws) {}
    template <class R, class... P>
    text_source(const device_function<R, P...>& f, bool throws = trace::main_has_begun())  // NOLINT
        : text_source(*f.function(), throws) {}

    const std::shared_ptr<const detail::text_state>& state() const { return state_; }

private:
    text_source(const ir::function&, bool throws);
    static text_source joined(const text_source&, const text_source&);

    detail::shared_state<const detail::text_state> state_;
};

/// In the signature of a text, memory that the text declares as `T*` but only reads: In<T> for a text that
/// omits `const`. Otherwise such a parameter is InOut<T>, which expressions that are reduced, or computed on
/// several devices, do not accept. Writing to it is undefined.
///
///     auto at = balm::source_function<float(int, balm::OnlyRead<float>)>(
///         "at", "float at(int i, global float* x) { return x[i]; }");
///     double s = balm::sum(at(positions, x));
template <class T>
struct OnlyRead;

namespace detail {

/// A name with its C++ line.
struct located_name {
    template <class S>
    requires std::convertible_to<const S&, std::string_view> located_name(
        const S& name, const char* file = __builtin_FILE(),  // NOLINT
        std::uint32_t line = __builtin_LINE())
        : words(name), where{file, line} {}

    std::string_view words;
    trace::location where;
};

struct text_parameter {
    trace::type element;
    trace::access use = trace::access::value;
    bool is_promised = false;   ///< the text only reads it, whatever it declares
    bool follows_text = false;  ///< memory: the text decides whether it is written;
                                ///< local memory: the text decides the element type
    friend bool operator==(const text_parameter&, const text_parameter&) = default;
};

/// Looks up the name in the source, compares the parameters, and returns what a trace would.
std::shared_ptr<const ir::function> find_in_text(const located_name&, int dimensions, trace::type result,
                                                 const text_parameter* parameters, std::size_t count,
                                                 const text_source&);

/// Maps float in a signature to Float, float4 to Float4.
template <class T>
struct device_type_of {
    using type = T;
};
template <scalar_type T>
struct device_type_of<T> {
    using type = dsl::Var<canonical<T>>;
};
template <class T>
requires vector_type<T> || structure_type<T>
struct device_type_of<T> {
    using type = dsl::Var<T>;
};
template <class T>
struct device_type_of<OnlyRead<T>> {
    using type = dsl::In<T>;
};
template <class T>
using device_type = typename device_type_of<T>::type;
template <class P>
inline constexpr bool is_only_read = false;
template <class T>
inline constexpr bool is_only_read<OnlyRead<T>> = true;

template <class R>
trace::type text_result() {
    if constexpr (std::is_void_v<R>)
        return {};
    else
        return parameter<R>::element();
}

template <class R, class... P>
traced text_trace(const located_name& name, int dimensions, const text_source& source, signature<R, P...>) {
    return traced([&] {
        const text_parameter parameters[] = {
            {parameter<device_type<P>>::element(), parameter<device_type<P>>::use, is_only_read<P>}..., {}};
        return find_in_text(name, dimensions, text_result<device_type<R>>(), parameters, sizeof...(P),
                            source);
    });
}

template <class R, class... P>
signature<device_type<R>, device_type<P>...> device_signature(signature<R, P...>);
template <class Signature>
using device_signature_of = decltype(device_signature(typename signature_of<Signature>::type{}));

}  // namespace detail

/// A kernel of N dimensions that a text defines. The signature determines how its parameters are bound: a
/// host type or Int, Float … by value, In<T> for `__global const T*` (or __constant), Out<T> and InOut<T> for
/// `__global T*`, OnlyRead<T> for a `__global T*` that is not written, Local<T> for `__local T*`. Sources are
/// texts ("…"), text_source::from_files, and other text kernels and functions, which stand for their texts.
/// Throws usage_error if no text defines the name, or the parameters differ; errors that only a compiler
/// detects are thrown as build_error by the first launch.
///
///     auto fill = balm::source_kernel<1, void(int, Out<int>)>(
///         "fill", "kernel void fill(int value, global int* out) { out[get_global_id(0)] = value; }");
template <int N, class Signature, class... Sources>
requires std::is_function_v<Signature>
auto source_kernel(const detail::located_name& name, const Sources&... sources) {
    static_assert(N >= 1 && N <= 3, "Balm: a kernel has 1, 2 or 3 dimensions");
    using S = detail::device_signature_of<Signature>;
    static_assert(std::is_void_v<typename S::result>,
                  "Balm: a kernel must return void; write to an Out parameter");
    const text_source source = (text_source() + ... + text_source(sources));
    return detail::kernel_type_of<N, S>(
        detail::text_trace(name, N, source, typename detail::signature_of<Signature>::type{}));
}

namespace detail {

/// The functions found so far, one for each list of parameters.
struct text_kernel_state;
struct text_argument {
    text_parameter parameter;
    bound_argument value;
};
std::shared_ptr<text_kernel_state> make_text_kernel(const located_name&, int dimensions, const text_source&);
bound_call bind_to_text(text_kernel_state&, const std::vector<text_argument>&);

/// The alignment of the largest short vector.
inline constexpr std::size_t local_alignment = 128;
template <class A>
inline constexpr bool is_local = false;
template <class T>
inline constexpr bool is_local<local<T>> = true;
template <class A>
struct local_parameter_of;
template <class T>
struct local_parameter_of<local<T>> {
    using type = dsl::Local<T>;
};

}  // namespace detail

/// The arguments, in order, of a text kernel whose parameters are known only at run time: host numbers, short
/// vectors and structures by value, each for a parameter of its own type; buffers, parts of buffers and
/// vectors; local<T>(count) and local_bytes(count).
///
///     balm::kernel_arguments given;
///     for (const auto& each : inputs) given.push(each);
///     given.push(n).push(balm::local<float>(64));
///     device.execute(kernel(given), {n});
class kernel_arguments {
public:
    template <class A>
    kernel_arguments& push(const A& argument) {
        detail::text_argument& made = each_.emplace_back();
        if constexpr (detail::memory_argument<A>) {
            using T = dsl::detail::memory_element<typename A::value_type>;
            constexpr trace::access use = !A::kernels_may_read   ? trace::access::out
                                          : A::kernels_may_write ? trace::access::mixed
                                                                 : trace::access::in;
            made.parameter = {detail::type_of_element<T>(), use, false, true};
            made.value = detail::bind_memory(argument);
        } else if constexpr (detail::is_local<A>) {
            using P = typename detail::local_parameter_of<A>::type;
            made.parameter = {detail::parameter<P>::element(), trace::access::local};
            made.value = detail::parameter<P>::bind(argument);
        } else if constexpr (std::same_as<A, local_bytes>) {
            made.parameter = {scalar::u8, trace::access::local, false, true};
            made.value = detail::bind_local(argument.count, 1, detail::local_alignment);
        } else {
            static_assert(
                scalar_type<A> || vector_type<A> || structure_type<A>,
                "Balm: a text kernel takes numbers, short vectors, structures, buffers, vectors and "
                "local<T>(count)");
            using P = detail::device_type<A>;
            made.parameter = {detail::parameter<P>::element()};
            made.value = detail::parameter<P>::bind(argument);
        }
        return *this;
    }
    std::size_t size() const { return each_.size(); }
    /// Removes all arguments, for the next launch.
    void clear() { each_.clear(); }

    const std::vector<detail::text_argument>& each() const { return each_; }

private:
    std::vector<detail::text_argument> each_;
};

/// A text kernel of N dimensions without a signature, as `source_kernel<N>(name, sources…)` returns it. Its
/// parameters are compared with each new list of argument types. A handle. Thread-safe.
template <int N>
class text_kernel {
public:
    explicit text_kernel(std::shared_ptr<detail::text_kernel_state> state) : state_(std::move(state)) {}

    /// The kernel with its arguments, for execute(). Throws usage_error if they do not match the text's
    /// declaration, or if a buffer is bound against its direction.
    bound_kernel<N> operator()(const kernel_arguments& given) const {
        return {detail::bind_to_text(*state_, given.each())};
    }
    template <class... A>
    bound_kernel<N> operator()(const A&... arguments) const {
        kernel_arguments given;
        (given.push(arguments), ...);
        return (*this)(given);
    }

private:
    detail::shared_state<detail::text_kernel_state> state_;
};

/// A kernel of N dimensions that a text defines, without a signature: each call determines the parameters
/// from the types of the arguments. Nothing is converted: a `float` parameter takes a float, a `long` one an
/// std::int64_t. Memory that the text declares const is read; other memory is read and written.
///
///     auto scale = balm::source_kernel<1>("scale", text_of_a_plugin);
///     device.execute(scale(2.f, a, b), {n});
template <int N, class... Sources>
requires(sizeof...(Sources) > 0 && (std::convertible_to<const Sources&, text_source> && ...))
    text_kernel<N> source_kernel(const detail::located_name& name, const Sources&... sources) {
    static_assert(N >= 1 && N <= 3, "Balm: a kernel has 1, 2 or 3 dimensions");
    return text_kernel<N>(detail::make_text_kernel(name, N, (text_source() + ... + text_source(sources))));
}

/// A function that a text defines, for traced kernels and vector expressions. Without a source it is only
/// declared: the text of another function that the same kernel calls defines it. Calls with equal arguments
/// are merged, except for functions that have no source, take memory, or whose text names a work-item
/// function (get_…), barrier, fence, atomic or printf: these are called where the program calls them.
///
///     auto plus = balm::source_function<float(float, float)>(
///         "plus", "float plus(float a, float b) { return a + b; }");
///     z = plus(x, y);
template <class Signature, class... Sources>
requires std::is_function_v<Signature>
auto source_function(const detail::located_name& name, const Sources&... sources) {
    using S = detail::device_signature_of<Signature>;
    const text_source source = (text_source() + ... + text_source(sources));
    return detail::function_type_of<S>(
        detail::text_trace(name, 0, source, typename detail::signature_of<Signature>::type{}));
}

}  // namespace balm
