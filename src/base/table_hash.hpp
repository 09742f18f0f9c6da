#pragma once
// Hashes of structures for tables in memory: a hash finds candidates, and == decides.

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>

#include "base/members.hpp"

namespace balm::runtime {

/// Adds numbers and enumerations as they are, ranges and plain structures by their members. Other types say
/// what counts: x.add_to(hash), or code(x), a number found by argument-dependent lookup.
class table_hash {
public:
    template <class... Values>
    table_hash& add(const Values&... all) {
        (add_one(all), ...);
        return *this;
    }
    std::uint64_t value() const {
        const std::uint64_t mixed = sum_ * 0x9e3779b97f4a7c15u;
        return mixed ^ mixed >> 32;
    }

private:
    template <class T>
    void add_one(const T& value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            sum_ = std::rotl(sum_, 7) + static_cast<std::uint64_t>(value);
        else if constexpr (requires { value.add_to(*this); })
            value.add_to(*this);
        else if constexpr (requires {
                               { code(value) } -> std::integral;
                           })
            add_one(code(value));
        else if constexpr (std::ranges::range<T>)
            add_range(value);
        else
            with_members(value, [this](const auto&... members) { this->add(members...); });
    }
    template <class Range>
    void add_range(const Range& values) {
        std::uint64_t count = 0;
        for (const auto& each : values) {
            add_one(each);
            ++count;
        }
        add_one(count);
    }
    template <class T>
    void add_one(const std::optional<T>& value) {
        add(value.has_value(), value.value_or(T{}));
    }

    std::uint64_t sum_ = 0;
};

}  // namespace balm::runtime
