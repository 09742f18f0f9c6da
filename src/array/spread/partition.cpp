// Divides vectors by weights, and measures bandwidths as `y = x + 1` on memory that no cache holds.

#include "array/spread/partition.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "array/layout.hpp"
#include "balm/vector.hpp"
#include "balm/version.hpp"
#include "runtime/program/disk_cache.hpp"

namespace balm::array {

namespace {

constexpr std::size_t block = 64;  // elements: what of_four, short vectors and 256-byte alignment ask for

runtime::digest key_of(const runtime::device_state& device) {
    const device_info& info = device.info();
    runtime::program_key_fields fields;
    fields.kind = "bandwidth";
    fields.source = "y = x + 1";
    const std::string words = device.words();
    fields.device = words;
    fields.driver_version = info.driver_version;
    fields.balm_version = BALM_VERSION;
    return make_key(fields);
}

double measure(const std::shared_ptr<runtime::device_state>& device) {
    constexpr std::size_t most = std::size_t{256} << 20;
    const std::size_t bytes = std::clamp<std::size_t>(device->info().global_memory / 16, 1 << 20, most);
    const auto made = [&] {
        return std::make_shared<vector_state>(device, scalar::f32, bytes / sizeof(float));
    };
    const std::shared_ptr<vector_state> from = made(), to = made();
    const float zero = 0;
    fill(*from, &zero);
    const auto once = [&] {
        tape p;
        p.push_vector(from);
        p.push_value(step::kind::constant, scalar::f32, dsl::detail::bits_of(1.f));
        step add;
        add.what = step::kind::apply;
        add.type = scalar::f32;
        add.detail = static_cast<std::uint16_t>(builtin::add);
        add.arity = 2;
        p.push(add);
        assign(*to, std::move(p));
        device->finish();
    };
    once();  // compiles, and touches the memory
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        once();
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return 2.0 * static_cast<double>(bytes) / best;
}

/// Rounds to the nearest of eight steps between a power of two and the next.
double in_steps(double value) { return std::exp2(std::round(std::log2(value) * 8) / 8); }

double known_or_measured(const std::shared_ptr<runtime::device_state>& device) {
    runtime::disk_cache& cache = runtime::default_cache();
    const runtime::digest key = key_of(*device);
    double value = 0;
    if (const auto kept = cache.load(key); kept && kept->size() == sizeof value)
        std::memcpy(&value, kept->data(), sizeof value);
    if (std::isnormal(value) && value > 0) return value;
    const runtime::recording_pause pause;
    value = in_steps(measure(device));
    cache.store(key, std::as_bytes(std::span(&value, 1)), "bandwidth of " + device->words());
    return value;
}

}  // namespace

std::vector<std::size_t> partition(std::size_t size, std::span<const double> weights) {
    const double all_weights = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double blocks = std::ceil(static_cast<double>(size) / block);
    std::vector<std::size_t> first{0};
    double weight = 0;
    for (double each : weights) {
        weight += each;
        const auto end = static_cast<std::size_t>(std::llround(blocks * (weight / all_weights))) * block;
        first.push_back(std::clamp(end, first.back(), size));
    }
    first.back() = size;
    return first;
}

double bandwidth_of(const std::shared_ptr<runtime::device_state>& device) {
    static std::mutex& mutex = *new std::mutex;
    static auto& known = *new std::map<std::weak_ptr<runtime::device_state>, double, std::owner_less<>>;
    const std::scoped_lock lock(mutex);  // held while measuring, too: devices share the memory's bandwidth
    const auto found = known.find(device);
    if (found != known.end()) return found->second;
    std::erase_if(known, [](const auto& each) { return each.first.expired(); });
    return known[device] = known_or_measured(device);
}

std::vector<double> weights_of(const context& where) {
    if (!where.weights().empty()) return {where.weights().begin(), where.weights().end()};
    std::vector<double> weights;
    for (const device& each : where.devices()) weights.push_back(bandwidth_of(each.state()));
    return weights;
}

}  // namespace balm::array
