#pragma once
// Animations. In: pictures, one after the other. Out: an animated PNG, which shows more of moving heat than a
// hundred files do.

#include <cstdint>
#include <string>
#include <vector>

#include "pending_file.hpp"
#include "picture.hpp"

namespace heat {

/// An animated PNG (https://www.w3.org/TR/png-3/, which includes APNG since its third edition). Pictures are
/// written as they are added: memory holds only the last one. The animation loops. Viewers without animation
/// support show the first picture. The file is written under a temporary name and then renamed: it is
/// complete or absent.
///
///     heat::animation film("heat.png", 20);
///     for (…) film.add(heat::paint(world));
///     film.complete();
class animation {
public:
    /// Opens a file whose name ends in .png or .apng. `frames_per_second` is from 1 to 1000. Throws
    /// std::invalid_argument for other values, and, as all members do, std::runtime_error if the file cannot
    /// be written.
    animation(const std::string& file_name, unsigned frames_per_second);

    /// Appends a picture. Stores only the rectangle that differs from the previous one. Throws
    /// std::invalid_argument unless it has the size of the first one, at most 2^31 - 1 pixels in a row or
    /// column, and std::length_error if the format allows no further one: after 2^29, or fewer large ones.
    void add(const picture& frame);

    /// Ends the file. The last picture is shown for `last_milliseconds`, at most 65535, before the loop
    /// begins again; 0: as long as the others. Throws std::logic_error if there is no picture.
    void complete(unsigned last_milliseconds = 0);

    std::uint32_t frames() const noexcept { return frames_; }

private:
    struct rectangle {
        std::uint32_t x = 0, y = 0, width = 0, height = 0;
    };

    void begin(const picture& first);
    void write_frame_control(const rectangle& where);
    void write_pixels(const picture& frame, const rectangle& where);
    static std::vector<std::uint8_t> frame_control(std::uint32_t sequence, const rectangle& where,
                                                   unsigned numerator, unsigned denominator);
    rectangle changed(const picture& frame) const;

    pending_file file_;
    unsigned frames_per_second_;
    picture last_;
    rectangle last_rectangle_;
    std::uint32_t frames_ = 0, sequence_ = 0, last_sequence_ = 0;
    std::uint64_t animation_control_ = 0, last_control_ = 0;  // where these chunks begin in the file
};

/// Throws as `animation` does for a name with another extension, but before any work is done.
void check_animation_name(const std::string& file_name);

}  // namespace heat
