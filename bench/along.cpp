// Sums of a matrix along either dimension, for rows of 8 to a million elements: on GPUs against a device copy
// that moves as many bytes, on CPUs against OpenMP. Predicted from bytes over bandwidth, all shapes should
// take the time of one pass: 1.0 of that copy, less the cost of partial sums (below 2 %).

#include <cmath>
#include <memory>

#include "peer_along.hpp"
#include "peer_reduce.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.9;
constexpr int calls = 10;

struct release_host {
    void operator()(void* memory) const { std::free(memory); }
};

template <class T>
struct problem {
    std::size_t rows, columns;
    bool of_rows;
    balm::vector<T> x, y, half, other_half;

    problem(const balm::context& where, std::size_t n, std::size_t length, bool along_rows)
        : rows(n / length),
          columns(length),
          of_rows(along_rows),
          x(where, n),
          y(where, of_rows ? rows : columns),
          half(where, n / 2),
          other_half(where, n / 2, T(1)) {
        x = balm::cast<T>(balm::element_index() % 7);
    }
    void run() { y = balm::sum(balm::view(x, {rows, columns}), balm::along(of_rows ? 1 : 0)); }
    void copy() { half = other_half; }
    bool is_right() {
        run();
        const auto got = y.to_host();
        for (std::size_t k = 0; k < got.size(); k += 1 + got.size() / 100) {
            double sum = 0;
            for (std::size_t i = 0; i < (of_rows ? columns : rows); ++i)
                sum += static_cast<double>((of_rows ? k * columns + i : i * columns + k) % 7);
            if (std::abs(static_cast<double>(got[k]) - sum) > 1e-6 * sum) return false;
        }
        return true;
    }
};

template <class T>
void measure(benchmark::State& state, const balm::device& on, std::size_t length, bool of_rows) {
    const std::size_t n = large(on) * (sizeof(double) / sizeof(T));
    problem<T> p(balm::context({on}), n, length, of_rows);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        comparison made;
        if (is_cpu(on)) {
            const std::unique_ptr<T[], release_host> a(peer::openmp::numbers<T>(n, 1)),
                sums(peer::openmp::numbers<T>(p.y.size(), 0));
            made = compare_in_pairs(
                [&] {
                    p.run();
                    benchmark::DoNotOptimize(p.y[0]);
                },
                [&] {
                    (of_rows ? peer::openmp::sums_of_rows<T>
                             : peer::openmp::sums_of_columns<T>)(a.get(), sums.get(), p.rows, p.columns);
                },
                21);
        } else {
            made = compare_samples(
                [&](int count) {
                    for (int k = 0; k < count; ++k) p.run();
                    benchmark::DoNotOptimize(p.y[0]);
                },
                [&](int count) {
                    for (int k = 0; k < count; ++k) p.copy();
                    benchmark::DoNotOptimize(p.half[0]);
                },
                calls);
        }
        report(state, made, bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(p.x.size_bytes()));
}

template <class T>
void register_for(const std::string& type) {
    for (const bool of_rows : {true, false})
        for (const std::size_t length : {8, 32, 256, 1024, 32768, 1 << 20})
            on_every_device(
                fmt::format("sums of {}, rows of {}, {}", of_rows ? "rows" : "columns", length, type),
                [=](benchmark::State& state, const balm::device& on) {
                    measure<T>(state, on, length, of_rows);
                });
}

void register_all() {
    register_for<float>("f32");
    register_for<double>("f64");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
