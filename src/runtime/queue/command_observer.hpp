#pragma once
// The interface through which queues report their commands to observers: the profiler.

#include "runtime/backend.hpp"
#include "runtime/queue/command.hpp"

namespace balm::runtime {

class command_observer {
public:
    command_observer() = default;
    command_observer(const command_observer&) = delete;
    command_observer& operator=(const command_observer&) = delete;
    virtual ~command_observer() = default;
    /// This thread has enqueued a command; called with the queue locked.
    virtual void enqueued(const command&, const event_handle& done) noexcept = 0;
};

}  // namespace balm::runtime
