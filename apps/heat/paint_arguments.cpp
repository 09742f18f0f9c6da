// The options of painting. In: argv, parsed by CLI11. Out: paint_options.

#include "paint_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <stdexcept>

namespace heat {

picture_scale parse_scale(const std::string& words) {
    const bool is_fraction = words.rfind("1/", 0) == 0;
    const char *first = words.data() + (is_fraction ? 2 : 0), *end = words.data() + words.size();
    unsigned number = 0;
    const auto [stop, fault] = std::from_chars(first, end, number);
    if (fault != std::errc{} || stop != end || number < 1 || number > 1000)
        throw std::invalid_argument(fmt::format(
            "--scale is \"{}\", not N (pixels per cell) or 1/N (cells per pixel) with N from 1 to 1000",
            words));
    return is_fraction ? picture_scale{1, number} : picture_scale{number, 1};
}

void add_paint_arguments(CLI::App& app, paint_options& options) {
    app.add_option_function<std::string>(
           "--colours",
           [&options](const std::string& name) {
               options.colours = name == "perceptual" ? colour_map::perceptual : colour_map::course;
           },
           "course: from blue (0) to red (1), insulators green; perceptual: from dark violet to light "
           "yellow, perceptually uniform, insulators grey")
        ->check(CLI::IsMember({"course", "perceptual"}))
        ->default_str("course");
    app.add_option_function<std::string>(
           "--scale",
           [&options](const std::string& words) {
               try {
                   options.scale = parse_scale(words);
               } catch (const std::invalid_argument& fault) {
                   throw CLI::ValidationError(fault.what());
               }
           },
           "N: a cell is N x N pixels; 1/N: a pixel is the mean of N x N cells")
        ->type_name("N|1/N")
        ->default_str("1");
    app.add_flag("--legend", options.legend, "adds a colour bar with numbers below the world");
}

}  // namespace heat
