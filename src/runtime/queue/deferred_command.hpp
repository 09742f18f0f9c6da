#pragma once
// A command that cannot be submitted to its driver yet: it waits for an event of another backend, for a user
// event, or for another deferred command. It owns everything it needs until it is submitted.

#include <cstdint>
#include <memory>
#include <vector>

#include "balm/event.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/queue/command.hpp"

namespace balm::runtime {

class promised_event;

struct deferred_command {
    /// Memory that the command reads, and its last writer when the command was enqueued.
    struct source {
        std::shared_ptr<const storage> memory;
        command_id writer;
    };

    std::uint64_t sequence = 0;
    std::vector<event> late;            ///< events to wait for on the host
    std::vector<command_id> conflicts;  ///< commands of other queues that were deferred, too
    std::vector<event_handle> events;   ///< events that the driver can wait for
    std::vector<command_id> reached;    ///< the commands that they cover
    std::vector<source> reads;
    owned_command what;
    std::shared_ptr<promised_event> made;
    bool event_is_kept = false;  ///< a failure is reported through the event
    std::uint64_t thread = 0;    ///< that enqueued it; a failure is else reported to it
};

}  // namespace balm::runtime
