#pragma once
// Kernels and functions from generic C++ code, which is called with symbolic numbers that record the
// operations on them as OpenCL C.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "vexcl/backend/kernel.hpp"
#include "vexcl/backend/source.hpp"
#include "vexcl/detail/assignments.hpp"
#include "vexcl/detail/builtins.hpp"
#include "vexcl/devlist.hpp"
#include "vexcl/function.hpp"
#include "vexcl/types.hpp"

namespace vex {

template <class T>
class symbolic;

namespace generator {

/// The current recording of a thread.
struct recording {
    std::ostream* to = nullptr;
    /// The source of the custom functions that the recorded code calls, without duplicates.
    std::vector<std::string> functions;
};
inline recording& current_recording() {
    thread_local recording now;
    return now;
}
/// From now on, symbolic numbers of this thread record to the stream.
inline void set_recorder(std::ostream& to) { current_recording() = {&to, {}}; }
/// Symbolic numbers of this thread record to the stream for as long as this lives.
class recording_to {
public:
    explicit recording_to(std::ostream& to) : outer_(std::exchange(current_recording(), {&to, {}})) {}
    recording_to(const recording_to&) = delete;
    recording_to& operator=(const recording_to&) = delete;
    ~recording_to() { current_recording() = std::move(outer_); }

private:
    recording outer_;
};
/// The stream that symbolic numbers record to: std::cout by default.
inline std::ostream& get_recorder() {
    std::ostream* const to = current_recording().to;
    return to != nullptr ? *to : std::cout;
}

/// The source of an expression of symbolic numbers.
class symbol : public symbolic_base {
public:
    explicit symbol(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }
    friend std::ostream& operator<<(std::ostream& to, const symbol& s) { return to << s.text_; }

private:
    std::string text_;
};

/// The source of an operand. Numbers are written with enough digits to be read back exactly.
template <class A>
std::string text_of(const A& a) {
    std::ostringstream text;
    if constexpr (vex::detail::literal<A>) {
        return text_of(A::value);
    } else if constexpr (std::floating_point<A>) {
        text.precision(17);
        text << std::scientific << static_cast<double>(a);
        if constexpr (std::same_as<A, float>) text << 'f';
    } else if constexpr (std::same_as<A, bool>) {
        text << (a ? "true" : "false");
    } else if constexpr (std::integral<A>) {
        text << +a;
        if constexpr (std::unsigned_integral<A>) text << 'u';
        if constexpr (sizeof(A) == 8) text << 'l';
    } else {
        text << a;
    }
    return text.str();
}
/// name(a, b, …)
template <class... A>
const symbol call(const std::string& name, const A&... a) {
    std::string arguments;
    ((arguments += (arguments.empty() ? "" : ", ") + text_of(a)), ...);
    return symbol(name + "(" + arguments + ")");
}
/// The index of the current element in a kernel of build_kernel() or make_kernel().
inline const symbol index() { return symbol("idx"); }

/// Adds functions to those that precede the recorded code, unless they are already there.
inline void define_once(const std::vector<std::string>& units) {
    auto& known = current_recording().functions;
    for (const std::string& each : units)
        if (std::find(known.begin(), known.end(), each) == known.end()) known.push_back(each);
}
template <class Function, class... A>
auto call_with_symbols(const A&... a) {
    backend::source_generator src;
    Function::define(src);
    define_once(src.units());
    return call(Function::name(), a...);
}

/// A number that no other symbolic number has.
inline std::size_t next_variable() {
    static std::atomic<std::size_t> last{0};
    return ++last;
}

}  // namespace generator

namespace detail {

template <class A>
concept symbolic_operand = symbolic<A> || std::is_arithmetic_v<std::remove_cvref_t<A>> || literal<A>;
template <class... A>
concept symbolic_operands = (symbolic_operand<A> && ...) && (symbolic<A> || ...);

}  // namespace detail

#define VEX_BINARY_OPERATOR(symbol_)                                                                      \
    template <class L, class R>                                                                           \
    requires detail::symbolic_operands<L, R>                                                              \
    const generator::symbol operator symbol_(const L& l, const R& r) {                                    \
        return generator::symbol("(" + generator::text_of(l) + " " #symbol_ " " + generator::text_of(r) + \
                                 ")");                                                                    \
    }
#define VEX_BINARY_OPERATOR_ROW(symbol_, row) VEX_BINARY_OPERATOR(symbol_)
BALM_BINARY_OPERATORS(VEX_BINARY_OPERATOR_ROW)
VEX_BINARY_OPERATOR(&&)
VEX_BINARY_OPERATOR(||)
#undef VEX_BINARY_OPERATOR_ROW
#undef VEX_BINARY_OPERATOR
#define VEX_UNARY_OPERATOR(symbol_)                                               \
    template <detail::symbolic A>                                                 \
    const generator::symbol operator symbol_(const A& a) {                        \
        return generator::symbol("(" #symbol_ " " + generator::text_of(a) + ")"); \
    }
VEX_UNARY_OPERATOR(-)
VEX_UNARY_OPERATOR(+)
VEX_UNARY_OPERATOR(~)
VEX_UNARY_OPERATOR(!)
#undef VEX_UNARY_OPERATOR
#define VEX_BUILTIN_1(name)                    \
    template <detail::symbolic A>              \
    const generator::symbol name(const A& a) { \
        return generator::call(#name, a);      \
    }
#define VEX_BUILTIN_2(name)                  \
    template <class A, class B>              \
    requires detail::symbolic_operands<A, B> \
    const generator::symbol name(const A& a, const B& b) { return generator::call(#name, a, b); }
#define VEX_BUILTIN_3(name)                                            \
    template <class A, class B, class C>                               \
    requires detail::symbolic_operands<A, B, C>                        \
    const generator::symbol name(const A& a, const B& b, const C& c) { \
        return generator::call(#name, a, b, c);                        \
    }
VEX_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2, VEX_BUILTIN_3)
VEX_GEOMETRIC_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2)
#undef VEX_BUILTIN_1
#undef VEX_BUILTIN_2
#undef VEX_BUILTIN_3
/// `condition ? if_true : if_false`
template <class C, class A, class B>
requires detail::symbolic_operands<C, A, B>
const generator::symbol if_else(const C& condition, const A& if_true, const B& if_false) {
    return generator::symbol("(" + generator::text_of(condition) + " ? " + generator::text_of(if_true) +
                             " : " + generator::text_of(if_false) + ")");
}

/// A number that records the operations on it: a local variable of the recorded code, or a parameter of the
/// kernel.
///
///     std::ostringstream body;
///     vex::generator::set_recorder(body);
///     vex::symbolic<double> x(vex::symbolic<double>::VectorParameter);
///     x = sin(x) + 1;
///     auto kernel = vex::generator::build_kernel(ctx, "sin_plus_one", body.str(), x);
///     kernel(X);                                       // X is a vex::vector<double>
template <class T>
class symbolic : public symbolic_base {
public:
    typedef T value_type;
    enum scope_type { LocalVar, VectorParameter, ScalarParameter };
    enum constness_type { NonConst, Const };

    /// A local variable that is zero.
    symbolic() {
        if constexpr (std::is_arithmetic_v<T>)
            declare(T());
        else
            generator::get_recorder()
                << type_name<T>() << ' ' << name() << " = (" << type_name<T>() << ")(0);\n";
    }
    /// A local variable, the current element of a vector parameter, or a scalar parameter. Const elements are
    /// not written back.
    explicit symbolic(scope_type scope, constness_type constness = NonConst)
        : scope_(scope), constness_(constness) {
        if (scope == LocalVar) generator::get_recorder() << type_name<T>() << ' ' << name() << ";\n";
    }
    symbolic(const symbolic& other) { declare(other); }
    template <detail::symbolic_operand A>
    symbolic(const A& a) {  // NOLINT(google-explicit-constructor)
        declare(a);
    }

    const symbolic& operator=(const symbolic& other) const { return record("=", other); }
    template <detail::symbolic_operand A>
    const symbolic& operator=(const A& a) const {
        return record("=", a);
    }
#define VEX_COMPOUND(symbol_, operation)                 \
    template <detail::symbolic_operand A>                \
    const symbolic& operator symbol_(const A& a) const { \
        return record(#symbol_, a);                      \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

    const symbolic& operator++() const { return *this += 1; }
    const symbolic& operator--() const { return *this -= 1; }
    /// The result is a new local variable that holds the previous value.
    symbolic operator++(int) const {
        symbolic before(*this);
        ++*this;
        return before;
    }
    symbolic operator--(int) const {
        symbolic before(*this);
        --*this;
        return before;
    }

    std::size_t id() const { return id_; }
    std::string name() const { return "var" + std::to_string(id_); }
    bool is_vector() const { return scope_ == VectorParameter; }

    /// For a parameter of a kernel: its declaration, the variable that it initialises, and the statement that
    /// writes the variable back.
    std::string parameter() const {
        const std::string type = scope_ == ScalarParameter ? type_name<T>()
                                 : constness_ == Const     ? type_name<global_ptr<const T>>()
                                                           : type_name<global_ptr<T>>();
        return type + " p_" + name();
    }
    std::string init() const {
        return type_name<T>() + " " + name() + " = p_" + name() + (is_vector() ? "[idx]" : "") + ";\n";
    }
    std::string write() const {
        return is_vector() && constness_ == NonConst ? "p_" + name() + "[idx] = " + name() + ";\n" : "";
    }

    friend std::ostream& operator<<(std::ostream& to, const symbolic& s) { return to << s.name(); }

private:
    template <class A>
    void declare(const A& value) const {
        generator::get_recorder() << type_name<T>() << ' ' << name() << " = " << generator::text_of(value)
                                  << ";\n";
    }
    template <class A>
    const symbolic& record(const char* assignment, const A& value) const {
        generator::get_recorder() << name() << ' ' << assignment << ' ' << generator::text_of(value) << ";\n";
        return *this;
    }

    std::size_t id_ = generator::next_variable();
    scope_type scope_ = LocalVar;
    constness_type constness_ = NonConst;
};

namespace generator {

using vex::symbolic;

/// One kernel for each queue, which runs recorded code for each element of its vector parameters. Called with
/// vectors and numbers in the order of its parameters.
///
///     vex::generator::kernel scale(ctx, "scale");
///     scale.add_param(x);
///     scale.add_param(factor);
///     scale.build(body.str());
///     scale(X, 2.0);
class kernel {
    using located_name = balm::detail::located_name;

public:
    kernel(const std::vector<command_queue>& queues, const located_name& name)
        : queues_(queues), name_(name.words), where_(name.where) {}
    /// Appends a parameter.
    template <class T>
    void add_param(const symbolic<T>& parameter) {
        parameters_ += parameter.parameter() + ", ";
        loads_ += parameter.init();
        stores_ += parameter.write();
    }
    /// Builds the kernel from recorded code and the parameters.
    void build(const std::string& body) {
        auto src = queues_.empty() ? backend::source_generator() : backend::source_generator(queues_[0]);
        for (const std::string& each : current_recording().functions) src << each << '\n';
        src.begin_kernel(name_);
        src << '(' << parameters_ << "ulong n)";
        src.open("{").grid_stride_loop().open("{").new_line();
        src << loads_ << body << stores_;
        src.close("}").close("}");
        src << '\n';
        kernels_.clear();
        for (const command_queue& each : queues_)
            kernels_.emplace_back(each, src.str(), located_name(name_, where_.file, where_.line));
    }
    /// Appends an argument: a vector, a number, or a std::vector of one number for each queue.
    template <class A>
    void push_arg(const A& a) {
        check_is_built();
        for (unsigned d = 0; d < queues_.size(); ++d)
            if constexpr (requires { a.part_size(d); }) {
                const std::size_t size = a.part_size(d);
                sizes_[d] = std::max(sizes_[d], size);
                if (size > 0) kernels_[d].push_arg(a(d));  // without elements there will be no launch
            } else {
                kernels_[d].push_arg(a);
            }
    }
    template <class A>
    void push_arg(const std::vector<A>& one_for_each_queue) {
        check_is_built();
        precondition(one_for_each_queue.size() == queues_.size(),
                     "an argument of a generated kernel that is a std::vector has one number for each queue");
        for (unsigned d = 0; d < queues_.size(); ++d) kernels_[d].push_arg(one_for_each_queue[d]);
    }
    /// Launches the kernel with the pushed arguments, and removes them.
    void operator()() {
        check_is_built();
        try {
            for (unsigned d = 0; d < queues_.size(); ++d)
                if (sizes_[d] > 0) kernels_[d](queues_[d], static_cast<cl_ulong>(sizes_[d]));
        } catch (...) {
            reset();
            throw;
        }
        reset();
    }
    template <class First, class... Rest>
    void operator()(const First& first, const Rest&... rest) {
        push_arg(first);
        (push_arg(rest), ...);
        (*this)();
    }

private:
    void check_is_built() const {
        precondition(kernels_.size() == queues_.size(),
                     "vex::generator::kernel: build() must precede arguments and calls");
    }
    void reset() {
        for (backend::kernel& each : kernels_) each.reset();
        std::fill(sizes_.begin(), sizes_.end(), 0);
    }

    std::vector<command_queue> queues_;
    std::string name_, parameters_, loads_, stores_;
    balm::trace::location where_;
    std::vector<backend::kernel> kernels_;
    std::vector<std::size_t> sizes_ = std::vector<std::size_t>(queues_.size());
};

/// A kernel that runs the recorded code for each element of its vector parameters.
template <class... A>
kernel build_kernel(const std::vector<command_queue>& queues, const balm::detail::located_name& name,
                    const std::string& body, const A&... parameters) {
    kernel made(queues, name);
    (made.add_param(parameters), ...);
    made.build(body);
    return made;
}
/// Records a call of a function object with the parameters, which it takes by reference, as a kernel.
///
///     auto step = vex::generator::make_kernel(ctx, "drift", [](auto& x, auto& v) { x += v; }, x, v);
template <class F, class... A>
kernel make_kernel(const std::vector<command_queue>& queues, const balm::detail::located_name& name,
                   F&& record, A&... parameters) {
    std::ostringstream body;
    const recording_to here(body);
    record(parameters...);
    return build_kernel(queues, name, body.str(), parameters...);
}

/// The body of a custom function (VEX_FUNCTION_V1) that runs the recorded code, with the given result and
/// parameters.
template <class Result, class... A>
std::string make_function(const std::string& body, const Result& result, const A&... parameters) {
    std::size_t number = 0;
    std::string text;
    ((text += type_name<typename A::value_type>() + " " + parameters.name() + " = prm" +
              std::to_string(++number) + ";\n"),
     ...);
    return text + body + "return " + result.name() + ";\n";
}

/// A name that no other generated function has, whatever their signatures.
inline std::string next_function_name() {
    static std::atomic<std::size_t> last{0};
    return "generated_function_" + std::to_string(++last);
}

/// A custom function recorded from a function object.
template <class Signature>
class FunctorAdapter;
template <class R, class... P>
class FunctorAdapter<R(P...)> : public user_function {
public:
    typedef R value_type;

    template <class F>
    explicit FunctorAdapter(const F& f)
        : name_(next_function_name()),
          units_(recorded(f, name_)),
          function_(detail::text_function<R, P...>(name_, units_)) {}

    template <class... A>
    requires(sizeof...(A) == sizeof...(P)) decltype(auto) operator()(const A&... a) const {
        if constexpr ((detail::symbolic<A> || ...)) {
            define_once(units_);
            return call(name_, a...);
        } else if constexpr ((detail::multi<A> || ...)) {
            return detail::each_component([this](const auto&... each) { return (*this)(each...); }, a...);
        } else {
            return detail::call_text_function<R, P...>(function_, a...);
        }
    }

private:
    /// The function's source, after that of all that it calls.
    template <class F>
    static std::vector<std::string> recorded(const F& f, const std::string& name) {
        std::ostringstream body;
        const recording_to here(body);
        const std::string text = [&](const symbolic<P>&... each) {
            const symbolic<R> result(f(each...));
            return make_function(body.str(), result, each...);
        }(symbolic<P>(symbolic<P>::ScalarParameter)...);
        backend::source_generator src;
        src << detail::program_preamble();
        src.end_unit();
        for (const std::string& each : current_recording().functions) {
            src << each;
            src.end_unit();
        }
        std::size_t number = 0;
        src.begin_function<R>(name).begin_function_parameters();
        (src.parameter<P>("prm" + std::to_string(++number)), ...);
        src.end_function_parameters().new_line();
        src << text;
        src.end_function();
        return src.units();
    }

    std::string name_;
    std::vector<std::string> units_;
    decltype(detail::text_function<R, P...>(name_, units_)) function_;
};
/// Records a function object as a custom function R(P…): it is called once, with symbolic numbers.
///
///     auto cube = vex::generator::make_function<double(double)>([](auto x) { return x * x * x; });
///     y = cube(x);
template <class Signature, class F>
auto make_function(F&& f) {
    return FunctorAdapter<Signature>(f);
}

}  // namespace generator
}  // namespace vex
