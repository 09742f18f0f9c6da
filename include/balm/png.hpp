#pragma once
// Pictures as PNG files. Programs that include this header need libpng and link it: PNG::PNG in CMake.

#include <png.h>

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "balm/colour_map.hpp"
#include "balm/error.hpp"
#include "balm/host_array.hpp"
#include "balm/short_vector.hpp"
#include "balm/view.hpp"

namespace balm {

/// A picture in host memory: rows from the top, without padding. A pixel is one byte (grey), three (red,
/// green, blue) or four (red, green, blue, opacity).
struct png_pixels {
    const unsigned char* data = nullptr;
    std::size_t rows = 0, columns = 0;
    int channels = 4;
};

/// How numbers become colours: `from` and below have the first colour of the map, `to` and above the last
/// one. The defaults are the smallest and the largest finite number of the picture.
struct png_colours {
    colour_map map = colour_map::perceptual;
    double from = std::numeric_limits<double>::quiet_NaN();
    double to = std::numeric_limits<double>::quiet_NaN();
};

/// Writes a picture to an open file. Throws usage_error, which states the reason, if that fails.
inline void write_png(std::FILE* to, const png_pixels& picture) {
    constexpr std::size_t most = 0x7fffffff;
    if (picture.rows == 0 || picture.columns == 0 || picture.rows > most || picture.columns > most)
        throw usage_error("a PNG file has 1 to 2147483647 rows and columns, not " +
                          std::to_string(picture.rows) + " x " + std::to_string(picture.columns));
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.height = static_cast<png_uint_32>(picture.rows);
    image.width = static_cast<png_uint_32>(picture.columns);
    image.format = picture.channels == 1   ? PNG_FORMAT_GRAY
                   : picture.channels == 3 ? PNG_FORMAT_RGB
                                           : PNG_FORMAT_RGBA;
    errno = 0;
    if (png_image_write_to_stdio(&image, to, 0, picture.data, 0, nullptr) == 0)
        throw usage_error(errno != 0 ? std::strerror(errno) : static_cast<const char*>(image.message));
}

/// Writes a picture as a PNG file, and replaces an existing file. Throws usage_error, which names the file,
/// if it cannot be written; part of it may remain.
inline void write_png(const std::string& path, const png_pixels& picture) {
    const auto fail = [&path](const char* why) {
        throw usage_error("The picture '" + path + "' cannot be written: " + why + '.');
    };
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail(std::strerror(errno));
    try {
        write_png(file, picture);
    } catch (const usage_error& fault) {
        std::fclose(file);
        fail(fault.what());
    }
    if (std::fclose(file) != 0) fail(std::strerror(errno));
}

namespace detail {

template <class T>
concept png_number = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept png_element = std::same_as<T, unsigned char> || std::same_as<T, uchar4> || png_number<T>;

inline void check_png_shape(const shape& extents) {
    if (extents.dimensions() != 2)
        throw usage_error("A picture must have two dimensions, rows and columns, but this array is of " +
                          to_string(extents) + " elements; write balm::view(x, {rows, columns}).");
}

template <png_number T>
host_array<uchar4> painted(const host_array<T>& numbers, const png_colours& how) {
    double first = how.from, last = how.to;
    if (first != first || last != last) {
        double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
        for (const double x : numbers) {
            if (x - x != 0) continue;  // NaN or infinite
            if (x < smallest) smallest = x;
            if (x > largest) largest = x;
        }
        if (first != first) first = smallest;
        if (last != last) last = largest;
    }
    const double wide = last - first;
    host_array<uchar4> made(numbers.shape());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double above = static_cast<double>(numbers[i]) - first;
        made[i] = colour_of(how.map, static_cast<float>(wide != 0 ? above / wide : above));
    }
    return made;
}

}  // namespace detail

/// Writes an array of two dimensions, rows and columns, as a PNG file, and replaces an existing file: bytes
/// as greys, uchar4 as red, green, blue and opacity, float and double by a colour map. Throws usage_error for
/// other dimensions, and, naming the file, if it cannot be written.
///
///     balm::write_png("field.png", field, {.map = balm::colour_map::grey, .from = 0, .to = 1});
template <detail::png_element T>
void write_png(const std::string& path, const host_array<T>& picture, const png_colours& how = {}) {
    detail::check_png_shape(picture.shape());
    if constexpr (detail::png_number<T>) {
        write_png(path, detail::painted(picture, how));
    } else {
        const auto rows = picture.shape()[0], columns = picture.shape()[1];
        write_png(path, png_pixels{reinterpret_cast<const unsigned char*>(picture.data()), rows, columns,
                                   static_cast<int>(sizeof(T))});
    }
}
/// The same for a view or an expression, which is computed first.
///
///     balm::write_png("field.png", balm::view(x, {rows, columns}));
template <array_value A>
requires detail::png_element<typename std::remove_cvref_t<A>::value_type>
void write_png(const std::string& path, const A& picture, const png_colours& how = {}) {
    detail::check_png_shape(picture.extents());
    write_png(path, picture.to_host(), how);
}

}  // namespace balm
