// Reads and writes worlds. In: a stream or a world. Out: a checked world or its bytes.
// Written for speed (a 5000 x 5000 text is 325 MB) and for untrusted input.

#include "world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <istream>
#include <limits>
#include <ostream>
#include <string_view>
#include <system_error>

#include "cell_text.hpp"

namespace heat {
namespace {

constexpr std::string_view text_header = "HPCEHeatWorldV0";
constexpr std::string_view binary_header = "HPCEHeatWorldV0Binary";
constexpr std::string_view footer = "End";
constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr std::size_t text_block_bytes =
    1 << 20;  // per thread: converting it takes ten times as long as starting one

static_assert(std::endian::native == std::endian::little, "the binary format is little-endian");

// A token as quoted in a one-line message: printable and short.
std::string quoted(std::string_view token) {
    std::string result = "\"";
    for (char character : token.substr(0, 24))
        result += character >= ' ' && character <= '~' ? character : '?';
    return result + (token.size() > 24 ? "…\"" : "\"");
}

// The next bytes of a stream, a chunk at a time, and their position in it.
class byte_source {
public:
    explicit byte_source(std::istream& stream) : stream_(stream), buffer_(chunk_bytes) {}

    // Makes at least `wanted` bytes (at most a chunk) available, fewer at the end of the stream.
    std::string_view peek(std::size_t wanted) {
        if (available() < wanted) refill();
        return {buffer_.data() + next_, std::min(wanted, available())};
    }

    std::size_t available() const noexcept { return last_ - next_; }

    void skip(std::size_t count) noexcept { next_ += count; }

    // Skips white space; returns the number of newlines.
    std::uint64_t skip_space() {
        const std::uint64_t line_before = line_;
        do {
            while (next_ < last_ && is_space(buffer_[next_])) line_ += buffer_[next_++] == '\n';
        } while (next_ == last_ && !peek(1).empty());
        return line_ - line_before;
    }

    // The token before the next white space, not consumed. Cut off if it is longer than `longest_token`.
    std::string_view peek_token() {
        const std::string_view bytes = peek(longest_token + 1);
        std::size_t length = 0;
        while (length < bytes.size() && !is_space(bytes[length])) ++length;
        return bytes.substr(0, length);
    }

    // Enlarges the buffer, for many cells at once.
    void enlarge(std::size_t bytes) { buffer_.resize(std::max(bytes, buffer_.size())); }

    // The available bytes, without reading more.
    std::string_view available_bytes() const noexcept { return {buffer_.data() + next_, available()}; }

    void consume(const text_progress& progress) noexcept {
        next_ += progress.bytes;
        line_ += progress.lines;
    }

    // Errors in text are reported with their line; binary data has no lines after the header.
    void count_no_lines() noexcept { has_lines_ = false; }

    [[noreturn]] void fail(const std::string& what) const {
        const std::uint64_t offset = start_ + next_;
        throw format_error(has_lines_ ? fmt::format("{} (line {}, byte {})", what, line_, offset)
                                      : fmt::format("{} (byte {})", what, offset),
                           offset);
    }

private:
    void refill() {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(next_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(last_), buffer_.begin());
        start_ += next_;
        last_ -= next_;
        next_ = 0;
        if (!stream_.good()) return;
        stream_.read(buffer_.data() + last_, static_cast<std::streamsize>(buffer_.size() - last_));
        last_ += static_cast<std::size_t>(stream_.gcount());
        if (stream_.bad())
            throw std::runtime_error("the input cannot be read (a directory, or a failing device?)");
    }

    std::istream& stream_;
    std::vector<char> buffer_;
    std::size_t next_ = 0, last_ = 0;  // the bytes in the buffer not yet consumed
    std::uint64_t start_ = 0;          // offset of the buffer in the stream
    std::uint64_t line_ = 1;
    bool has_lines_ = true;
};

class world_reader {
public:
    explicit world_reader(std::istream& stream) : source_(stream) {}

    world read() {
        const format found = read_header();
        read_sizes();
        source_.skip_space();
        if (found == format::text) {
            read_text_cells();
        } else {
            read_binary_cells();
        }
        read_footer();
        return std::move(world_);
    }

private:
    format read_header() {
        const std::string_view token = source_.peek_token();
        if (token != text_header && token != binary_header) {
            if (source_.peek(1).empty()) source_.fail("the input is empty");
            source_.fail(fmt::format("the input starts with {}, so it is not a heat world ({} or {})",
                                     quoted(token), text_header, binary_header));
        }
        const format found = token == text_header ? format::text : format::binary;
        source_.skip(token.size());
        return found;
    }

    void read_sizes() {
        world_.width = read_size("width");
        world_.height = read_size("height");
        const std::string_view token = next_token("the propagation constant");
        if (!parse_number(token, world_.alpha) || !std::isfinite(world_.alpha) || world_.alpha < 0)
            source_.fail(fmt::format("the propagation constant {} is not a finite number of at least 0",
                                     quoted(token)));
        source_.skip(token.size());
    }

    unsigned read_size(const char* name) {
        const std::string_view token = next_token(fmt::format("the {}", name));
        unsigned size = 0;
        if (!parse_number(token, size) || size == 0)
            source_.fail(fmt::format("the {} {} is not a whole number from 1 to {}", name, quoted(token),
                                     std::numeric_limits<unsigned>::max()));
        source_.skip(token.size());
        return size;
    }

    // The next token, not yet consumed, so that an error in it is reported at its start.
    std::string_view next_token(std::string_view expected) {
        source_.skip_space();
        const std::string_view token = source_.peek_token();
        if (token.empty()) source_.fail(fmt::format("the input ends where {} should be", expected));
        return token;
    }

    // Text: one token per cell.

    void read_text_cells() {
        read_text_separator("the cells' flags");
        read_text_values(world_.properties, flags_bytes, parse_flags,
                         [this](std::size_t cell) { return read_text_flags(cell); });
        read_text_separator("the temperatures");
        read_text_values(world_.state, temperature_bytes, parse_temperatures,
                         [this](std::size_t cell) { return read_text_temperature(cell); });
    }

    // Parses blocks of the buffer. Leaves the last token of each block, and invalid ones, to read_one.
    template <class Value, class ParseMany, class ReadOne>
    void read_text_values(std::vector<Value>& values, std::size_t usual_bytes, ParseMany parse_many,
                          ReadOne read_one) {
        const unsigned threads = conversion_threads();
        source_.enlarge(std::min(threads * text_block_bytes / usual_bytes, world_.size()) * usual_bytes);
        while (values.size() < world_.size()) {
            values.push_back(read_one(values.size()));
            source_.consume(
                parse_many(source_.available_bytes(), world_.size() - values.size(), values, threads));
            reserve_the_rest(values);
        }
    }

    // Trusts the header once a sixteenth of the values has arrived: growing further would copy them all.
    template <class Value>
    void reserve_the_rest(std::vector<Value>& values) const {
        if (values.size() >= world_.size() / 16) values.reserve(world_.size());
    }

    void read_text_separator(const char* what_follows) {
        const std::string_view token = next_token("a \"-\"");
        if (token != "-")
            source_.fail(fmt::format("{} instead of a \"-\" before {}", quoted(token), what_follows));
        source_.skip(1);
    }

    std::uint32_t read_text_flags(std::size_t index) {
        const std::string_view token = next_cell_token("flags", index);
        std::uint32_t flags = 0;
        if (!parse_number(token, flags) || !is_kind(flags)) fail_flags(index, quoted(token));
        source_.skip(token.size());
        return flags;
    }

    float read_text_temperature(std::size_t index) {
        const std::string_view token = next_cell_token("temperature", index);
        float value = 0;
        if (!parse_number(token, value) || !is_temperature(value)) fail_temperature(index, quoted(token));
        source_.skip(token.size());
        return value + 0.0f;  // -0 becomes 0
    }

    std::string_view next_cell_token(const char* what, std::size_t index) {
        source_.skip_space();
        const std::string_view token = source_.peek_token();
        if (token.empty()) fail_truncated(what, index);
        return token;
    }

    // Binary: each array as it is in memory, immediately after its "-".

    void read_binary_cells() {
        source_.count_no_lines();
        read_binary_array("flags", world_.properties, [this](std::size_t index, std::uint32_t& flags) {
            if (!is_kind(flags)) fail_flags(index, fmt::format("{:#x}", flags));
        });
        read_binary_array("temperature", world_.state, [this](std::size_t index, float& value) {
            if (!is_temperature(value)) fail_temperature(index, fmt::format("{:g}", value));
            value += 0.0f;
        });
    }

    template <class Value, class Check>
    void read_binary_array(const char* what, std::vector<Value>& values, Check check_value) {
        const std::string_view separator = source_.peek(1);
        if (separator.empty()) source_.fail("the input ends where a \"-\" should be");
        if (separator != "-")
            source_.fail(
                fmt::format("{} instead of a \"-\" before the first cell's {}", quoted(separator), what));
        source_.skip(1);
        while (values.size() < world_.size()) {
            const std::size_t index = values.size();
            if (source_.peek(sizeof(Value)).size() < sizeof(Value)) fail_truncated(what, index);
            const std::size_t count = std::min(world_.size() - index, source_.available() / sizeof(Value));
            values.resize(index + count);
            std::memcpy(values.data() + index, source_.peek(count * sizeof(Value)).data(),
                        count * sizeof(Value));
            for (std::size_t i = index; i < index + count; ++i) {
                check_value(i, values[i]);
                source_.skip(sizeof(Value));
            }
            reserve_the_rest(values);
        }
    }

    void read_footer() {
        const std::string_view token = next_token("\"End\"");
        if (token != footer)
            source_.fail(fmt::format("{} instead of \"End\" after the last cell", quoted(token)));
        source_.skip(token.size());
        if (source_.skip_space() == 0 && source_.peek(1).empty())
            source_.fail("the input ends before the newline after \"End\"");
        if (!source_.peek(1).empty())
            source_.fail(
                fmt::format("{} after \"End\", where the file should end", quoted(source_.peek_token())));
    }

    std::string cell(std::size_t index) const {
        return fmt::format("cell ({}, {})", index % world_.width, index / world_.width);
    }

    [[noreturn]] void fail_truncated(const char* what, std::size_t index) const {
        source_.fail(fmt::format("the input ends before the {} of {} of a {} x {} world", what, cell(index),
                                 world_.width, world_.height));
    }

    [[noreturn]] void fail_flags(std::size_t index, const std::string& found) const {
        source_.fail(fmt::format("the flags of {} are {}, not 0 (normal), 1 (fixed) or 2 (insulator)",
                                 cell(index), found));
    }

    [[noreturn]] void fail_temperature(std::size_t index, const std::string& found) const {
        source_.fail(
            fmt::format("the temperature of {} is {}, not a number from 0 to 1", cell(index), found));
    }

    byte_source source_;
    world world_;
};

// Buffers bytes and writes them in large pieces.
class byte_sink {
public:
    explicit byte_sink(std::ostream& stream) : stream_(stream) { buffer_.reserve(chunk_bytes + 256); }

    void add(std::string_view bytes) {
        buffer_.append(bytes);
        if (buffer_.size() >= chunk_bytes) pass_on();
    }

    void add_raw(const void* bytes, std::size_t count) {
        pass_on();
        stream_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
        check_stream();
    }

    void finish() {
        pass_on();
        stream_.flush();
        check_stream();
    }

private:
    void pass_on() {
        errno = 0;
        stream_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        buffer_.clear();
        check_stream();
    }

    void check_stream() const {
        if (stream_.good()) return;
        throw std::runtime_error(
            fmt::format("the world could not be written: {}",
                        errno != 0 ? std::generic_category().message(errno) : "the system gave no reason"));
    }

    std::ostream& stream_;
    std::string buffer_;
};

// Writes a block of cells at a time; the number of bytes of each cell is known.
template <class Value, class Print>
void write_text_values(byte_sink& sink, const std::vector<Value>& values, std::size_t width,
                       std::size_t bytes, Print print) {
    sink.add("-\n");
    const unsigned threads = conversion_threads();
    const std::size_t block = std::min(values.size(), threads * text_block_bytes / bytes);
    std::vector<char> text(block * (bytes + 1));
    for (std::size_t first = 0; first < values.size(); first += block) {
        const std::size_t count = std::min(block, values.size() - first);
        print(std::span(values).subspan(first, count), first, width, text.data(), threads);
        sink.add_raw(text.data(), count * bytes + newlines(first, first + count, width));
    }
}

void write_text_cells(byte_sink& sink, const world& world) {
    write_text_values(sink, world.properties, world.width, flags_bytes, print_flags);
    write_text_values(sink, world.state, world.width, temperature_bytes, print_temperatures);
}

void write_binary_cells(byte_sink& sink, const world& world) {
    sink.add("-");
    sink.add_raw(world.properties.data(), world.properties.size() * sizeof(std::uint32_t));
    sink.add("-");
    sink.add_raw(world.state.data(), world.state.size() * sizeof(float));
}

}  // namespace

void check(const world& world) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
    require(world.width > 0 && world.height > 0, "a world needs at least one cell");
    require(std::isfinite(world.alpha) && world.alpha >= 0,
            "a world's propagation constant must be finite and at least 0");
    require(world.properties.size() == world.size() && world.state.size() == world.size(),
            "a world needs one flag and one temperature per cell");
    require(std::all_of(world.properties.begin(), world.properties.end(), is_kind),
            "a world's cells must be normal, fixed or insulators");
    require(std::all_of(world.state.begin(), world.state.end(), is_temperature),
            "a world's temperatures must be from 0 to 1");
}

world read_world(std::istream& input) { return world_reader(input).read(); }

void write_world(std::ostream& output, const world& world, format format) {
    check(world);
    byte_sink sink(output);
    std::array<char, 32> alpha;  // the shortest digits that read back as the same float
    const auto alpha_end = std::to_chars(alpha.data(), alpha.data() + alpha.size(), world.alpha + 0.0f).ptr;
    sink.add(fmt::format("{}\n{} {} {}\n", format == format::text ? text_header : binary_header, world.width,
                         world.height,
                         std::string_view(alpha.data(), static_cast<std::size_t>(alpha_end - alpha.data()))));
    if (format == format::text) {
        write_text_cells(sink, world);
    } else {
        write_binary_cells(sink, world);
    }
    sink.add("End\n");
    sink.finish();
}

}  // namespace heat
