// Checks whole paths on a device, from C++ to results: an array expression, reductions, a kernel with local
// memory and barriers, a program that goes through a disk cache and back, and the litmus test for look-back.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>

#include "balm/balm.hpp"
#include "check.hpp"
#include "emit/printer.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "runtime/program/disk_cache.hpp"

namespace balm::tool {

namespace {

constexpr std::size_t odd_size = 100003;  // prime: no work-group size divides it

/// A running check: its device, options, random numbers and outcome.
struct path {
    const device& on;
    const settings& how;
    std::mt19937_64& random;
    check& outcome;

    template <class T>
    std::vector<T> numbers(std::size_t count, T least, T most) {
        std::vector<T> list(count);
        for (T& x : list) {
            if constexpr (std::floating_point<T>)
                x = std::uniform_real_distribution<T>(least, most)(random);
            else
                x = std::uniform_int_distribution<T>(least, most)(random);
        }
        return list;
    }

    template <class T>
    void expect(const std::string& input, T got, T expected) {
        ++outcome.values;
        if (got == expected) return;
        note_wrong(outcome, how, {{input}, fmt::format("{}", got), fmt::format("{}", expected), 0});
    }
};

void array_expression(path& p) {
    const context ctx({p.on});
    const auto x = p.numbers<float>(odd_size, -100, 100), y = p.numbers<float>(odd_size, -100, 100);
    const vector<float> on_device_x(ctx, x), on_device_y(ctx, y);
    vector<float> z(ctx, odd_size);
    z = on_device_x * on_device_y + 1.5f;
    const host_array<float> got = z.to_host();
    for (std::size_t i = 0; i < odd_size; ++i)
        p.expect(fmt::format("x * y + 1.5 of {} and {}", x[i], y[i]), got[i], std::fma(x[i], y[i], 1.5f));
}

void reductions(path& p) {
    const context ctx({p.on});
    const auto whole = p.numbers<std::int64_t>(odd_size, -1'000'000'000'000, 1'000'000'000'000);
    const auto real = p.numbers<float>(odd_size, -1e6f, 1e6f);
    const vector<std::int64_t> device_whole(ctx, whole);
    const vector<float> device_real(ctx, real);
    p.expect("sum", sum(device_whole), std::accumulate(whole.begin(), whole.end(), std::int64_t{0}));
    p.expect("min", min(device_real), *std::min_element(real.begin(), real.end()));
    p.expect("max", max(device_real), *std::max_element(real.begin(), real.end()));
}

/// Sums each work-group, by a tree in local memory.
auto trace_group_sums() {
    using namespace balm::dsl;
    return kernel<1>("selftest_group_sums",
                     [](In<std::int64_t> in, Out<std::int64_t> sums, Local<std::int64_t> shared) {
                         Index i = local_id(0), half = local_size(0) / 2;
                         shared[i] = in[global_id(0)];
                         WHILE (half > 0) {
                             barrier();
                             IF (i < half) {
                                 shared[i] += shared[i + half];
                             }
                             half /= 2;
                         }
                         IF (i == 0) {
                             sums[group_id(0)] = shared[0];
                         }
                     });
}

void local_memory(path& p) {
    std::size_t group = 64;
    while (group > p.on.info().max_work_group_size) group /= 2;
    constexpr std::size_t groups = 100;
    const auto x = p.numbers<std::int64_t>(groups * group, -1'000'000'000'000, 1'000'000'000'000);
    auto in = p.on.in_buffer<std::int64_t>(x.size());
    auto sums = p.on.out_buffer<std::int64_t>(groups);
    in.write(x);
    p.on.execute(trace_group_sums()(in, sums, local<std::int64_t>(group)), {x.size()}, {group}).wait();
    const host_array<std::int64_t> got = sums.read();
    for (std::size_t g = 0; g < groups; ++g) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(g * group);
        p.expect(fmt::format("group {}", g), got[g],
                 std::accumulate(first, first + static_cast<std::ptrdiff_t>(group), std::int64_t{0}));
    }
}

class temporary_directory {
public:
    explicit temporary_directory(std::uint64_t number)
        : path_(std::filesystem::temp_directory_path() / fmt::format("balm-selftest-{:016x}", number)) {
        std::filesystem::create_directories(path_);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

constexpr std::size_t cached_size = 1024;

/// out[i] = in[i] * 3 + 1
auto trace_cached() {
    using namespace balm::dsl;
    return kernel<1>("selftest_cached", [](In<std::int32_t> in, Out<std::int32_t> out) {
        Index i = global_id(0);
        out[i] = in[i] * 3 + 1;
    });
}

/// Launches the program's kernel and compares its results.
void run_cached(path& p, runtime::driver_program& program, const std::string& name, const char* origin) {
    runtime::device_state& device = *p.on.state();
    const auto x = p.numbers<std::int32_t>(cached_size, -1'000'000, 1'000'000);
    auto in = p.on.in_buffer<std::int32_t>(cached_size);
    auto out = p.on.out_buffer<std::int32_t>(cached_size);
    in.write(x);
    std::vector<runtime::argument> arguments(2);
    runtime::storage* const memory[] = {in.storage().get(), out.storage().get()};
    for (std::size_t k = 0; k < 2; ++k) {
        const runtime::memory native = memory[k]->native();
        arguments[k].what = runtime::argument::kind::memory;
        arguments[k].size = sizeof native.handle;
        std::memcpy(arguments[k].bytes.data(), &native.handle, sizeof native.handle);
    }
    runtime::grid whole;
    whole.global[0] = cached_size;
    whole.local[0] = std::min<std::size_t>(64, p.on.info().max_work_group_size);
    const auto kernel = program.make_kernel(name);
    device.default_queue().enqueue_launch(*kernel, whole, arguments, {&memory[0], 1}, {&memory[1], 1});
    const host_array<std::int32_t> got = out.read();
    for (std::size_t i = 0; i < cached_size; ++i)
        p.expect(fmt::format("{}, of {}", origin, x[i]), got[i], x[i] * 3 + 1);
}

/// Compiles and runs a program, stores it in a cache in a temporary directory, loads it and runs it again.
void cache_round_trip(path& p) {
    const auto kernel = trace_cached();
    runtime::device_state& device = *p.on.state();
    const auto [source, name] =
        emit::print_program(ir::lower(*kernel.function(), kernels::facts_for(device)).kernel,
                            emit::dialect_of(device.driver().language()));
    const auto compiled = device.driver().compile(source, {});
    run_cached(p, *compiled, name, "compiled");

    const temporary_directory folder(p.random());
    const runtime::digest key = runtime::hasher{}.text(source).result();
    runtime::disk_cache(folder.path(), 1 << 30).store(key, compiled->binary(), "selftest");
    const auto found = runtime::disk_cache(folder.path(), 1 << 30).load(key);
    if (!found.has_value())
        throw device_error(
            fmt::format("the disk cache in {} does not return what was stored", folder.path().string()));
    run_cached(p, *device.driver().load(*found), name, "from the disk");
}

}  // namespace

std::vector<check> check_paths(const device& on, const settings& how) {
    const std::pair<const char*, void (*)(path&)> paths[] = {{"array expression", array_expression},
                                                             {"reductions", reductions},
                                                             {"local memory", local_memory},
                                                             {"cache round trip", cache_round_trip}};
    std::mt19937_64 random(how.seed);
    std::vector<check> outcomes;
    for (const auto& [name, run] : std::span(paths).first(how.is_quick ? 1 : std::size(paths))) {
        check& outcome = outcomes.emplace_back();
        outcome.kind = "path";
        outcome.name = name;
        try {
            path p{on, how, random, outcome};
            run(p);
        } catch (const std::exception& fault) {
            outcome.fault = fault.what();
        }
        how.on_steps(steps_of_a_kernel);
    }
    if (!how.is_quick && takes_look_back(on)) outcomes.push_back(check_look_back(on, how));
    return outcomes;
}

}  // namespace balm::tool
