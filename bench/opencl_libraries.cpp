// Balm against Boost.Compute and ViennaCL on the same OpenCL device. CMake looks for their headers; libraries
// that it does not find are left out.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "peer_opencl_libraries.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 1.0;
constexpr int pairs = 15;

// Some of these are unused if a library is missing.
[[maybe_unused]] peer::opencl_device as_peer(const balm::device& on) {
    return {on.info().platform.c_str(), on.name().c_str()};
}
[[maybe_unused]] std::uint32_t hash(std::size_t k) {
    auto h = static_cast<std::uint32_t>(k) * 2654435769u;
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}

/// Compares Balm's work with a library's, each timed after its preparation.
[[maybe_unused]] void compare(benchmark::State& state, const balm::device& on, peer::library_work& theirs,
                              const std::function<void()>& prepare, const std::function<void()>& ours) {
    for (auto iteration : state) {
        static_cast<void>(iteration);
        std::vector<double> own, other, ratios;
        for (int k = 0; k < pairs; ++k) {
            prepare();
            on.finish();
            own.push_back(seconds([&] {
                ours();
                on.finish();
            }));
            theirs.prepare();
            other.push_back(seconds([&] { theirs.run(); }));
            ratios.push_back(other.back() / own.back());
        }
        report(state, {median(own), median(other), median(ratios)}, bar);
    }
}

/// Registers f(state, device) for each OpenCL device; an exception becomes the benchmark's error.
template <class F>
void on_opencl_devices(const std::string& name, F f) {
    const auto is_opencl = [](const balm::device& on) { return on.info().api == balm::backend::opencl; };
    on_devices_that(is_opencl, name, [f](benchmark::State& state, const balm::device& on) {
        try {
            f(state, on);
        } catch (const std::exception& fault) {
            state.SkipWithError(fault.what());
        }
    });
}

#ifdef BALM_BENCH_BOOST_COMPUTE

std::vector<std::uint32_t> hashed(std::size_t n) {
    std::vector<std::uint32_t> made(n);
    for (std::size_t k = 0; k < n; ++k) made[k] = hash(k);
    return made;
}
/// Whether the library's result equals Balm's.
template <class T>
bool agrees(peer::library_work& theirs, const balm::vector<T>& ours) {
    std::vector<T> got(ours.size());
    theirs.read(got.data(), got.size());
    const auto own = ours.to_host();
    return std::equal(got.begin(), got.end(), own.begin());
}

void measure_scan(benchmark::State& state, const balm::device& on, std::size_t n) {
    const std::vector<std::uint32_t> values = hashed(n);
    const balm::context ctx({on});
    const balm::vector<std::uint32_t> x(ctx, values);
    balm::vector<std::uint32_t> y(ctx, n);
    const auto theirs = peer::boost_compute::inclusive_scan(as_peer(on), values.data(), n);
    const auto ours = [&] { y = balm::inclusive_scan(x); };
    ours();
    theirs->run();
    if (!agrees(*theirs, y)) return state.SkipWithError("the results differ");
    compare(
        state, on, *theirs, [] {}, ours);
}

void measure_sort(benchmark::State& state, const balm::device& on, std::size_t n) {
    const std::vector<std::uint32_t> values = hashed(n);
    const balm::context ctx({on});
    const balm::vector<std::uint32_t> from(ctx, values);
    balm::vector<std::uint32_t> x(ctx, n);
    const auto theirs = peer::boost_compute::sort(as_peer(on), values.data(), n);
    const auto prepare = [&] { x = from; };
    const auto ours = [&] { balm::sort(x); };
    prepare();
    ours();
    theirs->prepare();
    theirs->run();
    if (!agrees(*theirs, x)) return state.SkipWithError("the results differ");
    compare(state, on, *theirs, prepare, ours);
}

/// Runs of 8 elements on average. Values are small integers, whose sums are exact.
void measure_reduce_by_key(benchmark::State& state, const balm::device& on, std::size_t n) {
    std::vector<std::int32_t> keys(n);
    std::vector<float> values(n);
    for (std::size_t k = 0; k < n; ++k) {
        keys[k] = k == 0 ? 0 : keys[k - 1] + (hash(k) % 8 == 0 ? 1 : 0);
        values[k] = static_cast<float>(hash(k + n) % 8);
    }
    const balm::context ctx({on});
    const balm::vector<std::int32_t> of(ctx, keys);
    const balm::vector<float> x(ctx, values);
    balm::vector<float> sums(ctx, 0);
    const auto theirs = peer::boost_compute::reduce_by_key(as_peer(on), keys.data(), values.data(), n);
    const auto ours = [&] { sums = std::get<1>(balm::reduce_by_key(of, x)); };
    ours();
    theirs->run();
    if (!agrees(*theirs, sums)) return state.SkipWithError("the results differ");
    compare(
        state, on, *theirs, [] {}, ours);
}

#endif
#ifdef BALM_BENCH_VIENNACL

struct matrix {
    std::vector<int> pointers{0}, indices;
    std::vector<double> values;

    void add(std::size_t column, double value) {
        indices.push_back(static_cast<int>(column));
        values.push_back(value);
    }
    void end_row() { pointers.push_back(static_cast<int>(values.size())); }
};
/// The five-point stencil on side x side points.
matrix poisson(std::size_t side) {
    matrix m;
    for (std::size_t r = 0; r < side * side; ++r) {
        if (r >= side) m.add(r - side, -1);
        if (r % side > 0) m.add(r - 1, -1);
        m.add(r, 4);
        if (r % side + 1 < side) m.add(r + 1, -1);
        if (r + side < side * side) m.add(r + side, -1);
        m.end_row();
    }
    return m;
}
/// 16 entries per row, in random columns.
matrix scattered(std::size_t rows) {
    matrix m;
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = 0; k < 16; ++k) m.add(hash(16 * r + k) % rows, 1.0 / static_cast<double>(k + 1));
        m.end_row();
    }
    return m;
}

void measure_product(benchmark::State& state, const balm::device& on, const matrix& m) {
    const std::size_t rows = m.pointers.size() - 1;
    std::vector<double> values(rows);
    for (std::size_t k = 0; k < rows; ++k) values[k] = hash(k) / 4294967296.0;
    const balm::context ctx({on});
    const balm::sparse_matrix<double> A(ctx, rows, rows, m.pointers, m.indices, m.values);
    const balm::vector<double> x(ctx, values);
    balm::vector<double> y(ctx, rows);
    const auto theirs = peer::viennacl_library::sparse_product(
        as_peer(on),
        {rows, rows, m.values.size(), m.pointers.data(), m.indices.data(), m.values.data(), values.data()});
    const auto ours = [&] { y = A * x; };
    ours();
    theirs->run();
    std::vector<double> got(rows);
    theirs->read(got.data(), rows);
    const auto own = y.to_host();
    for (std::size_t k = 0; k < rows; ++k)
        if (!(std::abs(got[k] - own.begin()[k]) <= 1e-11)) return state.SkipWithError("the results differ");
    compare(
        state, on, *theirs, [] {}, ours);
}

#endif

void register_all() {
#ifdef BALM_BENCH_BOOST_COMPUTE
    using measure = void (*)(benchmark::State&, const balm::device&, std::size_t);
    const auto of_sizes = [](const std::string& name, measure one) {
        for (const int bits : {16, 20, 23})
            on_opencl_devices("Boost.Compute: " + name + " of 2^" + std::to_string(bits),
                              [=](benchmark::State& state, const balm::device& on) {
                                  one(state, on, std::size_t{1} << bits);
                                  state.SetItemsProcessed(std::int64_t{1} << bits);
                              });
    };
    of_sizes("inclusive_scan, u32,", measure_scan);
    of_sizes("sort, u32,", measure_sort);
    of_sizes("reduce_by_key, i32 and f32,", measure_reduce_by_key);
#endif
#ifdef BALM_BENCH_VIENNACL
    for (const std::size_t side : {256, 1024, 2048})
        on_opencl_devices("ViennaCL: sparse product, f64, 5 points, " + std::to_string(side) + "^2",
                          [=](benchmark::State& state, const balm::device& on) {
                              measure_product(state, on, poisson(side));
                          });
    for (const int bits : {16, 20})
        on_opencl_devices("ViennaCL: sparse product, f64, 16 entries a row, 2^" + std::to_string(bits),
                          [=](benchmark::State& state, const balm::device& on) {
                              measure_product(state, on, scattered(std::size_t{1} << bits));
                          });
#endif
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
