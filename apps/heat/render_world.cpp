// render_world FILE [--colours course|perceptual] [--scale N|1/N] [--legend]: reads a heat world from stdin
// and paints it into a BMP or PNG file.

#include <iostream>

#include "command.hpp"
#include "image.hpp"
#include "paint_arguments.hpp"

int main(int argc, char** argv) {
    std::string file_name;
    heat::paint_options options;
    const auto app = heat::command_line("Paints the heat world on stdin.", "render_world");
    heat::add_text(*app, "file", file_name, "the picture, a .bmp or .png file");
    heat::add_paint_arguments(*app, options);
    return heat::run_command(*app, argc, argv, [&] {
        heat::check_image_name(file_name);
        heat::render(heat::read_world(std::cin), file_name, options);
        return 0;
    });
}
