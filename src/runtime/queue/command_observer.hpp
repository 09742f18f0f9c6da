#pragma once
// What queues tell of their commands to whom it may concern: the profiler.

#include "runtime/backend.hpp"
#include "runtime/queue/command.hpp"

namespace balm::runtime {

class command_observer {
public:
    command_observer() = default;
    command_observer(const command_observer&) = delete;
    command_observer& operator=(const command_observer&) = delete;
    virtual ~command_observer() = default;
    /// A command has been enqueued by this thread; called with the queue locked.
    virtual void enqueued(const command&, const event_handle& done) noexcept = 0;
};

}  // namespace balm::runtime
