// render_world FILE [--colours course|perceptual] [--legend]: reads a heat world from stdin and paints it
// into a BMP or PNG file.

#include <CLI/CLI.hpp>
#include <iostream>

#include "command.hpp"
#include "image.hpp"

int main(int argc, char** argv) {
    std::string file_name;
    std::string colours = "course";
    heat::paint_options options;
    CLI::App app("Paints the heat world on stdin.", "render_world");
    app.add_option("file", file_name, "the picture; its name ends in .bmp or .png")->required();
    app.add_option("--colours", colours,
                   "course: from blue (0) to red (1), insulators green; perceptual: from dark violet to "
                   "light yellow, "
                   "evenly to the eye, insulators grey")
        ->check(CLI::IsMember({"course", "perceptual"}))
        ->capture_default_str();
    app.add_flag("--legend", options.legend, "adds a bar of the colours with numbers below the world");
    return heat::run_command(app, argc, argv, [&] {
        heat::check_image_name(file_name);
        options.colours = colours == "perceptual" ? heat::colour_map::perceptual : heat::colour_map::course;
        heat::render(heat::read_world(std::cin), file_name, options);
        return 0;
    });
}
