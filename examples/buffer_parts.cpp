// Parts of buffers: ranges, regions of a matrix, elements as another type, and parts as kernel arguments.

#include <balm/balm.hpp>
#include <iostream>
#include <numeric>
#include <vector>

namespace {

void show(const char* what, const balm::host_array<int>& values) {
    std::cout << what << '\n';
    const size_t columns = values.shape()[values.shape().dimensions() - 1];
    for (size_t i = 0; i < values.size(); ++i)
        std::cout << (i % columns == 0 ? "  " : " ") << values[i] << ((i + 1) % columns == 0 ? "\n" : "");
}

}  // namespace

int main() {
    using namespace balm::dsl;

    balm::context ctx;
    balm::device dev = ctx.device(0);

    // Contiguous elements: [first, last), or open at either end.
    auto line = dev.mixed_buffer<int>(12);
    std::vector<int> numbers(12);
    std::iota(numbers.begin(), numbers.end(), 0);
    line.write(numbers);
    line.range(2, 4).write({20, 30});
    line.from(8).copy_to(line.until(4));         // within one buffer
    line.range(0, 6).copy_to(line.range(1, 7));  // ranges may overlap
    line.from(10).fill(-1);
    show("line:", line.read());

    // Boxes of a matrix: origin and extents, rows first.
    auto matrix = dev.mixed_buffer<int>(4, 6);
    matrix.fill(0);
    matrix.region({0, 5}, {4, 1}).write({1, 2, 3, 4});                     // the last column
    matrix.region({3, 0}, {1, 6}).fill(9);                                 // the last row
    matrix.region({2, 4}, {2, 2}).copy_to(matrix.region({0, 0}, {2, 2}));  // a corner to the opposite one
    show("matrix:", matrix.read());
    show("its last column:", matrix.region({0, 5}, {4, 1}).read());

    // A kernel's argument begins where the part begins.
    auto sums = balm::kernel<1>("sums(a, b, out)", [](In<int> a, In<int> b, Out<int> out) {
        Index i = global_id(0);
        out[i] = a[i] + b[i];
    });
    dev.execute(sums(line.until(3), line.range(6, 9), line.from(9)), {3});
    show("line:", line.read());

    // The same memory by pointer, and as vectors.
    balm::device_pointer<int> p(line);
    show("pairs from element 6 on:", (p + 6).as<balm::int2>().as<int>().range(6).reshaped({3, 2}).read());
}
