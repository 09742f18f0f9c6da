// Vectors spread over all devices of a kind beside the same statement on each of them alone: on how much of
// their bandwidths together the spread one runs. Where no kind has two devices there is nothing to measure.

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.9;  // of the sum of the bandwidths
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

/// 0 + 1 + 2 …, up to 1,000,002 and again, of n elements.
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

/// Bytes a second of n elements.
double bandwidth(const statement& s, const balm::context& where, std::size_t n) {
    arrays used(where, n);
    s.run(used);
    if (!s.is_right(used)) return 0;
    const auto finish = [&] {
        for (std::size_t k = 0; k < where.size(); ++k) where.device(k).finish();
    };
    finish();
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample)
        times.push_back(seconds([&] {
                            for (int k = 0; k < launches; ++k) s.run(used);
                            finish();
                        }) /
                        launches);
    return static_cast<double>(s.arrays_read_and_written * n * sizeof(double)) / median(times);
}

void measure(benchmark::State& state, const statement& s, const std::vector<balm::device>& all) {
    const std::size_t n = 2 * large(all[0]);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        std::vector<double> alone;
        for (const balm::device& each : all) alone.push_back(bandwidth(s, balm::context({each}), n));
        const double together = bandwidth(s, balm::context(all), n * all.size());
        if (together == 0 || std::find(alone.begin(), alone.end(), 0.0) != alone.end())
            return state.SkipWithError("the result is wrong");
        const std::size_t bytes = s.arrays_read_and_written * n * all.size() * sizeof(double);
        state.SetIterationTime(static_cast<double>(bytes) / together);
        state.counters["devices"] = static_cast<double>(all.size());
        state.counters["ratio"] = together / std::accumulate(alone.begin(), alone.end(), 0.0);
        state.counters["bar"] = bar;
        state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
    }
}

void register_all() {
    std::map<std::string, std::vector<balm::device>> kinds;
    for (const balm::device& each : all_devices()) kinds[label(each)].push_back(each);
    for (const auto& [kind, devices] : kinds) {
        if (devices.size() < 2) continue;
        const std::string words = fmt::format("{} x {}", devices.size(), kind);
        for (const statement& s : statements)
            benchmark::RegisterBenchmark(fmt::format("{}/{}", s.text, words).c_str(),
                                         [&s, words, all = devices](benchmark::State& state) {
                                             state.SetLabel(words);
                                             measure(state, s, all);
                                         })
                ->Iterations(1)
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
