#include "support/interpreter_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace balm::test {

std::uint64_t interpreter_memory::allocate(space where, std::size_t bytes, bool is_zeroed) {
    auto own = std::make_unique<std::uint64_t[]>(std::max<std::size_t>(bytes, 1) / 8 + 1);
    std::memset(own.get(), is_zeroed ? 0 : 0xa5, bytes);
    const auto address = reinterpret_cast<std::uint64_t>(own.get());
    blocks_[address] = {bytes, where, std::move(own)};
    return address;
}

std::uint64_t interpreter_memory::adopt(space where, std::span<std::byte> memory) {
    const auto address = reinterpret_cast<std::uint64_t>(memory.data());
    blocks_[address] = {memory.size(), where, nullptr};
    return address;
}

std::byte* interpreter_memory::find(std::uint64_t address, std::size_t bytes, space where) const {
    const auto after = blocks_.upper_bound(address);
    if (after != blocks_.begin()) {
        const auto& [begin, found] = *std::prev(after);
        const std::uint64_t offset = address - begin;
        const bool is_inside = offset <= found.bytes && bytes <= found.bytes - offset;
        if (is_inside && found.where == where) return reinterpret_cast<std::byte*>(address);
    }
    throw std::runtime_error(
        fmt::format("interpreter: no {} bytes of this address space are at this pointer", bytes));
}

}  // namespace balm::test
