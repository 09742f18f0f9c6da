// render_world FILE: reads a heat world from stdin and paints it into a BMP or PNG file.

#include <CLI/CLI.hpp>
#include <iostream>

#include "command.hpp"
#include "image.hpp"

int main(int argc, char** argv) {
    std::string file_name;
    CLI::App app("Paints the heat world on stdin: insulators green, others from blue (0) to red (1).",
                 "render_world");
    app.add_option("file", file_name, "the picture; its name ends in .bmp or .png")->required();
    return heat::run_command(app, argc, argv, [&] {
        heat::check_image_name(file_name);
        heat::render(heat::read_world(std::cin), file_name);
        return 0;
    });
}
