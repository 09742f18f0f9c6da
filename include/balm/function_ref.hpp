#pragma once
// A non-owning reference to a callable, for parameters: it needs neither <functional> nor an allocation.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace balm::detail {

template <class Signature>
class function_ref;

/// Does not own the callable, which must outlive it.
template <class R, class... A>
class function_ref<R(A...)> {
public:
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, A...>)
        function_ref(F&& callable)  // NOLINT(google-explicit-constructor)
        : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* which, A... arguments) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(which))(std::forward<A>(arguments)...);
          }) {}

    R operator()(A... arguments) const { return call_(callable_, std::forward<A>(arguments)...); }

private:
    void* callable_;
    R (*call_)(void*, A...);
};

}  // namespace balm::detail
