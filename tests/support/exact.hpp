#pragma once
// What rows of builtins.def are, computed by MPFR: the reference where the host's long double is not enough.

#include <optional>
#include <span>

#include "balm/builtin.hpp"

namespace balm::test {

/// A row on finite operands (an i32 among them as a number), computed with 200 bits and rounded once to long
/// double, whose 64 bits tell a double's error to a two thousandth of its last place. None for rows without a
/// function here: those that must be exact, which IEEE 754 and the host's C library are the reference of.
std::optional<long double> exact(builtin, std::span<const long double> operands);

}  // namespace balm::test
