#pragma once
// What an event handle refers to: the driver's event and its position in its queue, so that the runtime can
// decide whether a dependency on it needs the driver, the host, or nothing at all.

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "balm/event.hpp"
#include "runtime/backend.hpp"

namespace balm::runtime {

class promised_event;
class queue_state;

struct event_state {
    event_handle driver;                        ///< the driver's event, or a substitute for it
    std::shared_ptr<driver_device> device;      ///< whose driver can wait for it; null for a user event
    std::weak_ptr<queue_state> queue;           ///< the queue of the command, while it is alive
    std::uint64_t queue_id = 0;                 ///< unique in the process
    std::uint64_t sequence = 0;                 ///< of the command in its queue
    std::shared_ptr<promised_event> promise{};  ///< `driver`, if the runtime created it before the driver
    event_handle begin{};  ///< of several commands that are one to the user: the first's event, for its times
};

/// The same event, for waits on the host only: host memory that a command reads must be complete when the
/// command is submitted, since CUDA reads pageable memory immediately, whatever its stream still waits for.
event host_only(const event&);

/// The message of an exception.
std::string words_of(const std::exception_ptr&);

}  // namespace balm::runtime
