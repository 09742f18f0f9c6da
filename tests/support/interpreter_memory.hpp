#pragma once
// The memory that an interpreted kernel may touch: blocks, each in an address space. A pointer is an address
// of the host.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "balm/device_type.hpp"

namespace balm::test {

class interpreter_memory {
public:
    /// Memory of its own that begins as zeros, or as bytes that no program counts on.
    std::uint64_t allocate(space, std::size_t bytes, bool is_zeroed);
    void free(std::uint64_t address) { blocks_.erase(address); }
    /// Memory of the caller's.
    std::uint64_t adopt(space, std::span<std::byte>);

    /// The bytes at an address. Throws std::runtime_error unless all of them lie in one block of the space.
    std::byte* find(std::uint64_t address, std::size_t bytes, space) const;

private:
    struct block {
        std::size_t bytes = 0;
        space where = space::global;
        std::unique_ptr<std::uint64_t[]> own;
    };
    std::map<std::uint64_t, block> blocks_;
};

}  // namespace balm::test
