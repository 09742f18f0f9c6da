// Step 5, several devices: the same statements on all of them.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    const balm::context ctx(balm::filter::any);  // every device; balm::filter::gpu takes the GPUs
    const std::size_t n = 1 << 20;
    balm::vector<float> x(ctx, n), y(ctx, n);  // each device has a range of the elements

    x = balm::cast<float>(balm::element_index() % 1000);
    y = 2 * x + 1;  // each device computes its own
    std::cout << "sum " << balm::sum(balm::cast<double>(y)) << '\n';

    y = x[n - 1 - balm::element_index()];  // elements of other devices are copied where they are read
    std::cout << "first elements of the reverse: " << y[0] << ' ' << y[1] << ' ' << y[2] << '\n';

    // A kernel on each device's range.
    using namespace balm::dsl;
    auto square = balm::kernel<1>("square", [](InOut<float> v) {
        Index i = global_id(0);
        v[i] = v[i] * v[i];
    });
    std::size_t number = 0;
    for (const auto& part : x.parts()) {
        if (part.empty()) continue;
        part.device().execute(square(part), {part.size()});
        std::cerr << "device " << number++ << ": " << part.device().name() << ", " << part.size()
                  << " elements\n";
    }
    std::cout << "the last element squared: " << x[n - 1] << '\n';
}
