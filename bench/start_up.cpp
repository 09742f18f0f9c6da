// The second start of a program: the time from the first use of a statement until its kernel has run, in a
// process that has a warm disk cache and has already used another kernel, so that the driver's start is not
// included (it is shown separately). Each start is a separate process: this program, run again as a child.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double five_milliseconds = 5e-3;
constexpr int starts = 9;

struct start {
    double driver = 0;       ///< until the first, different kernel has run
    double add = 0;          ///< C = A + B
    double sine = 0;         ///< Y = 2*X - sin(Z)
    double total = 0;        ///< sum(x * y)
    double resubmitted = 0;  ///< C = A + B again: the part of the above that does not prepare the kernel
    double mean() const { return (add + sine + total) / 3; }
};

/// Measures, in the child, in seconds, on device `position` of all_devices(). The arrays are small, so that
/// preparing the kernel dominates.
start measure_start(std::size_t position) {
    start made;
    const auto begin = std::chrono::steady_clock::now();
    const balm::device on = all_devices().at(position);
    const balm::context where({on});
    constexpr std::size_t n = 1024;
    balm::vector<double> a(where, n), b(where, n), c(where, n);
    a = 1.0;
    b = balm::cast<double>(balm::element_index());
    on.finish();
    made.driver = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto add = [&] {
        c = a + b;
        on.finish();
    };
    made.add = seconds(add);
    made.sine = seconds([&] {
        c = 2 * a - sin(b);
        on.finish();
    });
    made.total = seconds([&] { benchmark::DoNotOptimize(balm::sum(a * b)); });
    made.resubmitted = seconds(add);
    return made;
}

/// Runs this program as a child; nullopt if it failed.
std::optional<start> start_again(std::size_t position) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string text = std::to_string(position);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return std::nullopt;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(self.c_str(), self.c_str(), "--child", text.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    close(ends[1]);
    start got;
    std::FILE* const output = fdopen(ends[0], "r");
    const int found = std::fscanf(output, "%lf %lf %lf %lf %lf", &got.driver, &got.add, &got.sine, &got.total,
                                  &got.resubmitted);
    std::fclose(output);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || found != 5) return std::nullopt;
    return got;
}

/// A directory for the caches of Balm and of the drivers, empty at first, so that the first start is cold.
class cache_directory {
public:
    cache_directory() : path_(std::filesystem::temp_directory_path() / "balm-start-up-XXXXXX") {
        std::string text = path_;
        if (mkdtemp(text.data()) == nullptr) throw balm::error("no temporary directory for the cache");
        path_ = text;
        for (const char* name : {"BALM_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH"}) {
            std::filesystem::create_directory(path_ / name);
            setenv(name, (path_ / name).c_str(), 1);
        }
    }
    cache_directory(const cache_directory&) = delete;
    cache_directory& operator=(const cache_directory&) = delete;
    ~cache_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

private:
    std::filesystem::path path_;
};

void measure(benchmark::State& state, std::size_t position) {
    const cache_directory caches;
    const std::optional<start> cold = start_again(position);
    if (!cold) return state.SkipWithError("the first start failed");
    std::vector<double> ready, driver, resubmitted;
    for (int k = 0; k < starts; ++k) {
        const std::optional<start> warm = start_again(position);
        if (!warm) return state.SkipWithError("a later start failed");
        ready.push_back(warm->mean());
        driver.push_back(warm->driver);
        resubmitted.push_back(warm->resubmitted);
    }
    for (auto iteration : state) {
        static_cast<void>(iteration);
        state.SetIterationTime(median(ready));
    }
    state.counters["at_most"] = five_milliseconds;
    state.counters["cold_seconds"] = cold->mean();
    state.counters["driver_start_seconds"] = median(driver);
    state.counters["known_kernel_seconds"] = median(resubmitted);
}

void register_all() {
    const auto devices = all_devices();
    for (std::size_t k = 0; k < devices.size(); ++k)
        benchmark::RegisterBenchmark(
            fmt::format("second start, a kernel ready/{}", label(devices[k])).c_str(),
            [k, words = label(devices[k])](benchmark::State& state) {
                state.SetLabel(words);
                measure(state, k);
            })
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--child") == 0) {
        const start made = measure_start(std::strtoul(argv[2], nullptr, 10));
        std::printf("%.9f %.9f %.9f %.9f %.9f\n", made.driver, made.add, made.sine, made.total,
                    made.resubmitted);
        return 0;
    }
    return run(argc, argv, register_all);
}
