#pragma once
// Objects of other libraries that hold an OpenCL handle: those of OpenCL's C++ bindings (cl::CommandQueue)
// and of Boost.Compute (boost::compute::command_queue). Their headers are not needed.

#include "vexcl/detail/opencl.hpp"

#include <concepts>
#include <type_traits>

namespace vex {
namespace detail {

/// A class whose objects share ownership of a handle, and are constructed from it.
template <class W, class Handle>
concept handle_class = std::is_class_v<W> && std::constructible_from<W, Handle, bool> &&
    requires(const W& w) {
    { w.get() } -> std::convertible_to<Handle>;
};
/// A handle, or an object of such a class.
template <class A, class Handle>
concept handle_argument = std::same_as<A, Handle> || handle_class<A, Handle>;

template <class Handle, handle_argument<Handle> A>
Handle handle_in(const A& a) {
    if constexpr (std::same_as<A, Handle>)
        return a;
    else
        return a.get();
}

}  // namespace detail
}  // namespace vex

/// In a class with raw(): conversions to classes that hold its handle, which then retain it.
#define VEX_CONVERTS_TO_HOLDERS_OF(Handle)                         \
    template <vex::detail::handle_class<Handle> W>                 \
    operator W() const { /* NOLINT(google-explicit-constructor) */ \
        return W(raw(), true);                                     \
    }
