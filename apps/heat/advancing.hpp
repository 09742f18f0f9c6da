#pragma once
// A world that is being advanced, wherever its cells are. Steps come in, temperatures go out. Here because a
// stepper holds either a world that stays on its devices (resident.hpp) or one that passes through them in
// bands (streamed.hpp).

#include <cstddef>

#include "step.hpp"

namespace heat {

/// What a stepper forwards to.
class advancing {
public:
    virtual ~advancing() = default;

    /// As stepper's.
    virtual void prepare() = 0;
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
