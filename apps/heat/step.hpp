#pragma once
// The heat step on devices, the subject of the heat course, written on Balm's public interface alone. In: a
// world. Out: the world n steps later.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan.hpp"
#include "world.hpp"

namespace balm {
class context;
}

namespace heat {

/// How a stepper distributes its world.
struct division {
    std::size_t devices = 1;  ///< that hold a part of it
    std::size_t bands = 1;    ///< that are streamed through the devices; 1: the world is resident
    unsigned stay = 1;        ///< the most steps before devices exchange rows, or a band leaves
};

/// A division in words: "on 2 devices", "on 1 device, in 12 bands for 264 steps each".
std::string describe(const division& how);

/// Options of a stepper.
struct step_options {
    /// By default the table's for the first device. All devices use the same plan. A step that is not a mean
    /// with non-negative weights (alpha * dt > 4) always uses the single-step kernel.
    std::optional<heat::plan> plan;
    /// Bytes that the world's buffers may take on each device. For each buffer, Balm's pool may take up to an
    /// eighth more (for large ones, 2 MiB more). By default seven eighths of the device's memory, or as much
    /// as the world needs if that is the host's memory.
    std::optional<std::uint64_t> memory;
};

/// A world that is advanced on the devices of a context. A device holds one byte per cell (its kind, and how
/// many of its neighbours conduct) and two states; a step reads one and writes the other.
///
/// Each of several devices holds an equal part of the rows; in each launch they exchange the rows at their
/// edges while they compute the rest. A world that is larger than the devices' memory stays in pinned host
/// memory and is streamed through the devices in bands, each of which is advanced by many steps while it is
/// there. Temperatures are bit-identical in all cases, for the same plan and the same calls. Results differ
/// from those of `step_serial` by rounding.
///
///     heat::stepper stepper(world, 0.1f, context);
///     stepper.advance(1000);
///     world.state = stepper.state();
class stepper {
public:
    /// Copies the world to the devices. Throws like `check` and `check_step`, std::invalid_argument if the
    /// memory is too small for bands of this world, and balm::error if a device fails.
    stepper(const world& world, float dt, const balm::context& context, const step_options& options = {});
    /// The same with a plan.
    stepper(const world& world, float dt, const balm::context& context, const plan& plan);
    stepper(stepper&&) noexcept;
    stepper& operator=(stepper&&) noexcept;
    ~stepper();

    /// Compiles the kernels that advance by each of these numbers of steps (if none are named, by as many as
    /// one launch does at most) and runs each once, into memory that the first step overwrites: the calls of
    /// `advance` by these numbers then compile nothing, and the first takes no longer than others.
    void prepare(std::span<const unsigned> advances = {});

    /// Enqueues n steps. May return before they are done.
    void advance(unsigned n);

    /// Advances by n steps, at least 1, waits, and returns the largest change of a temperature in the last
    /// step. Both states are still on the devices, so this costs one reduction over them.
    float advance_and_compare(unsigned n = 1);

    /// Waits until every step is done.
    void finish();

    /// Waits, and returns the current temperatures.
    std::vector<float> state();

    /// How the world is distributed.
    heat::division division() const;

private:
    struct implementation;
    std::unique_ptr<implementation> implementation_;
};

/// Advances a world by n steps of dt seconds on the devices of a context. Throws like `stepper`, and then
/// leaves the world unchanged.
void step(world& world, float dt, unsigned n, const balm::context& context);

}  // namespace heat
