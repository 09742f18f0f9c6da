#pragma once
// What decides a kernel besides its expression, its leaves and what is known of the launch: a structure of
// the caller's, whichever kernels it makes.

#include <any>
#include <cstdint>
#include <typeinfo>

#include "runtime/table_hash.hpp"

namespace balm::array {

/// Refers to a structure, which is compared by == and hashed by its add_to.
class kernel_key {
public:
    template <class Key>
    kernel_key(const Key& key)  // NOLINT(google-explicit-constructor): any structure is a key
        : key_(&key),
          type_(&typeid(Key)),
          add_to_(
              [](const void* of, runtime::table_hash& hash) { static_cast<const Key*>(of)->add_to(hash); }),
          is_([](const void* of, const std::any& kept) {
              const Key* const other = std::any_cast<Key>(&kept);
              return other != nullptr && *other == *static_cast<const Key*>(of);
          }),
          copy_([](const void* of) { return std::any(*static_cast<const Key*>(of)); }) {}

    void add_to(runtime::table_hash& hash) const { add_to_(key_, hash); }
    bool is(const std::any& kept) const { return is_(key_, kept); }
    /// Whether both are of the same kind of kernels.
    bool is_of_kind(const std::any& kept) const { return kept.type() == *type_; }
    std::any copy() const { return copy_(key_); }

private:
    const void* key_;
    const std::type_info* type_;
    void (*add_to_)(const void*, runtime::table_hash&);
    bool (*is_)(const void*, const std::any&);
    std::any (*copy_)(const void*);
};

}  // namespace balm::array
