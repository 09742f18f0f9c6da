#pragma once
// Events, markers and barriers, for programs that order work between queues.

#include <vector>

#include <balm/event.hpp>

#include "vexcl/backend/context.hpp"

namespace vex {
namespace backend {

typedef balm::event event;
typedef std::vector<event> wait_list;

inline void wait_list_append(wait_list& list, const event& next) { list.push_back(next); }
inline void wait_list_append(wait_list& list, const wait_list& more) {
    list.insert(list.end(), more.begin(), more.end());
}
/// An event that completes once all commands so far, and the given events, have completed. Later commands of
/// the queue wait for them.
inline event enqueue_marker(const command_queue& queue, const wait_list& after = {}) {
    balm::wait_list all;
    for (const event& each : after) all.add(balm::wait_list(each));
    return balm::queue(queue.balm_queue()).record(all);
}
/// The same.
inline event enqueue_barrier(const command_queue& queue, const wait_list& after = {}) {
    return enqueue_marker(queue, after);
}
/// Waits until all have completed.
inline void wait_for_events(const wait_list& events) {
    for (const event& each : events) event(each).wait();
}

}  // namespace backend
}  // namespace vex
