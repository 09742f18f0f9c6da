// Scans of a matrix along either dimension, for rows of 8 to a million elements: on GPUs against a device
// copy, which moves as many bytes as a scan that reads and writes each element once; on CPUs against OpenMP.
// Predicted from bytes over bandwidth: 1.0 of a copy for rows, and for columns if there are enough of them;
// 0.67 if they are read twice. Also two scans in one pass, against two copies of as many bytes.

#include <cmath>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "balm/scan_along.hpp"
#include "balm/scan_into.hpp"
#include "peer_along.hpp"
#include "peer_reduce.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.8;
constexpr int calls = 10;

struct release_host {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using host_memory = std::unique_ptr<T[], release_host>;

template <class T>
struct problem {
    std::size_t rows, columns;
    bool of_rows;
    balm::vector<T> x, y;

    problem(const balm::context& where, std::size_t n, std::size_t length, bool along_rows)
        : rows(n / length), columns(length), of_rows(along_rows), x(where, n), y(where, n) {
        x = balm::cast<T>(balm::element_index() % 2);
    }
    void run() { y = balm::inclusive_scan(balm::view(x, {rows, columns}), balm::along(of_rows ? 1 : 0)); }
    void copy() { y = +x; }
    /// Sums of at most 2^23 ones are exact in f32.
    bool is_right() {
        run();
        const auto got = y.to_host();
        const std::size_t count = of_rows ? rows : columns, length = of_rows ? columns : rows,
                          step = of_rows ? 1 : columns;
        for (std::size_t k = 0; k < count; k += 1 + count / 20) {
            const std::size_t first = of_rows ? k * columns : k;
            double sum = 0;
            for (std::size_t i = 0; i < length; ++i) {
                sum += static_cast<double>((first + i * step) % 2);
                if (std::abs(got[first + i * step] - sum) > 1e-5 * sum)
                    return false;  // f32 rounds beyond 2^24
            }
        }
        return true;
    }
};

template <class T>
comparison compare_on_cpu(problem<T>& p) {
    const host_memory<T> from(peer::openmp::numbers<T>(p.x.size(), 1)),
        to(peer::openmp::numbers<T>(p.x.size(), 0));
    return compare_in_pairs(
        [&] {
            p.run();
            benchmark::DoNotOptimize(p.y[0]);
        },
        [&] {
            (p.of_rows ? peer::openmp::scans_of_rows<T>
                       : peer::openmp::scans_of_columns<T>)(from.get(), to.get(), p.rows, p.columns);
        },
        21);
}
/// Compares calls of `run` with as many calls of `copy`.
template <class Run, class Copy>
comparison compare_with_copy(const balm::device& on, const Run& run, const Copy& copy) {
    const auto repeated = [&on](const auto& body) {
        return [&on, &body](int count) {
            for (int k = 0; k < count; ++k) body();
            on.finish();
        };
    };
    return compare_samples(repeated(run), repeated(copy), calls);
}

template <class T>
void measure(benchmark::State& state, const balm::device& on, std::size_t length, bool of_rows) {
    const std::size_t n = large(on) * (sizeof(double) / sizeof(T)) / length * length;
    problem<T> p(balm::context({on}), n, length, of_rows);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state,
               is_cpu(on) ? compare_on_cpu(p)
                          : compare_with_copy(
                                on, [&] { p.run(); }, [&] { p.copy(); }),
               bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(2 * p.x.size_bytes()));
}

/// The sums of one vector and the running maxima of another.
void measure_two(benchmark::State& state, const balm::device& on) {
    const std::size_t n = large(on);
    const balm::context ctx({on});
    balm::vector<float> x(ctx, n, 1.0f), y(ctx, n, 2.0f), sums(ctx, n), most(ctx, n);
    const auto scan_both = [&] {
        balm::inclusive_scan_into(std::tie(sums, most), balm::sum_of(x), balm::max_of(y));
    };
    scan_both();
    if (most[n - 1] != 2.0f) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state, compare_with_copy(on, scan_both, [&] { balm::tie(sums, most) = std::tuple(+x, +y); }),
               is_cpu(on) ? 0.4 : bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(4 * x.size_bytes()));
}

template <class T>
void register_for(const std::string& type) {
    for (const bool of_rows : {true, false})
        for (const std::size_t length : {8, 32, 100, 1000, 4096, 32768, 1 << 20})
            on_every_device(
                fmt::format("scans of {}, rows of {}, {}", of_rows ? "rows" : "columns", length, type),
                [=](benchmark::State& state, const balm::device& on) {
                    measure<T>(state, on, length, of_rows);
                });
}

void register_all() {
    register_for<float>("f32");
    register_for<double>("f64");
    on_every_device("two scans in one pass beside two copies, f32",
                    [](benchmark::State& state, const balm::device& on) { measure_two(state, on); });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
