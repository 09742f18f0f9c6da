// Vectors over all devices of the machine, of any backend: expressions, views and reductions are written as
// for one device.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    // All devices; balm::filter::gpu would take only GPUs. Shares are proportional to measured bandwidths.
    const balm::context ctx(balm::filter::any);
    const std::size_t n = 1 << 20;
    balm::vector<double> x(ctx, n), y(ctx, n);

    x = balm::cast<double>(balm::element_index()) / n;
    y = x * x - 2 * x + 1;  // each device computes its elements
    std::cout << "smallest: " << balm::min(y) << ", at " << balm::arg_min(y).position << '\n';
    std::cout << "mean: " << balm::sum(y) / n << '\n';

    // In reverse order: elements are copied from other devices where necessary.
    y = x[n - 1 - balm::element_index()];
    std::cout << "x + its reverse: " << balm::min(x + y) << " to " << balm::max(x + y) << '\n';
    auto matrix = balm::view(y, {1024, 1024});
    matrix(balm::all, 0) = matrix(0, balm::all);

    // A kernel on each device's part.
    const auto square = balm::kernel<1>("square(x)", [](balm::dsl::InOut<double> v) {
        balm::dsl::Index i = balm::dsl::global_id(0);
        v[i] = v[i] * v[i];
    });
    std::size_t elements = 0;
    for (const auto& part : x.parts()) {
        if (!part.empty()) part.device().execute(square(part), {part.size()});
        elements += part.size();
    }
    std::cout << elements << " elements in parts; the last one squared is " << x[n - 1] << '\n';

    // Three quarters on the first device, the rest on the others.
    std::vector<double> weights(ctx.size(), ctx.size() > 1 ? 1.0 / static_cast<double>(ctx.size() - 1) : 0.0);
    weights[0] = 3;
    const balm::vector<double> z(ctx.weighted(weights), n, 0.5);
    std::cout << "sum of two partitions: " << balm::sum(z + y * 0) << '\n';
}
