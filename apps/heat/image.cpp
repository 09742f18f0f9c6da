// Painting worlds and writing pictures. In: a world and a file name. Out: the file, whole.
// The BMP layout was found from the golden bitmaps; libpng writes the PNG.

#include "image.hpp"

#include <fmt/format.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "legend.hpp"

namespace heat {
namespace {

enum class image_format { bmp, png };

image_format format_of(const std::string& file_name) {
    std::string extension = std::filesystem::path(file_name).extension().string();
    for (char& letter : extension)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (extension == ".bmp") return image_format::bmp;
    if (extension == ".png") return image_format::png;
    throw std::invalid_argument(fmt::format("the picture \"{}\" must end in .bmp or .png", file_name));
}

std::string last_system_error() {
    return errno != 0 ? std::generic_category().message(errno) : "the file takes no more";
}

// A file that comes to its name when complete, and is gone if it never is.
class pending_file {
public:
    explicit pending_file(const std::string& name)
        : name_(name), temporary_name_(fmt::format("{}.{}.part", name, ::getpid())) {
        errno = 0;
        file_ = std::fopen(temporary_name_.c_str(), "wbx");  // x: never through a file that is there
        if (file_ == nullptr) fail();
    }

    pending_file(const pending_file&) = delete;
    pending_file& operator=(const pending_file&) = delete;

    ~pending_file() {
        if (is_complete_) return;
        if (file_ != nullptr) std::fclose(file_);
        std::remove(temporary_name_.c_str());
    }

    std::FILE* get() const noexcept { return file_; }

    void write(const void* bytes, std::size_t count) {
        errno = 0;
        if (std::fwrite(bytes, 1, count, file_) != count) fail();
    }

    void complete() {
        errno = 0;
        if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
        std::error_code fault;
        std::filesystem::rename(temporary_name_, name_, fault);
        if (fault) fail(fault.message());
        is_complete_ = true;
    }

    [[noreturn]] void fail(const std::string& why = last_system_error()) const {
        throw std::runtime_error(fmt::format("the picture \"{}\" could not be written: {}", name_, why));
    }

private:
    std::string name_, temporary_name_;
    std::FILE* file_ = nullptr;
    bool is_complete_ = false;
};

constexpr std::size_t bmp_header_bytes = 54;

// The heat course pads rows by this, not by what makes them a multiple of four bytes.
std::size_t bmp_padding(std::size_t width) { return 3 * width % 4; }

// BITMAPFILEHEADER and BITMAPINFOHEADER, 24 bits a pixel. The heat course leaves the image's size 0, as the
// format allows, and has it and 2835 (pixels a metre) where the two resolutions belong.
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
    put(28, 24, 2);  // bits a pixel
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
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = picture.width;
    image.height = picture.height;
    image.format = PNG_FORMAT_RGB;
    errno = 0;
    if (png_image_write_to_stdio(&image, file.get(), 0, picture.rgb.data(), 0, nullptr) == 0)
        file.fail(errno != 0 ? last_system_error() : std::string(image.message));
}

}  // namespace

picture paint(const world& world, const paint_options& options) {
    check(world);
    picture result{world.width, world.height, std::vector<std::uint8_t>(3 * world.size())};
    const colour insulators = insulator_colour(options.colours);
    for (std::size_t i = 0; i < world.size(); ++i) {
        const colour cell =
            world.properties[i] == insulator ? insulators : colour_of(options.colours, world.state[i]);
        std::copy(cell.begin(), cell.end(), result.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
    if (options.legend) add_legend(result, options.colours);
    return result;
}

void render(const world& world, const std::string& file_name, const paint_options& options) {
    const image_format format = format_of(file_name);
    const picture picture = paint(world, options);
    pending_file file(file_name);
    if (format == image_format::bmp) {
        write_bmp(picture, file);
    } else {
        write_png(picture, file);
    }
    file.complete();
}

void check_image_name(const std::string& file_name) { format_of(file_name); }

}  // namespace heat
