#include "runtime/print_outlet.hpp"

#include <iostream>

namespace balm::runtime {

std::shared_ptr<print_outlet> make_standard_outlet() {
    auto outlet = std::make_shared<print_outlet>();
    outlet->write = [](std::string_view text) { std::cout << text; };
    return outlet;
}

}  // namespace balm::runtime
