#pragma once
// Reductions to bool: whether any element, or every element, is true.

#include <vector>

#include "vexcl/reductor.hpp"

namespace vex {

/// Whether any element of an expression is nonzero.
///
///     vex::any_of any_of(ctx);
///     if (any_of(x > 3)) …
class any_of {
public:
    any_of(const std::vector<command_queue>& queues = current_context().queue())
        : queues_(queues) {}  // NOLINT
    template <detail::vexpr A>
    bool operator()(const A& a) const {
        const detail::on_queues scope(queues_);
        return balm::any(detail::reducible(detail::lower(a), detail::queues_of(a), queues_));
    }

private:
    detail::queue_list queues_;
};
/// Whether every element of an expression is nonzero.
class all_of {
public:
    all_of(const std::vector<command_queue>& queues = current_context().queue())
        : queues_(queues) {}  // NOLINT
    template <detail::vexpr A>
    bool operator()(const A& a) const {
        const detail::on_queues scope(queues_);
        return balm::all(detail::reducible(detail::lower(a), detail::queues_of(a), queues_));
    }

private:
    detail::queue_list queues_;
};

}  // namespace vex
