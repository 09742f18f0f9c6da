// The heat step on devices. In: a world, dt, devices and their memory. Out: the world n steps later. This
// file decides whether the world is resident on the devices or streamed through them.

#include "step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

#include "conductance.hpp"
#include "layout.hpp"
#include "reference.hpp"
#include "resident.hpp"
#include "streamed.hpp"

namespace heat {
namespace {

/// The memory that each device may use: the minimum over all devices.
struct limits {
    std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t allocation = std::numeric_limits<std::uint64_t>::max();  ///< of one buffer
};

limits limits_of(const std::vector<balm::device>& devices, const plan& plan,
                 const std::optional<std::uint64_t>& asked) {
    limits result;
    if (plan.method == method::sweep) result.allocation = most_cells_of_sweep * sizeof(float);
    for (const balm::device& each : devices) {
        const balm::device_info& info = each.info();
        // Host memory already holds the world: with unified memory, bands would only take more of it.
        if (!info.unified_memory) result.memory = std::min(result.memory, info.global_memory / 8 * 7);
        if (info.max_allocation > 0) result.allocation = std::min(result.allocation, info.max_allocation);
    }
    if (asked) result.memory = *asked;
    return result;
}

/// Whether the parts of a world fit into device memory.
bool may_stay(const world& world, const plan& plan, std::size_t devices, const limits& limits) {
    const layout part(world.width, rows_of_largest_part(world.height, plan, devices), plan);
    return part.rows * row_bytes(part) <= limits.memory && part.size() * sizeof(float) <= limits.allocation;
}

/// The requested plan, or the single-step plan: several steps per launch require steps that are means.
plan usable(const std::optional<plan>& asked, const conductance& c, const balm::device_info& device) {
    return c.is_mean() ? asked.value_or(plan_for(device)) : single_plan(device.type);
}

std::unique_ptr<advancing> make_advancing(const world& world, const conductance& c,
                                          const std::vector<balm::device>& devices,
                                          const step_options& options) {
    const plan plan = usable(options.plan, c, devices.front().info());
    const limits limits = limits_of(devices, plan, options.memory);
    if (may_stay(world, plan, devices.size(), limits)) return make_resident(world, c, devices, plan);
    if (const auto bands = shape_of_bands(world.width, world.height, plan, limits.memory, limits.allocation))
        return make_streamed(world, c, devices, plan, *bands);
    throw std::invalid_argument(
        fmt::format("{} bytes of device memory are not enough for a world with {} cells per row: its bands "
                    "need at least {}",
                    limits.memory, world.width, least_memory_for_bands(world.width, plan)));
}

conductance checked_conductance(const world& world, float dt) {
    check(world);
    check_step(world.alpha, dt);
    return make_conductance(world.alpha, dt);
}

}  // namespace

struct stepper::implementation {
    implementation(const world& world, const conductance& c, const balm::context& context,
                   const step_options& options)
        : cells(world.size()), steps(make_advancing(world, c, context.devices(), options)) {
        for (std::size_t i = 0; i < cells; ++i)
            if (world.properties[i] == insulator && world.state[i] != 0) warm.emplace_back(i, world.state[i]);
    }

    std::size_t cells;
    std::unique_ptr<advancing> steps;
    /// Insulators keep their initial temperature; on devices all have 0.
    std::vector<std::pair<std::size_t, float>> warm;
};

std::string describe(const division& how) {
    std::string text = fmt::format("on {} {}", how.devices, how.devices == 1 ? "device" : "devices");
    if (how.bands > 1) text += fmt::format(", in {} bands for {} steps each", how.bands, how.stay);
    return text;
}

stepper::stepper(const world& world, float dt, const balm::context& context, const step_options& options)
    : implementation_(
          std::make_unique<implementation>(world, checked_conductance(world, dt), context, options)) {}

stepper::stepper(const world& world, float dt, const balm::context& context, const plan& plan)
    : stepper(world, dt, context, step_options{plan, {}}) {}

stepper::stepper(stepper&&) noexcept = default;
stepper& stepper::operator=(stepper&&) noexcept = default;
stepper::~stepper() = default;

void stepper::prepare(std::span<const unsigned> advances) { implementation_->steps->prepare(advances); }

void stepper::advance(unsigned n) { implementation_->steps->advance(n); }

float stepper::advance_and_compare(unsigned n) { return implementation_->steps->advance_and_compare(n); }

void stepper::finish() { implementation_->steps->finish(); }

std::vector<float> stepper::state() {
    std::vector<float> result(implementation_->cells);
    implementation_->steps->read(result.data());
    for (const auto& [cell, temperature] : implementation_->warm) result[cell] = temperature;
    return result;
}

heat::division stepper::division() const { return implementation_->steps->division(); }

void step(world& world, float dt, unsigned n, const balm::context& context) {
    stepper stepper(world, dt, context);
    stepper.advance(n);
    world.state = stepper.state();
}

}  // namespace heat
