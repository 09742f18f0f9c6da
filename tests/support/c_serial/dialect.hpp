#pragma once
// Plain C++ for the host's compiler, as a dialect: work-items take turns on one thread (runtime.hpp). An
// oracle of the tests, and the proof that a dialect is one folder and one table.

#include "emit/dialect.hpp"

namespace balm::test {

/// A program in it belongs into a namespace, behind `#include "runtime.hpp"`.
const emit::dialect& c_serial() noexcept;

}  // namespace balm::test
