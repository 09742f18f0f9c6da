// Paints worlds and writes pictures. In: a world and a file name. Out: a complete file.
// The BMP layout was derived from the golden bitmaps; libpng writes the PNG.

#include "image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <balm/png.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "legend.hpp"
#include "pending_file.hpp"

namespace heat {
namespace {

enum class image_format { bmp, png };

image_format format_of(const std::string& file_name) {
    if (has_extension(file_name, {".bmp"})) return image_format::bmp;
    if (has_extension(file_name, {".png"})) return image_format::png;
    throw std::invalid_argument(fmt::format("the picture \"{}\" must end in .bmp or .png", file_name));
}

constexpr std::size_t bmp_header_bytes = 54;

// The heat course pads rows by this many bytes, not to a multiple of four bytes.
std::size_t bmp_padding(std::size_t width) { return 3 * width % 4; }

// BITMAPFILEHEADER and BITMAPINFOHEADER, 24 bits per pixel. The heat course leaves the image size 0, as the
// format allows, and writes it and 2835 (pixels per metre) into the fields of the two resolutions.
std::array<std::uint8_t, bmp_header_bytes> bmp_header(std::uint32_t width, std::uint32_t height,
                                                      std::uint32_t image_bytes) {
    std::array<std::uint8_t, bmp_header_bytes> header{};
    const auto put = [&](std::size_t at, std::uint32_t value, int count) {
        for (int i = 0; i < count; ++i) header[at++] = static_cast<std::uint8_t>(value >> (8 * i));
    };
    header[0] = 'B';
    header[1] = 'M';
    put(2, bmp_header_bytes + image_bytes, 4);
    put(10, bmp_header_bytes, 4);
    put(14, 40, 4);  // bytes of the BITMAPINFOHEADER
    put(18, width, 4);
    put(22, height, 4);
    put(26, 1, 2);   // planes
    put(28, 24, 2);  // bits per pixel
    put(38, image_bytes, 4);
    put(42, 2835, 4);
    return header;
}

void write_bmp(const picture& picture, pending_file& file) {
    const std::size_t pixel_bytes = 3 * std::size_t{picture.width};
    const std::size_t row_bytes = pixel_bytes + bmp_padding(picture.width);
    constexpr std::size_t limit = std::numeric_limits<std::int32_t>::max();
    if (picture.width > limit || picture.height > limit ||
        row_bytes > (limit - bmp_header_bytes) / picture.height)
        throw std::invalid_argument(fmt::format(
            "a {} x {} picture is too large for a BMP; name a .png instead", picture.width, picture.height));
    const auto header =
        bmp_header(picture.width, picture.height, static_cast<std::uint32_t>(row_bytes * picture.height));
    file.write(header.data(), header.size());
    std::vector<std::uint8_t> row(row_bytes);
    for (std::size_t y = 0; y < picture.height; ++y) {
        const std::uint8_t* rgb = picture.rgb.data() + y * pixel_bytes;
        for (std::size_t i = 0; i < pixel_bytes; i += 3) {
            row[i] = rgb[i + 2];
            row[i + 1] = rgb[i + 1];
            row[i + 2] = rgb[i];
        }
        file.write(row.data(), row.size());
    }
}

void write_png(const picture& picture, pending_file& file) {
    try {
        balm::write_png(file.get(), {picture.rgb.data(), picture.height, picture.width, 3});
    } catch (const balm::usage_error& fault) {
        file.fail(fault.what());
    }
}

// The weighted mean of two colours; `share` is the weight of the second.
colour mixed(const colour& first, const colour& second, double share) {
    colour result;
    for (std::size_t part = 0; part < 3; ++part)
        result[part] =
            static_cast<std::uint8_t>(std::lround(first[part] + share * (second[part] - first[part])));
    return result;
}

// The colour of the cells [left, right) x [top, bottom).
colour colour_of_block(const world& world, colour_map map, std::size_t left, std::size_t top,
                       std::size_t right, std::size_t bottom) {
    double sum = 0;
    std::size_t conducting = 0;
    for (std::size_t y = top; y < bottom; ++y)
        for (std::size_t i = y * world.width + left; i < y * world.width + right; ++i)
            if (world.properties[i] != insulator) {
                sum += static_cast<double>(world.state[i]);
                ++conducting;
            }
    const std::size_t insulators = (right - left) * (bottom - top) - conducting;
    if (conducting == 0) return insulator_colour(map);
    const colour mean = colour_of(map, static_cast<float>(sum / static_cast<double>(conducting)));
    const double wall = static_cast<double>(std::min(right - left, bottom - top));
    return mixed(mean, insulator_colour(map), std::min(1.0, static_cast<double>(insulators) / wall));
}

}  // namespace

picture paint(const world& world, const paint_options& options) {
    check(world);
    const std::size_t cells = options.scale.cells, pixels = options.scale.pixels;
    const std::size_t columns = (world.width + cells - 1) / cells, rows = (world.height + cells - 1) / cells;
    constexpr std::size_t limit = std::numeric_limits<std::int32_t>::max();
    if (columns > limit / pixels || rows > limit / pixels)
        throw std::invalid_argument(
            fmt::format("a world of {} x {} cells is too large for a picture with {} pixels per cell",
                        world.width, world.height, pixels));
    picture result{static_cast<unsigned>(columns * pixels), static_cast<unsigned>(rows * pixels), {}};
    result.rgb.resize(result.row_bytes() * result.height);
    const colour insulators = insulator_colour(options.colours);
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t x = 0; x < columns; ++x) {
            colour painted;
            if (cells == 1) {
                const std::size_t i = y * world.width + x;
                painted = world.properties[i] == insulator ? insulators
                                                           : colour_of(options.colours, world.state[i]);
            } else {
                painted = colour_of_block(world, options.colours, x * cells, y * cells,
                                          std::min<std::size_t>(world.width, (x + 1) * cells),
                                          std::min<std::size_t>(world.height, (y + 1) * cells));
            }
            result.fill(x * pixels, y * pixels, pixels, pixels, painted);
        }
    if (options.legend) add_legend(result, options.colours, options.captions);
    return result;
}

bool has_extension(const std::string& file_name, std::initializer_list<const char*> extensions) {
    std::string extension = std::filesystem::path(file_name).extension().string();
    for (char& letter : extension)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](const char* each) { return extension == each; });
}

void write_picture(const picture& picture, const std::string& file_name) {
    const image_format format = format_of(file_name);
    pending_file file(file_name);
    if (format == image_format::bmp) {
        write_bmp(picture, file);
    } else {
        write_png(picture, file);
    }
    file.complete();
}

void render(const world& world, const std::string& file_name, const paint_options& options) {
    check_image_name(file_name);
    write_picture(paint(world, options), file_name);
}

void check_image_name(const std::string& file_name) { format_of(file_name); }

}  // namespace heat
