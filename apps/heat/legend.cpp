// The legend. In: a picture. Out: the same with a strip of bar and numbers below. Lengths are in dots; a dot
// is a square of pixels.

#include "legend.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace heat {
namespace {

constexpr unsigned margin = 3, bar_height = 8, digit_height = 5,
                   digit_pitch = 4;  // a digit has 3 dots and a gap
constexpr unsigned bar_top = margin, numbers_top = bar_top + bar_height + 2;
constexpr unsigned strip_height = numbers_top + digit_height + margin;
constexpr unsigned narrowest = 32;  // for "0 0.5 1"

// Rows of three dots, the first in the upper bits.
std::array<unsigned, digit_height> dots_of(char character) {
    switch (character) {
        case '0': return {0b111, 0b101, 0b101, 0b101, 0b111};
        case '1': return {0b010, 0b110, 0b010, 0b010, 0b111};
        case '5': return {0b111, 0b100, 0b111, 0b001, 0b111};
        default: return {0, 0, 0, 0, 0b010};  // the point
    }
}

class strip {
public:
    strip(picture& on, std::size_t top, std::size_t dot) : picture_(on), top_(top), dot_(dot) {}

    std::size_t width() const { return picture_.width / dot_; }

    void set_pixel(std::size_t x, std::size_t y, const colour& to) {
        std::copy(to.begin(), to.end(),
                  picture_.rgb.begin() + static_cast<std::ptrdiff_t>(3 * ((top_ + y) * picture_.width + x)));
    }

    void paint_bar(colour_map map) {
        for (std::size_t x = 0; x < picture_.width; ++x) {
            const float temperature = static_cast<float>(x) / static_cast<float>(picture_.width - 1);
            const colour to = colour_of(map, temperature);
            for (std::size_t y = bar_top * dot_; y < (bar_top + bar_height) * dot_; ++y) set_pixel(x, y, to);
        }
    }

    void print(std::string_view number, std::size_t left) {
        for (const char character : number) {
            const auto rows = dots_of(character);
            for (std::size_t y = 0; y < digit_height * dot_; ++y)
                for (std::size_t x = 0; x < 3 * dot_; ++x)
                    if ((rows[y / dot_] >> (2 - x / dot_) & 1u) != 0)
                        set_pixel(left * dot_ + x, numbers_top * dot_ + y, {0, 0, 0});
            left += digit_pitch;
        }
    }

private:
    picture& picture_;
    std::size_t top_, dot_;
};

void widen(picture& picture, unsigned width) {
    std::vector<std::uint8_t> rgb(3 * std::size_t{width} * picture.height, 255);
    for (std::size_t y = 0; y < picture.height; ++y)
        std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(3 * y * picture.width),
                    3 * std::size_t{picture.width}, rgb.begin() + static_cast<std::ptrdiff_t>(3 * y * width));
    picture.width = width;
    picture.rgb = std::move(rgb);
}

}  // namespace

void add_legend(picture& picture, colour_map map) {
    const unsigned dot = std::max(1u, picture.width / 256);
    if (picture.height > std::numeric_limits<unsigned>::max() - strip_height * dot)
        throw std::invalid_argument("the picture is too high for a legend");
    if (picture.width < narrowest) widen(picture, narrowest);
    const unsigned top = picture.height;
    picture.height += strip_height * dot;
    picture.rgb.resize(3 * std::size_t{picture.width} * picture.height, 255);
    strip below(picture, top, dot);
    below.paint_bar(map);
    below.print("0", 0);
    below.print("0.5", below.width() / 2 - digit_pitch - 1);  // the point in the middle
    below.print("1", below.width() - 3);
}

}  // namespace heat
