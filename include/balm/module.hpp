#pragma once
// Modules: kernels, functions, constants and the host code that launches them, defined together. For each
// device that uses a module, its kernels are compiled once and its constants have memory there.
//
//     balm::module<balm::host_array<float>(std::span<const float>)> polynomial(
//         [](balm::module_builder& m) {
//             auto factors = m.constant<float>("factors", 4);
//             auto k = m.kernel<1>("polynomial(x, y)", [=](In<float> x, Out<float> y) {
//                 Index i = global_id(0);
//                 y[i] = ((factors[3] * x[i] + factors[2]) * x[i] + factors[1]) * x[i] + factors[0];
//             });
//             return m.entry([=](balm::program& p, std::span<const float> x) {
//                 auto in = p.device().in_buffer<float>(x.size());
//                 auto out = p.device().out_buffer<float>(x.size());
//                 in.write(x);
//                 p.set(factors, {1.f, 1.f, 0.5f, 1.f / 6});
//                 p.execute(k(in, out), {x.size()});
//                 return out.read();
//             });
//         });
//     balm::host_array<float> y = polynomial.on(device)(x);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/compile_options.hpp"
#include "balm/device.hpp"
#include "balm/event.hpp"
#include "balm/host_array.hpp"
#include "balm/kernel.hpp"
#include "balm/launcher.hpp"
#include "balm/shared_state.hpp"

namespace balm {

class module_builder;
class program;
template <class Signature>
class module;

namespace detail {

class module_state;
class instance_state;
using given_constant = std::shared_ptr<const ir::constant_data>;

std::shared_ptr<module_state> make_module();
/// Adds a constant to a module under definition. Throws usage_error if the name is not an identifier, and for
/// no elements or too many.
given_constant add_constant(module_state&, std::string_view name, trace::type element, std::size_t count);
/// Throws usage_error for a kernel or function that reads a constant which the module neither has nor links.
void check_constants(const module_state&, const ir::function&);
void add_kernel(module_state&, const std::shared_ptr<const ir::function>&);
void set_options(module_state&, compile_options);
void add_link(module_state&, const std::shared_ptr<module_state>& other);
void end_definition(module_state&);
/// Stores the exception that is being handled; the first use of the module throws it.
void fail_definition(module_state&);

std::shared_ptr<instance_state> instance_on(module_state&, const balm::device&);
/// Throws usage_error if the instance's module does not link this one.
std::shared_ptr<instance_state> linked_instance(const instance_state&, const module_state&);
balm::device device_of(const instance_state&);
void write_constant(const instance_state&, const given_constant&, const void* from, std::size_t count);
void read_constant(const instance_state&, const given_constant&, void* to);
std::size_t constant_size(const given_constant&) noexcept;
/// A pointer to the constant's first element, in the current trace. Throws usage_error for an empty handle.
trace::node constant_node(const given_constant&);
template <class T>
using constant_element = dsl::detail::memory_element<T>;
template <class T>
using constant_memory = dsl::detail::memory<constant_element<T>, trace::access::in, space::constant>;

/// The result of m.entry(…).
template <class F>
struct module_entry {
    F run;
};
template <class T>
inline constexpr bool is_module_entry = false;
template <class F>
inline constexpr bool is_module_entry<module_entry<F>> = true;

/// A type-erased entry.
template <class R, class... A>
struct module_call {
    virtual ~module_call() = default;
    virtual R call(program& p, A... arguments) const = 0;
};
template <class F, class R, class... A>
struct module_call_of final : module_call<R, A...> {
    explicit module_call_of(F f) : run(std::move(f)) {}
    R call(program& p, A... arguments) const override {
        if constexpr (std::is_void_v<R>)
            run(p, std::forward<A>(arguments)...);
        else
            return run(p, std::forward<A>(arguments)...);
    }
    F run;
};

}  // namespace detail

namespace dsl {
/// Lets argument-dependent lookup find the operators of the kernel language for objects that are made outside
/// of kernels.
struct captured {};
}  // namespace dsl

/// A module's array of constants, as `m.constant<T>(n)` returns it. Kernels and functions of the module
/// capture it and read its elements, `table[i]`; the entry writes them, `p.set(table, values)`. A handle.
template <class T>
requires element_type<T> || complex_type<T>
class module_array {
public:
    using value_type = T;

    /// An empty handle: assign to it.
    module_array() = default;
    explicit module_array(detail::given_constant data) : data_(std::move(data)) {}

    std::size_t size() const { return detail::constant_size(data_); }
    /// An element, in a kernel or function.
    auto operator[](dsl::located_index i) const {
        trace::check_index(i.value, size(), i.where);
        return detail::constant_memory<T>(detail::constant_node(data_))[i];
    }
    /// A pointer to the first element, in a kernel or function. A kernel that keeps it or passes it on is
    /// refused when it is compiled for a device whose constant memory has no room for the array.
    dsl::Ptr<const detail::constant_element<T>, space::constant> data() const {
        return detail::constant_memory<T>(detail::constant_node(data_)).data();
    }

    const detail::given_constant& constant() const { return data_; }

private:
    detail::given_constant data_;
};

/// A module's constant of one value, as `m.constant<T>()` returns it. In kernels and functions a number is
/// used as its value, a structure's members are `c->member`, and `c.value()` is a variable that is
/// initialised with the value.
template <class T>
requires element_type<T> || complex_type<T>
class module_constant : public dsl::captured {
public:
    using value_type = dsl::detail::loaded_type<detail::constant_element<T>>;

    /// An empty handle: assign to it.
    module_constant() = default;
    explicit module_constant(detail::given_constant data) : data_(std::move(data)) {}

    dsl::Var<value_type> value() const { return dsl::Var<value_type>(memory()[0]); }
    /// Members of a structure.
    auto operator->() const requires structure_type<T> {
        return dsl::Ptr<const T, space::constant>(detail::constant_node(data_)).operator->();
    }
    trace::node load() const {
        return trace::load(detail::constant_node(data_), trace::constant(scalar::i32, 0), {});
    }

    const detail::given_constant& constant() const { return data_; }

private:
    detail::constant_memory<T> memory() const {
        return detail::constant_memory<T>(detail::constant_node(data_));
    }
    detail::given_constant data_;
};

/// Constants that are numbers are used as their values.
template <class T>
requires dsl::detail::number<T> || std::same_as<T, half>
inline constexpr bool dsl::detail::is_proxy<module_constant<T>> = true;

/// A module on one device, as its entry sees it: launches the module's kernels and writes its constants.
/// Commands go to the device's default queue, in order; any number of threads may run entries at once. The
/// kernels that it launches may read constants of the module and of those that it links, and are compiled
/// with the module's options.
class program : public launcher<program> {
public:
    explicit program(std::shared_ptr<detail::instance_state> state)
        : state_(std::move(state)), device_(detail::device_of(*state_)) {}

    /// The device, which makes buffers and other queues.
    const balm::device& device() const { return device_; }

    /// Writes all elements of a constant on this device, in order with launches: later ones see the new
    /// contents, earlier ones the old. The values may be reused immediately: up to 4 MiB are staged, more is
    /// transferred before the call returns. Throws usage_error if the number of elements differs.
    template <class T>
    void set(const module_array<T>& constant, std::span<const std::type_identity_t<T>> values) const {
        detail::write_constant(*state_, constant.constant(), values.data(), values.size());
    }
    template <class T>
    void set(const module_array<T>& constant, std::initializer_list<std::type_identity_t<T>> values) const {
        detail::write_constant(*state_, constant.constant(), values.begin(), values.size());
    }
    template <class T>
    void set(const module_constant<T>& constant, const std::type_identity_t<T>& value) const {
        detail::write_constant(*state_, constant.constant(), &value, 1);
    }
    /// Reads a constant on this device; zeros if it was never set. Blocks.
    template <class T>
    host_array<T> get(const module_array<T>& constant) const {
        host_array<T> values(shape(constant.size()));
        detail::read_constant(*state_, constant.constant(), values.data());
        return values;
    }
    template <class T>
    T get(const module_constant<T>& constant) const {
        T value{};
        detail::read_constant(*state_, constant.constant(), &value);
        return value;
    }

    /// A module that this one links, on the same device: `p.linked(tables)(x)` runs its entry. Throws
    /// usage_error if it is not linked.
    template <class Signature>
    auto linked(const module<Signature>& other) const {
        return other.instance(detail::linked_instance(*state_, *other.state()));
    }

private:
    friend launcher<program>;
    event launch(const bound_call&, const detail::nd_range&, const wait_list&) const;

    detail::shared_state<detail::instance_state> state_;
    balm::device device_;
};

/// Makes the parts of a module; passed to the module's definition.
class module_builder {
public:
    explicit module_builder(std::shared_ptr<detail::module_state> state) : state_(std::move(state)) {}
    module_builder(const module_builder&) = delete;
    module_builder& operator=(const module_builder&) = delete;

    /// A kernel, as balm::kernel<N>(…) makes one. It is compiled when the module is first used on a device.
    template <int N, detail::traceable F>
    auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
        return add(balm::kernel<N>(words, std::move(f), file, line));
    }
    template <int N, class Signature, class F>
    requires std::is_function_v<Signature>
    auto kernel(std::string_view words, F f, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
        return add(balm::kernel<N, Signature>(words, std::move(f), file, line));
    }
    /// A device function, as balm::function(…) makes one.
    template <detail::traceable F>
    auto function(std::string_view words, F f, const char* file = __builtin_FILE(),
                  std::uint32_t line = __builtin_LINE()) {
        return add(balm::function(words, std::move(f), file, line));
    }
    template <class Signature, class F>
    requires std::is_function_v<Signature>
    auto function(std::string_view words, F f, const char* file = __builtin_FILE(),
                  std::uint32_t line = __builtin_LINE()) {
        return add(balm::function<Signature>(words, std::move(f), file, line));
    }
    /// A kernel or function made elsewhere: traced, or given as text.
    template <int N, class... P>
    typed_kernel<N, P...> add(typed_kernel<N, P...> made) {
        detail::add_kernel(*state_, made.function());
        return made;
    }
    template <class R, class... P>
    device_function<R, P...> add(device_function<R, P...> made) {
        detail::check_constants(*state_, *made.function());
        return made;
    }

    /// An array of n elements that kernels read and the entry writes, initially zeros. The name appears in
    /// the printed source and in messages. It may have any size: if the constant memory of the device has no
    /// room for it, it is in global memory.
    template <class T>
    module_array<T> constant(std::string_view name, std::size_t n) {
        return module_array<T>(detail::add_constant(*state_, name, element<T>(), n));
    }
    template <class T>
    module_array<T> constant(std::size_t n) {
        return constant<T>("table", n);
    }
    /// The same for one value.
    template <class T>
    module_constant<T> constant(std::string_view name = "value") {
        return module_constant<T>(detail::add_constant(*state_, name, element<T>(), 1));
    }

    /// How the module's launches are compiled, on every device.
    void options(compile_options wanted) { detail::set_options(*state_, std::move(wanted)); }

    /// Lets the module's kernels read the constants of another module. They are shared: each module sees what
    /// the other has set. The other module must be defined before this one, and is instantiated on a device
    /// together with it.
    template <class Signature>
    void link(const module<Signature>& other) {
        detail::add_link(*state_, other.state());
    }

    /// The host code, which the definition returns. It takes a balm::program& and the parameters of the
    /// module's signature. Several threads may run it at once.
    template <class F>
    detail::module_entry<F> entry(F run) {
        return {std::move(run)};
    }

private:
    template <class T>
    static trace::type element() {
        return detail::type_of_element<detail::constant_element<T>>();
    }
    detail::shared_state<detail::module_state> state_;
};

/// A module on one device, as `m.on(device)` returns it. Calling it runs the entry. A handle.
template <class Signature>
class module_instance;
template <class R, class... A>
class module_instance<R(A...)> {
public:
    module_instance(std::shared_ptr<const detail::module_call<R, A...>> entry,
                    std::shared_ptr<detail::instance_state> state)
        : entry_(std::move(entry)), state_(std::move(state)) {}

    R operator()(A... arguments) const {
        program p(state_);
        return entry_->call(p, std::forward<A>(arguments)...);
    }
    balm::device device() const { return detail::device_of(*state_); }

    /// Whether both are the same module on the same device.
    friend bool operator==(const module_instance&, const module_instance&) = default;

private:
    detail::shared_state<const detail::module_call<R, A...>> entry_;
    detail::shared_state<detail::instance_state> state_;
};

/// Kernels, functions, constants and an entry, defined by a lambda that takes a module_builder& and returns
/// m.entry(…). The constructor runs the lambda once and throws its errors (those of a static module are
/// thrown by its first use). A handle: copies are the same module; safe to use from any thread. The memory of
/// its constants is freed with the last copy of the module and of its instances.
template <class R, class... A>
class module<R(A...)> {
public:
    template <class Definition>
    requires std::invocable<Definition&, module_builder&>
    explicit module(Definition&& define) : state_(detail::make_module()) {
        using made = std::invoke_result_t<Definition&, module_builder&>;
        static_assert(detail::is_module_entry<made>,
                      "Balm: the definition of a module must end with return m.entry(…)");
        using F = decltype(made::run);
        static_assert(
            std::is_invocable_r_v<R, const F&, program&, A...>,
            "Balm: a module's entry must take a balm::program& and the parameters of the module's signature, "
            "return its result, and not be mutable, as several threads may run it at once");
        try {
            module_builder m(state_);
            entry_ = std::make_shared<const detail::module_call_of<F, R, A...>>(define(m).run);
            detail::end_definition(*state_);
        } catch (...) {
            if (trace::main_has_begun()) throw;
            detail::fail_definition(*state_);
        }
    }

    /// The instance of the module on a device; every call returns the same one. The first call compiles the
    /// kernels and allocates the constants, initially zeros. Throws build_error, out_of_memory_error,
    /// usage_error if the device lacks what a kernel needs.
    module_instance<R(A...)> on(const balm::device& device) const {
        return instance(detail::instance_on(*state_, device));
    }

    const std::shared_ptr<detail::module_state>& state() const { return state_; }
    /// For the runtime.
    module_instance<R(A...)> instance(std::shared_ptr<detail::instance_state> on) const {
        return {entry_, std::move(on)};
    }

private:
    detail::shared_state<detail::module_state> state_;
    detail::shared_state<const detail::module_call<R, A...>> entry_;
};

}  // namespace balm
