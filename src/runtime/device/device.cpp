// The handles of devices and queues, which forward calls to the runtime's state.

#include "balm/device.hpp"

#include <ostream>

#include "runtime/device/device_state.hpp"

namespace balm {

const device_info& device::info() const { return state_->info(); }

std::ostream& device::write(std::ostream& to, const device& of) {
    return to << of.name() << " (" << to_string(of.info().api) << ')';
}

queue device::queue() const { return balm::queue(state_->default_queue_handle()); }

queue device::make_queue(bool timing) const { return balm::queue(state_->make_queue({timing})); }

copy_path device::copies_from(const device& other) const {
    return other == *this ? copy_path::within_device : state_->driver().path_from(other.state_->driver());
}

void device::finish() const { state_->finish(); }

memory_statistics device::memory() const { return state_->statistics(); }
void device::reset_high_water() const { state_->reset_high_water(); }
std::size_t device::trim(std::size_t keep) const {
    state_->free_retired();
    state_->trim_staging();
    return state_->pool().trim(keep);
}
void device::set_memory_cache(std::size_t bytes) const { state_->pool().set_limit(bytes); }
void device::free() const { state_->free(); }

void queue::flush() { state_->flush(); }

void queue::finish() { state_->finish(); }

event queue::record_after(const wait_list& waits) { return state_->record(waits.events()); }

device queue::device() const { return balm::device(state_->device().shared_from_this()); }

}  // namespace balm
