#pragma once
// A command that its driver cannot have yet: it waits for an event of another backend, for one that the
// program sets, or for a command that waits itself. It keeps all that it needs until it is handed over.

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
    /// What was written last when the command was enqueued, to be read by it.
    struct source {
        std::shared_ptr<const storage> memory;
        command_id writer;
    };

    std::uint64_t sequence = 0;
    std::vector<event> late;            ///< what to wait for on the host
    std::vector<command_id> conflicts;  ///< commands of other queues that the driver did not have either
    std::vector<event_handle> events;   ///< what the driver can wait for
    std::vector<command_id> reached;    ///< the commands that they cover
    std::vector<source> reads;
    owned_command what;
    std::shared_ptr<promised_event> made;
    bool event_is_kept = false;  ///< somebody will hear of a failure through the event
    std::uint64_t thread = 0;    ///< that enqueued it, and hears of it else
};

}  // namespace balm::runtime
