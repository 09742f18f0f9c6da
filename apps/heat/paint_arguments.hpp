#pragma once
// The arguments of all programs that paint, so that the same options mean the same everywhere. In: arguments.
// Out: paint_options.

#include "image.hpp"

namespace CLI {
class App;
}

namespace heat {

/// Adds `--colours`, `--scale` and `--legend`, which fill `options`.
void add_paint_arguments(CLI::App& app, paint_options& options);

/// Parses a scale, `N` (pixels per cell) or `1/N` (cells per pixel), N from 1 to 1000. Throws
/// std::invalid_argument, with a message of one sentence, for others.
picture_scale parse_scale(const std::string& words);

}  // namespace heat
