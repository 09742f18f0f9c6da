#pragma once
// The arguments of all programs that paint. Words come in, how to paint goes out. Here so that the same
// options mean the same everywhere.

#include "image.hpp"

namespace CLI {
class App;
}

namespace heat {

/// Adds `--colours`, `--scale` and `--legend`, which fill `options`.
void add_paint_arguments(CLI::App& app, paint_options& options);

/// A scale from the words `N` (pixels a cell) or `1/N` (cells a pixel), N from 1 to 1000. Throws
/// std::invalid_argument, in one sentence, for others.
picture_scale parse_scale(const std::string& words);

}  // namespace heat
