#pragma once
// What the handles to devices, queues, kernels and the like share, and what is said of objects that were
// moved from.

#include <concepts>
#include <memory>
#include <utility>

namespace balm::detail {

/// The state that the copies of a handle share. Moving copies it, so that a handle stays valid when it is
/// moved from: there is no handle without a state to be checked for.
template <class State>
class shared_state : public std::shared_ptr<State> {
public:
    shared_state() = default;
    template <class S>
    requires std::convertible_to<S*, State*> shared_state(std::shared_ptr<S> state)
    noexcept  // NOLINT
        : std::shared_ptr<State>(std::move(state)) {}
    shared_state(const shared_state&) noexcept = default;
    shared_state& operator=(const shared_state&) noexcept = default;
    ~shared_state() = default;
};

/// Throws usage_error: an object that owns memory, or refers to some, is used after it was moved from.
[[noreturn]] void moved_from(const char* what);

}  // namespace balm::detail
