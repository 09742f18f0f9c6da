#pragma once
// The interface to a world that is being advanced, wherever its cells are. In: steps. Out: temperatures. A
// stepper holds either a world that is resident on its devices (resident.hpp) or one that is streamed through
// them in bands (streamed.hpp).

#include <cstddef>
#include <span>

#include "step.hpp"

namespace heat {

/// The interface that a stepper forwards to.
class advancing {
public:
    virtual ~advancing() = default;

    /// As in stepper.
    virtual void prepare(std::span<const unsigned> advances) = 0;
    virtual void advance(unsigned n) = 0;
    virtual float advance_and_compare(unsigned n) = 0;
    virtual void finish() = 0;
    virtual heat::division division() const = 0;
    /// Waits, and writes the temperature of each cell, row by row; insulators have 0.
    virtual void read(float* state) = 0;

protected:
    advancing() = default;
    advancing(const advancing&) = default;
    advancing& operator=(const advancing&) = default;
};

}  // namespace heat
