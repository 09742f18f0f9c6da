// Vectors over all devices of a kind, against the same statement on each of them alone: the share of the
// devices' summed bandwidth that the statement reaches. If no kind has two devices, nothing is measured.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

/// Fractions of the sum of the rates. A sort also sends most elements to another device and merges what it
/// receives, once per doubling of the number of devices.
constexpr double bar = 0.9, sort_bar = 0.8;
constexpr int launches = 20, samples = 15;

struct arrays {
    arrays(const balm::context& where, std::size_t n) : a(where, n), b(where, n), out(where, n) {
        const auto i = balm::element_index();
        a = balm::cast<double>(i % 1000003);
        b = 2 * balm::cast<double>(i % 1000003);
    }
    balm::vector<double> a, b, out;
};

struct statement {
    const char* text;
    void (*run)(arrays&);
    bool (*is_right)(const arrays&);
    std::size_t arrays_read_and_written;
};
void finish(const balm::context& where) {
    for (std::size_t k = 0; k < where.size(); ++k) where.device(k).finish();
}

/// The sum of i mod 1,000,003 over n elements.
double sum_of_remainders(std::size_t n) {
    const auto below = [](double k) { return k * (k - 1) / 2; };
    const std::size_t period = 1000003;
    return static_cast<double>(n / period) * below(static_cast<double>(period)) +
           below(static_cast<double>(n % period));
}

constexpr statement statements[] = {
    {"C = A + B, f64", [](arrays& x) { x.out = x.a + x.b; },
     [](const arrays& x) {
         for (std::size_t i = 0; i < x.out.size(); i += x.out.size() / 13 - 1)
             if (x.out[i] != 3 * static_cast<double>(i % 1000003)) return false;
         return true;
     },
     3},
    {"sum(x), f64", [](arrays& x) { benchmark::DoNotOptimize(balm::sum(x.a)); },
     [](const arrays& x) { return balm::sum(x.a) == sum_of_remainders(x.a.size()); }, 1},
};

/// The rate of `run`, which reads and writes `bytes` bytes.
template <class Run>
double repeated_rate(const balm::context& where, std::size_t bytes, const Run& run) {
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample)
        times.push_back(seconds([&] {
                            for (int k = 0; k < launches; ++k) run();
                            finish(where);
                        }) /
                        launches);
    return static_cast<double>(bytes) / median(times);
}

/// Bytes per second for n elements; 0 if the result is wrong.
double bandwidth(const statement& s, const balm::context& where, std::size_t n) {
    arrays used(where, n);
    s.run(used);
    if (!s.is_right(used)) return 0;
    finish(where);
    return repeated_rate(where, s.arrays_read_and_written * n * sizeof(double), [&] { s.run(used); });
}

/// Bytes per second of a sort of keys of random bits; 0 if the order is wrong.
double sort_rate(const balm::context& where, std::size_t n) {
    balm::vector<std::uint32_t> x(where, n);
    const balm::uniform<std::uint32_t> number;
    const auto set = [&](std::uint64_t seed) {
        x = number(balm::element_index(0, n), seed);
        finish(where);
    };
    const auto run = [&] {
        balm::sort(x);
        finish(where);
    };
    set(1);
    const auto sum_before = balm::sum(balm::cast<std::uint64_t>(x));
    run();
    for (std::size_t k = 0; k + 1 < n; k += n / 1013 + 1)
        if (x[k] > x[k + 1]) return 0;
    if (balm::sum(balm::cast<std::uint64_t>(x)) != sum_before) return 0;
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample) {
        set(2 + static_cast<std::uint64_t>(sample));
        times.push_back(seconds(run));
    }
    return static_cast<double>(n * sizeof(std::uint32_t)) / median(times);
}

/// Bytes per second of a scan; 0 if a sum is wrong.
double scan_rate(const balm::context& where, std::size_t n) {
    balm::vector<std::uint32_t> x(where, n), sums(where, n);
    x = balm::cast<std::uint32_t>(balm::element_index(0, n) % 7);
    const auto run = [&] { sums = balm::inclusive_scan(x); };
    run();
    for (std::size_t k = 0; k < n; k += n / 1013 + 1) {
        const std::size_t whole = (k + 1) / 7, rest = (k + 1) % 7;
        if (sums[k] != static_cast<std::uint32_t>(21 * whole + rest * (rest - 1) / 2)) return 0;
    }
    finish(where);
    return repeated_rate(where, 2 * n * sizeof(std::uint32_t), run);
}

/// Bytes per second of products with the seven-point stencil on n points in planes of 256 x 256, which is
/// stored as diagonals; 0 if an element is wrong.
double product_rate(const balm::context& where, std::size_t n) {
    constexpr std::size_t side = 256, plane = side * side;
    const std::size_t planes = n / plane, points = planes * plane;
    std::vector<int> pointers{0}, columns;
    std::vector<double> values;
    for (std::size_t r = 0; r < points; ++r) {
        const std::size_t i = r % side, j = r / side % side, k = r / plane;
        const auto add = [&](bool is_inside, std::size_t column, double value) {
            if (!is_inside) return;
            columns.push_back(static_cast<int>(column));
            values.push_back(value);
        };
        add(k > 0, r - plane, -1);
        add(j > 0, r - side, -1);
        add(i > 0, r - 1, -1);
        add(true, r, 6);
        add(i + 1 < side, r + 1, -1);
        add(j + 1 < side, r + side, -1);
        add(k + 1 < planes, r + plane, -1);
        pointers.push_back(static_cast<int>(columns.size()));
    }
    const balm::sparse_matrix<double> A(where, points, points, pointers, columns, values);
    balm::vector<double> x(where, points), y(where, points);
    const auto value = [](std::size_t k) { return static_cast<double>(k % 1009); };
    x = balm::cast<double>(balm::element_index(0, points) % 1009);
    const auto run = [&] { y = A * x; };
    run();
    for (std::size_t r = 0; r < points; r += points / 1013 + 1) {
        double wanted = 0;
        for (auto k = static_cast<std::size_t>(pointers[r]); k < static_cast<std::size_t>(pointers[r + 1]);
             ++k)
            wanted += values[k] * value(static_cast<std::size_t>(columns[k]));
        if (y[r] != wanted) return 0;
    }
    finish(where);
    return repeated_rate(where, points * (7 + 2) * sizeof(double), run);
}

/// The rate of all devices together, with n elements each, relative to the sum of their rates.
template <class Rate>
void measure(benchmark::State& state, const std::vector<balm::device>& all, std::size_t n,
             std::size_t bytes_of_element, double least, const Rate& rate) {
    for (auto iteration : state) {
        static_cast<void>(iteration);
        std::vector<double> alone;
        for (const balm::device& each : all) alone.push_back(rate(balm::context({each}), n));
        const double together = rate(balm::context(all), n * all.size());
        if (together == 0 || std::find(alone.begin(), alone.end(), 0.0) != alone.end())
            return state.SkipWithError("the result is wrong");
        const std::size_t bytes = bytes_of_element * n * all.size();
        state.SetIterationTime(static_cast<double>(bytes) / together);
        state.counters["devices"] = static_cast<double>(all.size());
        state.counters["ratio"] = together / std::accumulate(alone.begin(), alone.end(), 0.0);
        state.counters["bar"] = least;
        state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
    }
}

template <class Rate>
void register_one(const char* text, const std::string& words, const std::vector<balm::device>& all,
                  std::size_t n, std::size_t bytes_of_element, double least, const Rate& rate) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", text, words).c_str(),
                                 [=](benchmark::State& state) {
                                     state.SetLabel(words);
                                     measure(state, all, n, bytes_of_element, least, rate);
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

void register_all() {
    std::map<std::string, std::vector<balm::device>> kinds;
    for (const balm::device& each : all_devices()) kinds[label(each)].push_back(each);
    for (const auto& [kind, devices] : kinds) {
        if (devices.size() < 2) continue;
        const std::string words = fmt::format("{} x {}", devices.size(), kind);
        const std::size_t n = 2 * large(devices[0]);
        for (const statement& s : statements)
            register_one(
                s.text, words, devices, n, s.arrays_read_and_written * sizeof(double), bar,
                [&s](const balm::context& where, std::size_t of) { return bandwidth(s, where, of); });
        register_one("inclusive_scan, u32", words, devices, n, 2 * sizeof(std::uint32_t), bar, scan_rate);
        register_one("sort, u32", words, devices, n, sizeof(std::uint32_t), sort_bar, sort_rate);
        register_one("y = A x, Poisson, f64", words, devices, std::min(n, std::size_t{1} << 24),
                     9 * sizeof(double), bar, product_rate);
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
