#pragma once
// What an event handle refers to: the driver's event, and where in which queue it stands, so that the
// runtime can tell whether waiting for it needs the driver, the host, or nothing at all.

#include <cstdint>
#include <memory>

#include "runtime/backend.hpp"

namespace balm::runtime {

class queue_state;

struct event_state {
    event_handle driver;                    ///< the driver's event
    std::shared_ptr<driver_device> device;  ///< whose driver can chain on it
    std::weak_ptr<queue_state> queue;       ///< the queue of the command, while it lives
    std::uint64_t queue_id = 0;             ///< unique in the process
    std::uint64_t sequence = 0;             ///< of the command in its queue
};

}  // namespace balm::runtime
