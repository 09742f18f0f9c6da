#pragma once
// Pictures as PNG files, for the examples.

#include <png.h>

#include <balm/host_array.hpp>
#include <balm/short_vector.hpp>
#include <concepts>
#include <iostream>
#include <string>

/// Writes a picture: an array of rows and columns whose elements are grey (unsigned char), or red, green,
/// blue and opacity (balm::uchar4). Returns whether it could; if not, says why on the standard error.
template <class Pixel>
requires std::same_as<Pixel, unsigned char> || std::same_as<Pixel, balm::uchar4>
[[nodiscard]] bool write_png(const std::string& file, const balm::host_array<Pixel>& picture) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.height = static_cast<png_uint_32>(picture.shape()[0]);
    image.width = static_cast<png_uint_32>(picture.shape()[1]);
    image.format = std::same_as<Pixel, balm::uchar4> ? PNG_FORMAT_RGBA : PNG_FORMAT_GRAY;
    if (png_image_write_to_file(&image, file.c_str(), 0, picture.data(), 0, nullptr) != 0) return true;
    std::cerr << file << " could not be written: " << image.message << '\n';
    return false;
}
