// The scopes of a thread form a linked list, the innermost first.

#include <utility>

#include "balm/queue.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm {

namespace {

constinit thread_local queue_scope* innermost = nullptr;

}  // namespace

queue_scope::queue_scope(const queue& on) : queue_(on.state()), outer_(std::exchange(innermost, this)) {}

queue_scope::~queue_scope() {
    queue_scope** link = &innermost;
    while (*link != nullptr && *link != this) link = &(*link)->outer_;
    if (*link != nullptr) *link = outer_;
}

const std::shared_ptr<runtime::queue_state>* queue_scope::named_for(
    const runtime::device_state& device) noexcept {
    for (const queue_scope* each = innermost; each != nullptr; each = each->outer_)
        if (&each->queue_->device() == &device) return &each->queue_;
    return nullptr;
}

}  // namespace balm
