// Step 4, kernels: what is not one value for each element, written as a C++ lambda.

#include <balm/balm.hpp>
#include <iostream>
#include <vector>

int main() {
    using namespace balm::dsl;  // Int, Float, In, Out, IF, range, global_id …

    // The middle one of three values, for kernels and expressions.
    auto median =
        balm::function("median", [](Float a, Float b, Float c) { return max(min(a, b), min(max(a, b), c)); });

    // Removes outliers: each element becomes the median of itself and its neighbours.
    auto smooth = balm::kernel<1>("smooth", [=](In<float> x, Int n, Out<float> y) {
        Int i = global_id(0);
        IF (i == 0 || i == n - 1) {
            y[i] = x[i];
        }
        ELSE { y[i] = median(x[i - 1], x[i], x[i + 1]); }
    });

    balm::context ctx;
    balm::device dev = ctx.device(0);
    const std::vector<float> measured{11, 12, 85, 13, 14, -40, 15, 16};  // two readings are wrong
    const int n = static_cast<int>(measured.size());
    balm::vector<float> x(ctx, measured), y(ctx, measured.size());

    balm::event done = dev.execute(smooth(x, n, y), {measured.size()});  // returns at once
    done.wait();
    std::cout << "smoothed: " << y << '\n';

    // The same function, element by element.
    y = median(x, 10.f, 20.f);
    std::cout << "clamped:  " << y << '\n';
}
