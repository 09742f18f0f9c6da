#pragma once
// The program's operator new, which fails where a test asks for it.

#include <cstdint>

namespace balm::test {

enum class threads : std::uint8_t { this_one, all };

/// The n-th allocation from now on throws std::bad_alloc, of this thread or of all; 0: none does. Those
/// inside drivers count for nothing.
void fail_allocation(std::uint64_t nth, threads of = threads::this_one);
bool allocation_has_failed();
/// Allocations that live, but for those that drivers have made.
std::int64_t live_allocations();

}  // namespace balm::test
