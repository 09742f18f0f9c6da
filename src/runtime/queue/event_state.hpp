#pragma once
// What an event handle refers to: the driver's event, and where in which queue it stands, so that the
// runtime can tell whether waiting for it needs the driver, the host, or nothing at all.

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
    event_handle driver;                        ///< the driver's event, or what stands for it
    std::shared_ptr<driver_device> device;      ///< whose driver can chain on it; null for a user event
    std::weak_ptr<queue_state> queue;           ///< the queue of the command, while it lives
    std::uint64_t queue_id = 0;                 ///< unique in the process
    std::uint64_t sequence = 0;                 ///< of the command in its queue
    std::shared_ptr<promised_event> promise{};  ///< `driver`, where the runtime made it before the driver
    event_handle begin{};  ///< of several commands that are one to the user: the first's event, for its times
};

/// The same event, to be waited for by the host alone: what a command reads from host memory must be there
/// when it is handed to the driver, since CUDA reads pageable memory at once, whatever its stream has yet to
/// wait for.
event host_only(const event&);

/// What an exception says.
std::string words_of(const std::exception_ptr&);

}  // namespace balm::runtime
