#pragma once
// Hashes of structures, a field at a time, for tables in memory: a hash finds candidates, and == decides.

#include <bit>
#include <cstdint>

namespace balm::runtime {

class table_hash {
public:
    template <class... Fields>
    table_hash& add(const Fields&... each) {
        ((sum_ = std::rotl(sum_, 7) + static_cast<std::uint64_t>(each)), ...);
        return *this;
    }
    std::uint64_t value() const {
        const std::uint64_t mixed = sum_ * 0x9e3779b97f4a7c15u;
        return mixed ^ mixed >> 32;
    }

private:
    std::uint64_t sum_ = 0;
};

}  // namespace balm::runtime
