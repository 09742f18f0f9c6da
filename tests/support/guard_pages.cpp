// Buffers of CPU devices begin or end, in turn, at a page that nothing may touch: a kernel that reads or
// writes beyond one ends the process instead of finding something there. So does one that uses a buffer that
// was freed: no address is used twice. PoCL allocates buffers with posix_memalign, which this program defines
// in the C library's place. Balm rounds their sizes up (memory_pool.cpp); what is within that is not noticed.

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t arena_bytes = std::size_t{1} << 44;  // of addresses; only pages in use take memory
constexpr std::size_t most_filled = std::size_t{16} << 20;
/// Blocks in use that have guard pages, at most: each takes up to four of the 65,530 mappings of a process,
/// and PoCL allocates several of them for each command that waits. The C library allocates the rest.
constexpr std::size_t most_blocks = 8000;

/// Null until it is initialized, and where there are no such addresses: then the C library allocates.
std::byte* const arena = [] {
    void* const made =
        ::mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
}();
std::atomic<std::size_t> used{0}, allocations{0}, blocks{0};

bool is_in_arena(const std::byte* p) {
    const std::less<> less;
    return arena != nullptr && !less(p, arena) && less(p, arena + arena_bytes);
}

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A block: a page that has the number of bytes of its body, a guard page, the body, a guard page. What was
// allocated begins in the body's first page.

void* guarded(std::size_t alignment, std::size_t bytes) {
    if (arena == nullptr || bytes == 0 || bytes > arena_bytes / 2 || alignment > page) return nullptr;
    if (blocks >= most_blocks) return nullptr;
    const std::size_t aligned = rounded_up(bytes, alignment), body = rounded_up(aligned, page);
    const std::size_t begin = used.fetch_add(body + 3 * page);
    if (begin > arena_bytes / 2) return nullptr;
    std::byte* const block = arena + begin;
    if (::mprotect(block, page, PROT_READ | PROT_WRITE) != 0 ||
        ::mprotect(block + 2 * page, body, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    ++blocks;
    std::memcpy(block, &body, sizeof body);
    std::memset(block + 2 * page, 0xa5, std::min(body, most_filled));
    return block + 2 * page + (allocations++ % 2 == 0 ? 0 : body - aligned);
}

void release(std::byte* p) {
    std::byte* const block = arena + (p - arena) / page * page - 2 * page;
    std::size_t body = 0;
    std::memcpy(&body, block, sizeof body);
    ::madvise(block, body + 3 * page, MADV_DONTNEED);
    ::mprotect(block, body + 3 * page, PROT_NONE);
    --blocks;
}

/// The C library's function. Not a local static: the loader may free something before it answers.
template <class Function>
Function* of_the_library(std::atomic<Function*>& known, const char* name) {
    if (known == nullptr) known = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    return known;
}
constinit std::atomic<int (*)(void**, std::size_t, std::size_t)> next_posix_memalign{nullptr};
constinit std::atomic<void (*)(void*)> next_free{nullptr};

}  // namespace

extern "C" int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
    *to = guarded(alignment, bytes);
    return *to != nullptr ? 0 : of_the_library(next_posix_memalign, "posix_memalign")(to, alignment, bytes);
}

extern "C" void free(void* p) noexcept {
    auto* const bytes = static_cast<std::byte*>(p);
    if (is_in_arena(bytes))
        release(bytes);
    else
        of_the_library(next_free, "free")(p);
}
