#pragma once
// The heat step on a device. A world comes in, the world n steps later goes out. Here because it is what the
// heat course is about, written on Balm's public interface alone.

#include <memory>

#include "plan.hpp"
#include "world.hpp"

namespace balm {
class context;
}

namespace heat {

/// A world that lives on the first device of a context and advances there. The device holds a byte a cell
/// (what it is, and how many of its neighbours conduct) and two states, stepped from one to the other.
/// Results differ from those of `step_serial` by rounding.
///
///     heat::stepper stepper(world, 0.1f, context);
///     stepper.advance(1000);
///     world.state = stepper.state();
class stepper {
public:
    /// Sends the world to the device. Throws like `check` and `check_step`, and
    /// balm::error when the device fails.
    stepper(const world& world, float dt, balm::context& context);
    /// The same by a plan of the caller's, for tests and tuning. A step that is no mean with weights of at
    /// least 0 (alpha * dt > 4) is left to the single-step kernel all the same.
    stepper(const world& world, float dt, balm::context& context, const plan& plan);
    stepper(stepper&&) noexcept;
    stepper& operator=(stepper&&) noexcept;
    ~stepper();

    /// Has the kernel built and run once, into memory that the first step overwrites, so that the first step
    /// takes no longer than others.
    void prepare();

    /// Enqueues n steps. May return before they are done.
    void advance(unsigned n);

    /// Advances by one step, waits, and returns the largest change of a temperature in it. Both states are
    /// still on the device, so that costs one reduction that reads them.
    float advance_and_compare();

    /// Waits until every step is done.
    void finish();

    /// Waits, and returns the temperatures as they are now.
    std::vector<float> state();

private:
    struct implementation;
    std::unique_ptr<implementation> implementation_;
};

/// Advances a world by n steps of dt seconds on the first device of a context. Throws like `stepper`; the
/// world is as it was, then.
void step(world& world, float dt, unsigned n, balm::context& context);

}  // namespace heat
