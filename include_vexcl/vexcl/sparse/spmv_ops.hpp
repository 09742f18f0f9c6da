#pragma once
// VexCL's customisation of sparse products, which is not supported: Balm computes products of scalars and of
// short vectors.

namespace vex {
namespace sparse {}
}  // namespace vex
