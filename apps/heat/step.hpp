#pragma once
// The heat step on a device. A world comes in, the world n steps later goes out. Here because it is what the
// heat course is about, written on Balm's public interface alone.

#include <memory>

#include "world.hpp"

namespace balm {
class context;
}

namespace heat {

/// A world that lives on the first device of a context and advances there. The device holds one packed word a
/// cell (its own kind, and one bit for each neighbour that conducts) and two states, stepped from one to the
/// other. The arithmetic is that of `step_serial`; results differ by the rounding of the device.
///
///     heat::stepper stepper(world, 0.1f, context);
///     stepper.advance(1000);
///     world.state = stepper.state();
class stepper {
public:
    /// Sends the world to the device and makes its kernel ready. Throws like `check` and `check_step`, and
    /// balm::error when the device fails.
    stepper(const world& world, float dt, balm::context& context);
    stepper(stepper&&) noexcept;
    stepper& operator=(stepper&&) noexcept;
    ~stepper();

    /// Enqueues n steps. May return before they are done.
    void advance(unsigned n);

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
