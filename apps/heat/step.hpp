#pragma once
// The heat step on devices. A world comes in, the world n steps later goes out. Here because it is what the
// heat course is about, written on Balm's public interface alone.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "world.hpp"

namespace balm {
class context;
}

namespace heat {

/// How a stepper holds its world.
struct division {
    std::size_t devices = 1;  ///< that have a part of it
    std::size_t bands = 1;    ///< that pass through the devices by turns; 1: it stays there
    unsigned stay = 1;        ///< most steps before devices exchange rows, or a band leaves
};

/// A division in words: "on 2 devices", "on 1 device, in 12 bands for 264 steps each".
std::string describe(const division& how);

/// Of a stepper.
struct step_options {
    /// By default that of the table for the first device. All devices take the same. A step that is no mean
    /// with weights of at least 0 (alpha * dt > 4) is left to the single-step kernel all the same.
    std::optional<heat::plan> plan;
    /// Bytes that the world's buffers may have on each device, for each of which Balm's pool may take up to
    /// an eighth more (of large ones, 2 MiB more). By default seven eighths of the device's memory, or as
    /// much as the world needs where that is the host's memory.
    std::optional<std::uint64_t> memory;
};

/// A world that is advanced on the devices of a context. A device holds a byte a cell (what it is, and how
/// many of its neighbours conduct) and two states, stepped from one to the other.
///
/// Several devices have an equal part of the rows each; after each launch they exchange what lies at their
/// edges, while they compute the rest. A world that is larger than the devices' memory stays in pinned host
/// memory, and passes through the devices in bands, each of which is advanced by many steps while it is
/// there. Temperatures are the same to the last bit in all cases, for the same plan and the same calls.
/// Results differ from those of `step_serial` by rounding.
///
///     heat::stepper stepper(world, 0.1f, context);
///     stepper.advance(1000);
///     world.state = stepper.state();
class stepper {
public:
    /// Sends the world to the devices. Throws like `check` and `check_step`, std::invalid_argument where the
    /// memory is too little for bands of this world, and balm::error when a device fails.
    stepper(const world& world, float dt, const balm::context& context, const step_options& options = {});
    /// The same by a plan.
    stepper(const world& world, float dt, const balm::context& context, const plan& plan);
    stepper(stepper&&) noexcept;
    stepper& operator=(stepper&&) noexcept;
    ~stepper();

    /// Has the kernel built and run once, into memory that the first step overwrites, so that the first step
    /// takes no longer than others.
    void prepare();

    /// Enqueues n steps. May return before they are done.
    void advance(unsigned n);

    /// Advances by n steps, at least 1, waits, and returns the largest change of a temperature in the last.
    /// Both states are still on the devices, so that costs one reduction that reads them.
    float advance_and_compare(unsigned n = 1);

    /// Waits until every step is done.
    void finish();

    /// Waits, and returns the temperatures as they are now.
    std::vector<float> state();

    /// How the world is held.
    heat::division division() const;

private:
    struct implementation;
    std::unique_ptr<implementation> implementation_;
};

/// Advances a world by n steps of dt seconds on the devices of a context. Throws like `stepper`; the world is
/// as it was, then.
void step(world& world, float dt, unsigned n, const balm::context& context);

}  // namespace heat
