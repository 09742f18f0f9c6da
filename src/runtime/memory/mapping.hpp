#pragma once
// RAII of device memory mapped into the host's: by the driver where it can, else a copy in pinned memory that
// is written back.

#include <cstddef>
#include <memory>
#include <span>

#include "balm/event.hpp"
#include "runtime/memory/pinned_block.hpp"
#include "runtime/memory/storage.hpp"

namespace balm::runtime {

class mapping {
public:
    /// Waits until the host may touch the bytes. bytes may be 0.
    mapping(std::shared_ptr<storage>, std::size_t offset, std::size_t bytes, map_use,
            std::span<const event> waits);
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;
    /// Gives the memory back; errors go to the device.
    ~mapping();

    void* data() const { return address_; }
    /// Gives the memory back, once; the event of it.
    event release();

private:
    use use_of_memory() const { return use_ == map_use::read ? use::read : use::write; }

    std::shared_ptr<storage> storage_;
    std::size_t offset_;
    std::size_t bytes_;
    map_use use_;
    void* address_ = nullptr;                // null: nothing is mapped, or it was given back
    std::shared_ptr<pinned_block> staging_;  // where the driver does not map
};

}  // namespace balm::runtime
