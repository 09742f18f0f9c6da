#include "fake_drivers/kernels.hpp"

namespace balm::test {

namespace {

using parameters = std::array<std::uint64_t, 2>;

int* ints(std::uint64_t address) { return reinterpret_cast<int*>(address); }

constexpr known_kernel known[] = {
    {"add_to",
     {sizeof(int), sizeof(int*)},
     [](std::size_t items, const parameters& given) {
         for (std::size_t i = 0; i < items; ++i) ints(given[1])[i] += static_cast<int>(given[0]);
     }},
    {"twice",
     {sizeof(int*), sizeof(int*)},
     [](std::size_t items, const parameters& given) {
         for (std::size_t i = 0; i < items; ++i) ints(given[1])[i] = 2 * ints(given[0])[i];
     }},
};

}  // namespace

const known_kernel* find_kernel(std::string_view name) {
    for (const known_kernel& each : known)
        if (name.find(each.name) != std::string_view::npos) return &each;
    return nullptr;
}

}  // namespace balm::test
