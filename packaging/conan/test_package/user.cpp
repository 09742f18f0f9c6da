// A machine that builds packages need not have a device.

#include <balm/balm.hpp>

#include <iostream>

int main() {
    try {
        const balm::context where;
        balm::vector<float> x(where, 1000);
        x = balm::cast<float>(balm::element_index(0, 1000));
        std::cout << "sum: " << balm::sum(x) << '\n';
        return balm::sum(x) == 499500 ? 0 : 1;
    } catch (const balm::error& fault) {
        std::cout << fault.what() << '\n';
    }
}
