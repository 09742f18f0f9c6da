#pragma once
// RAII for device memory that is mapped to the host: by the driver if it can, else as a copy in pinned memory
// that is written back.

#include <cstddef>
#include <memory>
#include <span>

#include "balm/event.hpp"
#include "runtime/memory/pinned_block.hpp"
#include "runtime/memory/storage.hpp"

namespace balm::runtime {

class mapping {
public:
    /// Waits until the host may access the bytes. bytes may be 0.
    mapping(std::shared_ptr<storage>, std::size_t offset, std::size_t bytes, map_use,
            std::span<const event> waits);
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;
    /// Releases the mapping; the device keeps errors.
    ~mapping();

    void* data() const { return address_; }
    /// Releases the mapping, once; returns the event of the release.
    event release();

private:
    use use_of_memory() const { return use_ == map_use::read ? use::read : use::write; }

    std::shared_ptr<storage> storage_;
    std::size_t offset_;
    std::size_t bytes_;
    map_use use_;
    void* address_ = nullptr;                // null: nothing is mapped, or it was released
    std::shared_ptr<pinned_block> staging_;  // if the driver does not map
};

}  // namespace balm::runtime
