#pragma once
// The names of a lambda's parameters, taken from its text: printed programs, profiles and messages then call
// them as the C++ does.

#include <string>
#include <string_view>

/// The name of a kernel or function with those of its parameters, and its lambda: the arguments of
/// balm::kernel and balm::function. The names are those in the lambda's text; without a lambda's text, or
/// with a parameter that has no name, only the name is given.
///
///     auto saxpy = balm::kernel<1>(BALM_NAMED(saxpy, [](Float a, In<float> x, InOut<float> y) {
///         Index i = global_id(0);
///         y[i] = a * x[i] + y[i];
///     }));                                        // as balm::kernel<1>("saxpy(a, x, y)", …)
#define BALM_NAMED(name, ...) ::balm::detail::with_parameter_names(#name, #__VA_ARGS__), __VA_ARGS__

namespace balm::detail {

/// "saxpy(a, x, y)" for the text "[](Float a, In<float> x, InOut<float> y) {…}". A leading Grid is left out.
std::string with_parameter_names(std::string_view name, std::string_view lambda);

}  // namespace balm::detail
