#pragma once
// Assignments on queues other than those of the vector.

#include <memory>
#include <utility>
#include <vector>

#include "vexcl/detail/assignments.hpp"
#include "vexcl/detail/queue_list.hpp"
#include "vexcl/detail/tied_assignment.hpp"
#include "vexcl/util.hpp"

namespace vex {
namespace detail {

/// Assigns to the target on these queues.
template <class Target>
class enqueued {
public:
    enqueued(const std::vector<command_queue>& on, Target& target)
        : on_(on), target_(std::addressof(target)) {}
    template <class A>
    const Target& operator=(const A& a) const {  // NOLINT(misc-unconventional-assign-operator)
        const on_queues scope(on_);
        target() = a;
        return *target_;
    }
#define VEX_COMPOUND(symbol, operation)               \
    template <class A>                                \
    const Target& operator symbol(const A& a) const { \
        const on_queues scope(on_);                   \
        target() symbol a;                            \
        return *target_;                              \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

private:
    /// A tuple's elements are assigned together, by one kernel.
    decltype(auto) target() const {
        if constexpr (is_tuple<Target>::value)
            return std::apply([](const auto&... each) { return vex::tie(each...); }, *target_);
        else
            return (*target_);
    }

    std::vector<command_queue> on_;
    Target* target_;
};

}  // namespace detail

/// The target, for one assignment on these queues instead of its own.
///
///     vex::enqueue(second_queue, x) = 2 * y;
template <class Target>
detail::enqueued<Target> enqueue(const std::vector<command_queue>& queues, Target& target) {
    return {queues, target};
}

}  // namespace vex
