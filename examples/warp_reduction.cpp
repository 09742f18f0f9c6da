// Sums and maxima within warps of 32 work-items, in volatile local memory: what one lane writes, another
// reads in the next step.

#include <algorithm>
#include <balm/balm.hpp>
#include <iostream>
#include <random>
#include <vector>

namespace {

using namespace balm::dsl;

constexpr int lanes = lanes_of_sub_group;

/// op over the values of the lanes; every lane returns it. `shared` has an element for each lane.
template <class T, class Shared, class Op>
Var<T> reduce_warp(const Shared& shared, const Var<T>& value, Op op) {
    Int lane = named("lane", lane_id());
    shared[lane] = value;
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        // Lanes run in lockstep on few devices only; elsewhere this makes them wait for each other.
        sub_group_barrier();
        IF (lane < distance) {
            Var<T> mine = shared[lane], other = shared[lane + distance];
            shared[lane] = op(mine, other);
        }
    }
    sub_group_barrier();
    return shared[0];
}

template <class T, class Op>
auto make_kernel(const char* name, Op op) {
    return balm::kernel<1>(name, [=](In<T> input, Out<T> results, Local<T> shared) {
        // The warp's part of the local memory; volatile, so each access really reads or writes it.
        auto of_warp = as_volatile(shared) + sub_group_id() * lanes;
        Var<T> result = reduce_warp<T>(of_warp, input[global_id(0)], op);
        IF (lane_id() == 0) {
            results[global_id(0) / lanes] = result;
        }
    });
}

template <class T, class Kernel>
auto run(const balm::device& on, const Kernel& kernel, const std::vector<T>& values) {
    constexpr size_t group = 256;
    auto input = on.in_buffer<T>(values.size());
    auto results = on.out_buffer<T>(values.size() / lanes);
    input.write(values);
    on.execute(kernel(input, results, balm::local<T>(group)), {values.size()}, {group});
    return results.read();
}

}  // namespace

int main() {
    const auto sums =
        make_kernel<int>("warp_sums(input, results, shared)", [](Int a, Int b) { return a + b; });
    const auto maxima =
        make_kernel<float>("warp_maxima(input, results, shared)", [](Float a, Float b) { return max(a, b); });

    const size_t n = 1 << 16;
    std::mt19937 random(2026);
    std::vector<int> whole(n);
    std::vector<float> real(n);
    for (int& x : whole) x = static_cast<int>(random() % 1000);
    for (float& x : real) x = std::uniform_real_distribution<float>(-1, 1)(random);

    balm::context ctx;
    const auto got_sums = run(ctx.device(0), sums, whole);
    const auto got_maxima = run(ctx.device(0), maxima, real);
    size_t wrong = 0;
    for (size_t warp = 0; warp < n / lanes; ++warp) {
        int sum = 0;
        float maximum = -1;
        for (size_t i = warp * lanes; i < (warp + 1) * lanes; ++i) {
            sum += whole[i];
            maximum = std::max(maximum, real[i]);
        }
        wrong += got_sums[warp] != sum || got_maxima[warp] != maximum;
    }
    std::cout << n / lanes << " warps, " << wrong << " wrong\n";
    return wrong == 0 ? 0 : 1;
}
