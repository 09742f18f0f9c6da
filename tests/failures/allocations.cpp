#include "failures/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "fake_drivers/faults.hpp"

namespace balm::test {

namespace {

constinit std::atomic<std::uint64_t> count{0}, fails_at{0};
constinit std::atomic<bool> of_all{false};
constinit std::atomic<std::int64_t> live{0};
constinit thread_local bool is_armed = false;

bool next_fails() {
    if (fails_at.load(std::memory_order_relaxed) == 0) return false;
    if (!is_armed && !of_all.load(std::memory_order_relaxed)) return false;
    return count.fetch_add(1) + 1 == fails_at.load();
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    const bool counts = !is_in_driver();
    if (counts && next_fails()) return nullptr;
    // Sizes are multiples of the alignment for aligned_alloc.
    void* const made = alignment == 0
                           ? std::malloc(bytes == 0 ? 1 : bytes)
                           : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (counts && made != nullptr) live.fetch_add(1, std::memory_order_relaxed);
    return made;
}

void release(void* memory) {
    if (memory != nullptr && !is_in_driver()) live.fetch_sub(1, std::memory_order_relaxed);
    std::free(memory);
}

void* required(void* made) {
    if (made == nullptr) throw std::bad_alloc();
    return made;
}

}  // namespace

void fail_allocation(std::uint64_t nth, threads of) {
    fails_at = 0;
    is_armed = nth != 0;
    of_all = nth != 0 && of == threads::all;
    count = 0;
    fails_at = nth;
}

bool allocation_has_failed() { return fails_at != 0 && count >= fails_at; }

std::int64_t live_allocations() { return live; }

}  // namespace balm::test

using balm::test::allocate;
using balm::test::release;
using balm::test::required;

void* operator new(std::size_t bytes) { return required(allocate(bytes, 0)); }
void* operator new[](std::size_t bytes) { return required(allocate(bytes, 0)); }
void* operator new(std::size_t bytes, std::align_val_t to) {
    return required(allocate(bytes, static_cast<std::size_t>(to)));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
    return required(allocate(bytes, static_cast<std::size_t>(to)));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
