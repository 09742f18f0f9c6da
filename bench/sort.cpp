// Sorts: on GPUs against CUB, on CPUs against std::sort and oneTBB. Times include the wait for the sort; the
// keys are set anew before each sort.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "peer_cuda.hpp"
#include "peer_sort.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using peer::sort_way;

constexpr double gpu_bar = 0.95, other_gpu_bar = 0.9, small_gpu_bar = 1.0, std_sort_bar = 8,
                 parallel_sort_bar = 3;
constexpr int gpu_samples = 31, cpu_samples = 7;
constexpr std::size_t small = 1 << 16;

template <class T>
constexpr peer::sort_keys kind_of_keys() {
    if (std::is_same_v<T, float>) return peer::sort_keys::f32;
    return sizeof(T) == 4 ? peer::sort_keys::u32 : peer::sort_keys::u64;
}

template <class T>
struct problem {
    balm::vector<T> x;
    balm::vector<std::uint32_t> values;
    sort_way way;

    problem(const balm::context& where, std::size_t n, sort_way how)
        : x(where, n), values(where, how == sort_way::keys_and_values ? n : 0), way(how) {}
    /// peer::hashed, as an array expression.
    void set() {
        const auto mixed = [](auto k, std::uint64_t factor) { return (k ^ k >> 33) * factor; };
        auto k =
            mixed(mixed(balm::cast<std::uint64_t>(balm::element_index(0, x.size())), 0xff51afd7ed558ccdull),
                  0xc4ceb9fe1a85ec53ull);
        auto hash = k ^ k >> 33;
        if constexpr (std::is_same_v<T, float>)
            x = balm::bit_cast<float>(balm::cast<std::uint32_t>(hash));
        else
            x = balm::cast<T>(hash);
        if (!values.empty()) values = balm::cast<std::uint32_t>(balm::element_index());
    }
    void run() {
        switch (way) {
            case sort_way::keys: return balm::sort(x);
            case sort_way::keys_and_values: return balm::sort_by_key(x, values);
            case sort_way::comparison: return balm::sort(x, is_less());
            case sort_way::rows: x = balm::sorted(balm::view(x, {rows(), peer::sort_row}), balm::along(1));
        }
    }
    static const auto& is_less() {
        using value = balm::dsl::Var<T>;
        static const auto made =
            balm::function("is_less(a, b)", [](value a, value b) { return balm::dsl::Bool(a < b); });
        return made;
    }
    std::size_t rows() const { return x.size() / peer::sort_row; }
    static std::vector<T> on_host(std::size_t n) {
        std::vector<T> made(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t k = peer::hashed(i);
            std::memcpy(&made[i], &k, sizeof(T));
        }
        return made;
    }
    /// Compares with std::sort; for large arrays, checks on the device that no element is above the next one.
    /// NaNs, which `<` does not order, are not compared.
    bool is_right() {
        set();
        run();
        if (x.size() > most_compared) {
            const auto here = balm::element_index(),
                       next = balm::min(here + 1, here / length() * length() + length() - 1);
            return balm::count(x > x[next]) == 0;
        }
        const auto got = x.to_host();
        std::vector<T> wanted = on_host(x.size());
        const auto numbers =
            std::partition(wanted.begin(), wanted.end(), [](T each) { return each == each; });
        for (auto row = wanted.begin(); row < numbers;) {
            const auto end = numbers - row > length() ? row + length() : numbers;
            std::sort(row, end);
            row = end;
        }
        return std::equal(wanted.begin(), numbers, got.begin()) && has_moved_values(got);
    }

private:
    static constexpr std::size_t most_compared = 1 << 24;
    /// Elements that are sorted together.
    std::int64_t length() const {
        return static_cast<std::int64_t>(way == sort_way::rows ? peer::sort_row : x.size());
    }
    bool has_moved_values(const balm::host_array<T>& keys) const {
        const auto positions = values.to_host();
        for (std::size_t k = 0; k < positions.size(); ++k) {
            const std::uint64_t hash = peer::hashed(positions.begin()[k]);
            if (std::memcmp(&hash, &keys.begin()[k], sizeof(T)) != 0) return false;
        }
        return true;
    }
};

/// Times both alternately, each after its preparation.
template <class PrepareOurs, class Ours, class PrepareTheirs, class Theirs>
comparison compare_prepared(const PrepareOurs& prepare_ours, const Ours& ours,
                            const PrepareTheirs& prepare_theirs, const Theirs& theirs, int samples) {
    std::vector<double> own, other;
    for (int k = 0; k < samples; ++k) {
        prepare_ours();
        own.push_back(seconds(ours));
        prepare_theirs();
        other.push_back(seconds(theirs));
    }
    const comparison made{median(own), median(other), 0};
    return {made.balm, made.peer, made.peer / made.balm};
}

double bar_of(std::size_t n, sort_way way) {
    if (n <= small) return small_gpu_bar;
    return way == sort_way::keys || way == sort_way::keys_and_values ? gpu_bar : other_gpu_bar;
}

template <class T>
void measure_gpu(benchmark::State& state, const balm::device& on, std::size_t n, sort_way way) {
    problem<T> p(balm::context({on}), n, way);
    const char* why = "";
    const auto* const cuda = peer::cuda_functions_on<peer::cuda_sort_functions>(
        on.info().pci_address.c_str(), "peer_cuda_sort_functions", why);
    if (cuda == nullptr) return state.SkipWithError(why);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const std::unique_ptr<void, void (*)(void*)> theirs(cuda->make(kind_of_keys<T>(), way, n),
                                                            cuda->on_work.release);
        const auto their_run = [&] {
            cuda->on_work.run(theirs.get());
            cuda->on_work.finish();
        };
        const auto set = [&] {
            p.set();
            on.finish();
        };
        const auto our_run = [&] {
            p.run();
            on.finish();
        };
        report(state, compare_prepared(set, our_run, their_run, their_run, gpu_samples), bar_of(n, way));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

template <class T>
void measure_cpu(benchmark::State& state, const balm::device& on, std::size_t n, bool is_parallel) {
    problem<T> p(balm::context({on}), n, sort_way::keys);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    const std::vector<T> from = problem<T>::on_host(n);
    std::vector<T> theirs(n);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const auto set = [&] {
            p.set();
            on.finish();
        };
        const auto our_run = [&] {
            p.run();
            on.finish();
        };
        const auto copy = [&] { std::copy(from.begin(), from.end(), theirs.begin()); };
        const auto their_run = [&] {
            if (is_parallel)
                peer::cpu::parallel_sort(theirs.data(), n);
            else
                peer::cpu::std_sort(theirs.data(), n);
        };
        report(state, compare_prepared(set, our_run, copy, their_run, cpu_samples),
               is_parallel ? parallel_sort_bar : std_sort_bar);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

bool is_gpu(const balm::device& on) { return !is_cpu(on); }

template <class T>
void register_on_gpus(const std::string& name, std::size_t n, sort_way way) {
    on_devices_that(is_gpu, name, [=](benchmark::State& state, const balm::device& on) {
        measure_gpu<T>(state, on, n, way);
    });
}

/// Sizes on CPUs are smaller by a factor of 2^6.
template <class T>
void register_for(const std::string& type, std::size_t n) {
    register_on_gpus<T>("sort, " + type, n, sort_way::keys);
    register_on_gpus<T>("sort, " + type + " with values", n, sort_way::keys_and_values);
    for (const bool is_parallel : {false, true})
        on_devices_that(
            is_cpu,
            "sort, " + type + ", beside " + (is_parallel ? peer::cpu::parallel_sort_name() : "std::sort"),
            [=](benchmark::State& state, const balm::device& on) {
                measure_cpu<T>(state, on, n >> 6, is_parallel);
            });
}

void register_all() {
    register_for<std::uint32_t>("u32", std::size_t{1} << 28);
    register_for<std::uint64_t>("u64", std::size_t{1} << 27);
    register_for<float>("f32", std::size_t{1} << 28);
    register_on_gpus<std::uint32_t>("sort by comparison, u32", std::size_t{1} << 28, sort_way::comparison);
    register_on_gpus<std::uint32_t>("sort of 2^20 rows of 256, u32", std::size_t{1} << 28, sort_way::rows);
    for (int bits = 10; bits <= 16; bits += 2)
        register_on_gpus<std::uint32_t>("sort of 2^" + std::to_string(bits) + ", u32", std::size_t{1} << bits,
                                        sort_way::keys);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
