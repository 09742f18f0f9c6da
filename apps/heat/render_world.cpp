// render_world FILE [--colours course|perceptual] [--scale N|1/N] [--legend]: reads a heat world from stdin
// and paints it into a BMP or PNG file.

#include <CLI/CLI.hpp>
#include <iostream>

#include "command.hpp"
#include "image.hpp"
#include "paint_arguments.hpp"

int main(int argc, char** argv) {
    std::string file_name;
    heat::paint_options options;
    CLI::App app("Paints the heat world on stdin.", "render_world");
    app.add_option("file", file_name, "the picture, a .bmp or .png file")->required();
    heat::add_paint_arguments(app, options);
    return heat::run_command(app, argc, argv, [&] {
        heat::check_image_name(file_name);
        heat::render(heat::read_world(std::cin), file_name, options);
        return 0;
    });
}
