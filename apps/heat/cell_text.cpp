// Converts cells to text and back. In: text or numbers. Out: the other. The input is split into pieces, one
// per thread. Text is split at white space, and each piece is parsed into a separate array, since the number
// of values in a piece is not known in advance.

#include "cell_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>

namespace heat {
namespace {

constexpr std::size_t smallest_piece = std::size_t{1}
                                       << 16;  // bytes; starting a thread takes as long as converting 20 KB

static_assert(std::endian::native == std::endian::little,
              "eight digits are a word whose first byte is the first digit");

// ---- digits, eight at a time

std::uint64_t load_word(const char* text) noexcept {
    std::uint64_t word;
    std::memcpy(&word, text, sizeof word);
    return word;
}

// A digit has 3 in its upper four bits, also after adding 6.
bool are_digits(std::uint64_t word) noexcept {
    constexpr std::uint64_t upper = 0xF0F0F0F0F0F0F0F0u;
    return ((word & upper) | (((word + 0x0606060606060606u) & upper) >> 4)) == 0x3333333333333333u;
}

// Combines neighbouring digits, then pairs, then groups of four.
std::uint32_t number_of(std::uint64_t digits) noexcept {
    digits -= 0x3030303030303030u;
    digits = digits * 10 + (digits >> 8);
    constexpr std::uint64_t pairs = 0x000000FF000000FFu;
    return static_cast<std::uint32_t>(((digits & pairs) * (100 + (std::uint64_t{1000000} << 32)) +
                                       ((digits >> 16) & pairs) * (1 + (std::uint64_t{10000} << 32))) >>
                                      32);
}

// The inverse: groups of four, pairs, digits. The factors are 1/100 and 1/10 rounded up, exact below 10000
// and 100.
std::uint64_t digits_of(std::uint32_t number) noexcept {
    std::uint64_t lanes = number / 10000 | std::uint64_t{number % 10000} << 32;
    std::uint64_t upper = (lanes * 10486 >> 20) & 0x0000007F0000007Fu;
    lanes = upper | (lanes - 100 * upper) << 16;
    upper = (lanes * 103 >> 10) & 0x000F000F000F000Fu;
    lanes = upper | (lanes - 10 * upper) << 8;
    return lanes + 0x3030303030303030u;
}

// ---- one value

// Both parse a value of the usual length that is followed by white space, and return its length; else 0.

std::size_t parse_usual(const char* text, const char* end, std::uint32_t& value) noexcept {
    if (end - text < 2 || !is_space(text[1])) return 0;
    value = static_cast<std::uint32_t>(static_cast<unsigned char>(text[0])) - '0';
    return is_kind(value) ? 1 : 0;
}

std::size_t parse_usual(const char* text, const char* end, float& value) noexcept {
    constexpr std::size_t length = temperature_bytes - 1;
    if (static_cast<std::size_t>(end - text) <= length || text[1] != '.' || !is_space(text[length])) return 0;
    const std::uint64_t decimals = load_word(text + 2);
    if ((text[0] != '0' && text[0] != '1') || !are_digits(decimals)) return 0;
    const std::uint32_t number = static_cast<std::uint32_t>(text[0] - '0') * 100000000u + number_of(decimals);
    // Rounded twice, yet correctly: no n / 10^8 lies so close to the middle of two floats that a double
    // cannot tell them apart (they are at least 1 / (10^8 * 2^25) of the value apart, if not equal).
    value = static_cast<float>(number / 1e8);
    return is_temperature(value) ? length : 0;
}

bool parse_any(std::string_view token, std::uint32_t& value) {
    return parse_number(token, value) && is_kind(value);
}

bool parse_any(std::string_view token, float& value) {
    if (!parse_number(token, value) || !is_temperature(value)) return false;
    value += 0.0f;  // -0 becomes 0
    return true;
}

// ---- many values

// Also consumes the white space after a value, so that a piece of valid values is consumed to its end.
template <class Value>
text_progress parse_piece(std::string_view text, std::size_t limit, std::vector<Value>& values) {
    const char* const end = text.data() + text.size();
    const char* next = text.data();
    text_progress progress;
    while (true) {
        while (next < end && is_space(*next)) progress.lines += *next++ == '\n';
        progress.bytes = static_cast<std::size_t>(next - text.data());
        if (next == end || limit == 0) return progress;
        Value value{};
        std::size_t length = parse_usual(next, end, value);
        if (length == 0) {
            const char* stop = std::find_if(next, end, is_space);
            length = static_cast<std::size_t>(stop - next);
            if (stop == end || !parse_any({next, length}, value)) return progress;
        }
        values.push_back(value);
        --limit;
        next += length;
    }
}

std::size_t piece_count(std::size_t bytes, unsigned threads) {
    return std::clamp<std::size_t>(bytes / smallest_piece, 1, threads);
}

// Runs body(0), body(1), … concurrently.
template <class Body>
void on_threads(std::size_t count, const Body& body) {
    std::vector<std::future<void>> others;
    others.reserve(count);
    for (std::size_t i = 1; i < count; ++i)
        others.push_back(std::async(std::launch::async, [&body, i] { body(i); }));
    body(0);
    for (std::future<void>& other : others) other.get();
}

template <class Value>
text_progress parse_values(std::string_view text, std::size_t limit, std::vector<Value>& values,
                           std::size_t usual_bytes, unsigned threads) {
    const std::size_t count = piece_count(text.size(), threads);
    if (count == 1) return parse_piece(text, limit, values);

    struct piece {
        std::string_view text;
        std::vector<Value> values;
        text_progress progress;
    };
    std::vector<piece> pieces(count);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t end = std::max(begin, text.size() / count * (i + 1));
        while (end < text.size() && !is_space(text[end])) ++end;
        end =
            i + 1 < count ? std::min(end + 1, text.size()) : text.size();  // with the space that ends a value
        pieces[i].text = text.substr(begin, end - begin);
        begin = end;
    }
    on_threads(count, [&](std::size_t i) {
        pieces[i].values.reserve(pieces[i].text.size() / usual_bytes + 1);
        pieces[i].progress = parse_piece(pieces[i].text, limit, pieces[i].values);
    });

    text_progress progress;
    for (piece& each : pieces) {
        if (each.values.size() > limit) {  // past the limit: parse again up to it
            each.values.clear();
            each.progress = parse_piece(each.text, limit, each.values);
        }
        values.insert(values.end(), each.values.begin(), each.values.end());
        limit -= each.values.size();
        progress.bytes += each.progress.bytes;
        progress.lines += each.progress.lines;
        if (each.progress.bytes < each.text.size()) break;
    }
    return progress;
}

void print_value(std::uint32_t flags, char* text) noexcept {
    text[0] = ' ';
    text[1] = static_cast<char>('0' + flags);
}

// A float times 10^8 is exact in a double (24 + 19 bits and a power of two). Adding 2^52 rounds it to the
// nearest integer, ties to even, in the lower bits of the sum: the digits that printf's %.8f prints.
void print_value(float temperature, char* text) noexcept {
    const auto number =
        static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(double{temperature} * 1e8 + 0x1p52));
    const bool is_one = number == 100000000;
    const std::uint64_t decimals = digits_of(is_one ? 0 : number);
    text[0] = ' ';
    text[1] = is_one ? '1' : '0';
    text[2] = '.';
    std::memcpy(text + 3, &decimals, sizeof decimals);
}

template <class Value>
void print_values(std::span<const Value> values, std::size_t first, std::size_t width, char* text,
                  std::size_t bytes, unsigned threads) {
    const std::size_t count = piece_count(values.size() * bytes, threads);
    on_threads(count, [&](std::size_t i) {
        const std::size_t begin = values.size() * i / count, end = values.size() * (i + 1) / count;
        char* next = text + begin * bytes + newlines(first, first + begin, width);
        std::size_t left = width - (first + begin) % width;  // in this row
        for (std::size_t k = begin; k < end; ++k) {
            print_value(values[k], next);
            next += bytes;
            if (--left == 0) {
                *next++ = '\n';
                left = width;
            }
        }
    });
}

template <class Number>
bool parse_whole(std::string_view token, Number& value) {
    const char* end = token.data() + token.size();
    auto [stop, fault] = std::from_chars(token.data(), end, value);
    if constexpr (std::is_floating_point_v<Number>) {
        double wide = 0;
        if (fault == std::errc::result_out_of_range &&
            std::from_chars(token.data(), end, wide).ec == std::errc{} && std::abs(wide) < 1) {
            value = static_cast<Number>(wide);
            fault = std::errc{};
        }
    }
    return fault == std::errc{} && stop == end && !token.empty() && token.size() <= longest_token;
}

}  // namespace

bool parse_number(std::string_view token, std::uint32_t& value) { return parse_whole(token, value); }
bool parse_number(std::string_view token, float& value) { return parse_whole(token, value); }

unsigned conversion_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 16u); }

text_progress parse_flags(std::string_view text, std::size_t limit, std::vector<std::uint32_t>& values,
                          unsigned threads) {
    return parse_values(text, limit, values, flags_bytes, threads);
}

text_progress parse_temperatures(std::string_view text, std::size_t limit, std::vector<float>& values,
                                 unsigned threads) {
    return parse_values(text, limit, values, temperature_bytes, threads);
}

std::size_t newlines(std::size_t first, std::size_t last, std::size_t width) {
    return last / width - first / width;
}

void print_flags(std::span<const std::uint32_t> values, std::size_t first, std::size_t width, char* text,
                 unsigned threads) {
    print_values(values, first, width, text, flags_bytes, threads);
}

void print_temperatures(std::span<const float> values, std::size_t first, std::size_t width, char* text,
                        unsigned threads) {
    print_values(values, first, width, text, temperature_bytes, threads);
}

}  // namespace heat
