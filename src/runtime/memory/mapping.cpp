// Maps and unmaps through the device's default queue.

#include "runtime/memory/mapping.hpp"

#include <exception>
#include <utility>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

mapping::mapping(std::shared_ptr<storage> mapped, std::size_t offset, std::size_t bytes, map_use how,
                 std::span<const event> waits)
    : storage_(std::move(mapped)), offset_(offset), bytes_(bytes), use_(how) {
    for (const event& each : waits) each.wait();
    if (bytes_ == 0) return;
    device_state& device = storage_->device();
    queue_state& queue = device.default_queue();
    if (device.driver().maps_memory() || storage_->address() != nullptr) {
        event made;
        address_ = queue.enqueue_map(*storage_, offset_, bytes_, use_, {}, &made);
        try {
            made.wait();
            if (storage_->address() != nullptr &&
                address_ != static_cast<std::byte*>(storage_->address()) + offset_)
                throw device_error("The driver mapped managed memory at an address other than its own.");
        } catch (...) {
            queue.unmap_quietly(*storage_, address_, use_of_memory());
            throw;
        }
        return;
    }
    storage_->check_usable(use_of_memory());
    staging_ = device.allocate_pinned(bytes_);
    if (use_ != map_use::overwrite) queue.read(staging_->data(), *storage_, offset_, bytes_);
    storage_->begin_mapping(use_of_memory());
    address_ = staging_->data();
}

mapping::~mapping() {
    if (address_ == nullptr) return;
    try {
        release();
    } catch (...) {
        storage_->end_mapping(use_of_memory());
        storage_->device().note_late_error(std::current_exception());
    }
}

event mapping::release() {
    event made;
    if (address_ == nullptr) return made;
    queue_state& queue = storage_->device().default_queue();
    if (staging_ == nullptr) {
        queue.enqueue_unmap(*storage_, address_, use_of_memory(), &made);
    } else {
        if (use_ == map_use::read)
            storage_->end_mapping(use_of_memory());
        else
            queue.enqueue_write(*storage_, offset_, address_, bytes_, {staging_, true}, {}, &made,
                                use_of_memory());
    }
    staging_.reset();
    address_ = nullptr;
    return made;
}

}  // namespace balm::runtime
