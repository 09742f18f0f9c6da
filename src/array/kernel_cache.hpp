#pragma once
// The cache of the kernels of expressions. A hash finds candidates; the stored structure decides.

#include <any>
#include <functional>
#include <memory>

#include "array/layout.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/launch/device_kernel.hpp"

namespace balm::array {

/// The cache key of a kernel besides its expression, its leaves and the launch facts: any structure with ==
/// that table_hash adds. Its type says what kind of kernel it is.
class kernel_key {
public:
    template <class Key>
    kernel_key(const Key& key)  // NOLINT(google-explicit-constructor): any structure is a key
        : key_(&key),
          add_to_([](const void* of, runtime::table_hash& hash) { hash.add(*static_cast<const Key*>(of)); }),
          is_kind_of_([](const std::any& kept) { return std::any_cast<Key>(&kept) != nullptr; }),
          is_([](const void* of, const std::any& kept) {
              const Key* const other = std::any_cast<Key>(&kept);
              return other != nullptr && *other == *static_cast<const Key*>(of);
          }),
          copy_([](const void* of) { return std::any(*static_cast<const Key*>(of)); }) {}

    void add_to(runtime::table_hash& hash) const { add_to_(key_, hash); }
    bool is_kind_of(const std::any& kept) const { return is_kind_of_(kept); }
    bool is(const std::any& kept) const { return is_(key_, kept); }
    std::any copy() const { return copy_(key_); }

private:
    const void* key_;
    void (*add_to_)(const void*, runtime::table_hash&);
    bool (*is_kind_of_)(const std::any&);
    bool (*is_)(const void*, const std::any&);
    std::any (*copy_)(const void*);
};

/// The kernel of an expression on a device, lowered for the given facts; `trace` traces it on a cache miss.
/// The key says what the kernel does with the values. Holding the kernel keeps its program loaded.
std::shared_ptr<const kernels::device_kernel> kernel_for(
    runtime::device_state&, const kernel_key&, const tape&, const layout&, ir::launch_facts,
    const std::function<std::shared_ptr<const ir::function>()>& trace);

/// A table of `size` elements that kernels of a device read, keyed by its contents. The first call makes it
/// and has `fill` fill it; the device keeps it. Hold the table while kernels that read it are enqueued.
std::shared_ptr<vector_state> kept_table(runtime::device_state&, const kernel_key&, trace::type,
                                         std::size_t size, const std::function<void(vector_state&)>& fill);

/// The largest power of two of work-items, up to `most`, that a group of the kernel may have.
std::size_t group_size_of(const kernels::device_kernel&, std::size_t most);

}  // namespace balm::array
