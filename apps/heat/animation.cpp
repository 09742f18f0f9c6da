// Animated PNG. In: pictures. Out: chunks, in the order of the file: IHDR, acTL (the number of frames, filled
// in at the end), for each frame fcTL (its rectangle and duration) and its pixels in IDAT or fdAT, IEND. zlib
// compresses the pixels; a chunk is written whenever its buffer is full.

#include "animation.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>

#include "image.hpp"

namespace heat {
namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::size_t channels = 3, chunk_overhead = 12;  // length, type, CRC
constexpr std::size_t compressed_at_once = 65536;
constexpr std::uint32_t largest_side = 0x7fffffff, largest_count = 0x7fffffff;

// Numbers are big-endian.
void put(bytes& to, std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

bytes chunk(std::string_view type, std::span<const std::uint8_t> data) {
    bytes result;
    result.reserve(data.size() + chunk_overhead);
    put(result, static_cast<std::uint32_t>(data.size()), 4);
    result.insert(result.end(), type.begin(), type.end());
    result.insert(result.end(), data.begin(), data.end());
    const uLong crc = crc32(0, result.data() + 4, static_cast<uInt>(result.size() - 4));
    put(result, static_cast<std::uint32_t>(crc), 4);
    return result;
}

void write(pending_file& file, const bytes& all) { file.write(all.data(), all.size()); }

bytes animation_control(std::uint32_t frames) {
    bytes data;
    put(data, frames, 4);
    put(data, 0, 4);  // loops: endless
    return chunk("acTL", data);
}

// The compressed stream of one frame, in IDAT or fdAT chunks.
class compressor {
public:
    compressor(pending_file& file, bool is_first_frame, std::uint32_t& sequence)
        : file_(file),
          is_first_frame_(is_first_frame),
          sequence_(sequence),
          buffer_(sequence_bytes + compressed_at_once) {
        if (deflateInit(&stream_, Z_BEST_COMPRESSION) != Z_OK) throw std::bad_alloc();
        renew();
    }
    compressor(const compressor&) = delete;
    compressor& operator=(const compressor&) = delete;
    ~compressor() { deflateEnd(&stream_); }

    void write(bytes& row) {
        stream_.next_in = row.data();
        stream_.avail_in = static_cast<uInt>(row.size());
        while (stream_.avail_in > 0) {
            if (stream_.avail_out == 0) flush();
            deflate(&stream_, Z_NO_FLUSH);
        }
    }

    void end() {
        while (deflate(&stream_, Z_FINISH) != Z_STREAM_END) flush();
        flush();
    }

private:
    void flush() {
        std::span<const std::uint8_t> data(buffer_.data(), buffer_.size() - stream_.avail_out);
        if (is_first_frame_) {
            data = data.subspan(sequence_bytes);
        } else {
            for (std::size_t i = 0; i < sequence_bytes; ++i)
                buffer_[i] = static_cast<std::uint8_t>(sequence_ >> (8 * (sequence_bytes - 1 - i)));
            ++sequence_;
        }
        heat::write(file_, chunk(is_first_frame_ ? "IDAT" : "fdAT", data));
        renew();
    }
    void renew() {
        stream_.next_out = buffer_.data() + sequence_bytes;
        stream_.avail_out = static_cast<uInt>(buffer_.size() - sequence_bytes);
    }

    static constexpr std::size_t sequence_bytes = 4;  // before the compressed bytes, in fdAT

    pending_file& file_;
    bool is_first_frame_;
    std::uint32_t& sequence_;
    bytes buffer_;
    z_stream stream_{};
};

// The filters of PNG (section 9), by their numbers.
enum class filter : std::uint8_t { none, sub, up, average, paeth };

std::uint8_t nearest_of(int left, int above, int corner) {
    const int estimate = left + above - corner;
    const int to_left = std::abs(estimate - left), to_above = std::abs(estimate - above),
              to_corner = std::abs(estimate - corner);
    if (to_left <= to_above && to_left <= to_corner) return static_cast<std::uint8_t>(left);
    return static_cast<std::uint8_t>(to_above <= to_corner ? above : corner);
}

// A row as the file stores it: the number of the filter, then the filtered bytes.
void apply(filter with, std::span<const std::uint8_t> row, std::span<const std::uint8_t> above,
           bytes& result) {
    result.clear();
    result.push_back(static_cast<std::uint8_t>(with));
    for (std::size_t i = 0; i < row.size(); ++i) {
        const int left = i < channels ? 0 : row[i - channels],
                  corner = i < channels ? 0 : above[i - channels];
        int predicted = 0;
        switch (with) {
            case filter::none: break;
            case filter::sub: predicted = left; break;
            case filter::up: predicted = above[i]; break;
            case filter::average: predicted = (left + above[i]) / 2; break;
            case filter::paeth: predicted = nearest_of(left, above[i], corner); break;
        }
        result.push_back(static_cast<std::uint8_t>(row[i] - predicted));
    }
}

// The heuristic of the PNG specification (section 12.7): the filter whose bytes, read as signed, have the
// smallest sum of magnitudes.
void apply_best(std::span<const std::uint8_t> row, std::span<const std::uint8_t> above, bytes& best,
                bytes& tried) {
    std::size_t best_sum = std::numeric_limits<std::size_t>::max();
    for (const filter each : {filter::none, filter::sub, filter::up, filter::average, filter::paeth}) {
        apply(each, row, above, tried);
        std::size_t sum = 0;
        for (std::size_t i = 1; i < tried.size(); ++i)
            sum += std::min<std::size_t>(tried[i], 256u - tried[i]);
        if (sum < best_sum) {
            best_sum = sum;
            best.swap(tried);
        }
    }
}

}  // namespace

animation::animation(const std::string& file_name, unsigned frames_per_second)
    : file_((check_animation_name(file_name), file_name)), frames_per_second_(frames_per_second) {
    if (frames_per_second < 1 || frames_per_second > 1000)
        throw std::invalid_argument("an animation has from 1 to 1000 frames a second");
}

void animation::begin(const picture& first) {
    if (first.width < 1 || first.height < 1 || first.width > largest_side || first.height > largest_side)
        throw std::invalid_argument(
            fmt::format("a {} x {} picture cannot be animated", first.width, first.height));
    constexpr std::array<std::uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    file_.write(signature.data(), signature.size());
    bytes header;
    put(header, first.width, 4);
    put(header, first.height, 4);
    for (const unsigned each :
         {8, 2, 0, 0, 0})  // bits; red, green, blue; deflate; adaptive filters; no interlace
        put(header, each, 1);
    write(file_, chunk("IHDR", header));
    animation_control_ = file_.size();
    write(file_, animation_control(1));
}

// Compares each row from both ends: pictures that differ everywhere cost little.
animation::rectangle animation::changed(const picture& frame) const {
    if (frames_ == 0) return {0, 0, frame.width, frame.height};
    const std::size_t pitch = frame.row_bytes();
    std::uint32_t top = frame.height, bottom = 0, left = frame.width, right = 0;
    for (std::uint32_t y = 0; y < frame.height; ++y) {
        const auto* now = frame.rgb.data() + y * pitch;
        const auto* before = last_.rgb.data() + y * pitch;
        const auto first = static_cast<std::size_t>(std::mismatch(now, now + pitch, before).first - now);
        if (first == pitch) continue;
        std::size_t last = pitch - 1;
        while (now[last] == before[last]) --last;
        top = std::min(top, y);
        bottom = y;
        left = std::min(left, static_cast<std::uint32_t>(first / channels));
        right = std::max(right, static_cast<std::uint32_t>(last / channels));
    }
    if (top > bottom) return {0, 0, 1, 1};  // no change; the format has no empty frames
    return {left, top, right - left + 1, bottom - top + 1};
}

std::vector<std::uint8_t> animation::frame_control(std::uint32_t sequence, const rectangle& where,
                                                   unsigned numerator, unsigned denominator) {
    bytes data;
    for (const std::uint32_t each : {sequence, where.width, where.height, where.x, where.y})
        put(data, each, 4);
    put(data, numerator, 2);  // of the seconds that the frame is shown
    put(data, denominator, 2);
    put(data, 0, 1);  // afterwards, leave the pixels
    put(data, 0, 1);  // replace the pixels, with no blending
    return chunk("fcTL", data);
}

void animation::write_frame_control(const rectangle& where) {
    last_control_ = file_.size();
    last_rectangle_ = where;
    last_sequence_ = sequence_++;
    write(file_, frame_control(last_sequence_, where, 1, frames_per_second_));
}

void animation::write_pixels(const picture& frame, const rectangle& where) {
    compressor out(file_, frames_ == 0, sequence_);
    const std::size_t count = channels * where.width;
    bytes zeros(count), best, tried;
    std::span<const std::uint8_t> above = zeros;
    for (std::uint32_t y = where.y; y < where.y + where.height; ++y) {
        const std::span row(frame.rgb.data() + y * frame.row_bytes() + channels * where.x, count);
        apply_best(row, above, best, tried);
        out.write(best);
        above = row;
    }
    out.end();
}

void animation::add(const picture& frame) {
    if (frames_ == 0)
        begin(frame);
    else if (frame.width != last_.width || frame.height != last_.height)
        throw std::invalid_argument(
            fmt::format("a {} x {} picture cannot follow one of {} x {} in an animation", frame.width,
                        frame.height, last_.width, last_.height));
    if (frames_ == largest_count || sequence_ > largest_count / 2)
        throw std::length_error("the animation has too many frames");
    const rectangle where = changed(frame);
    write_frame_control(where);
    write_pixels(frame, where);
    last_ = frame;
    ++frames_;
}

void animation::complete(unsigned last_milliseconds) {
    if (frames_ == 0) throw std::logic_error("an animation needs a picture");
    write(file_, chunk("IEND", {}));
    const bytes control = animation_control(frames_);
    file_.write_at(animation_control_, control.data(), control.size());
    if (last_milliseconds > 0) {
        const bytes last =
            frame_control(last_sequence_, last_rectangle_, std::min(last_milliseconds, 65535u), 1000);
        file_.write_at(last_control_, last.data(), last.size());
    }
    file_.complete();
}

void check_animation_name(const std::string& file_name) {
    if (!has_extension(file_name, {".png", ".apng"}))
        throw std::invalid_argument(fmt::format("the animation \"{}\" must end in .png or .apng", file_name));
}

}  // namespace heat
