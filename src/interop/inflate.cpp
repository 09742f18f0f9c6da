// Codes are looked up in one table a block, by as many bits as its longest code has. Section numbers are
// those of RFC 1951.

#include "interop/inflate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace balm::interop {

namespace {

constexpr unsigned longest_code = 15;

/// What a stream does wrong; no balm::error, since only the caller knows the file.
struct fault {
    const char* words;
};

/// Bits from the lowest of each byte on (3.1.1). Beyond the end there are zeros, which may be looked at but
/// not taken.
class bit_source {
public:
    explicit bit_source(std::span<const std::byte> bytes) : bytes_(bytes) {}

    /// The next bits, which stay.
    std::uint32_t look(unsigned count) {
        while (held_ < count) {
            const std::uint64_t next = at_ < bytes_.size() ? static_cast<std::uint64_t>(bytes_[at_]) : 0;
            bits_ |= next << held_;
            ++at_;
            held_ += 8;
        }
        return static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
    }
    void drop(unsigned count) {
        bits_ >>= count;
        held_ -= count;
        if (at_ > bytes_.size() && 8 * (at_ - bytes_.size()) > held_) throw fault{"ends early"};
    }
    std::uint32_t take(unsigned count) {
        const std::uint32_t bits = look(count);
        drop(count);
        return bits;
    }
    /// Whole bytes, from the next byte's beginning on.
    std::span<const std::byte> take_bytes(std::size_t count) {
        drop(held_ % 8);
        at_ -= held_ / 8;
        bits_ = held_ = 0;
        if (count > bytes_.size() - at_) throw fault{"ends early"};
        at_ += count;
        return bytes_.subspan(at_ - count, count);
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    std::uint64_t bits_ = 0;
    unsigned held_ = 0;
};

/// A prefix code from the lengths of its symbols' codes (3.2.2).
class prefix_code {
public:
    explicit prefix_code(std::span<const std::uint8_t> lengths) {
        std::array<std::uint32_t, longest_code + 1> count{};
        for (const std::uint8_t length : lengths) ++count[length];
        count[0] = 0;
        std::array<std::uint32_t, longest_code + 1> next{};
        std::uint32_t code = 0;
        for (unsigned length = 1; length <= longest_code; ++length) {
            code = (code + count[length - 1]) << 1;
            next[length] = code;
            if (code + count[length] > std::uint32_t{1} << length) throw fault{"has a code that is none"};
            if (count[length] > 0) bits_ = length;
        }
        table_.assign(std::size_t{1} << bits_, entry{});
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
            if (lengths[symbol] > 0) enter(static_cast<std::uint16_t>(symbol), lengths[symbol], next);
    }

    unsigned decode(bit_source& from) const {
        const entry found = table_[from.look(bits_)];
        if (found.length == 0) throw fault{"has a code that means nothing"};
        from.drop(found.length);
        return found.symbol;
    }

private:
    struct entry {
        std::uint16_t symbol = 0;
        std::uint8_t length = 0;  // 0: no code begins so
    };

    /// Codes come with their first bit lowest: they are reversed, and whatever follows them is looked up too.
    void enter(std::uint16_t symbol, std::uint8_t length, std::array<std::uint32_t, longest_code + 1>& next) {
        std::uint32_t code = next[length]++, reversed = 0;
        for (unsigned bit = 0; bit < length; ++bit, code >>= 1) reversed = reversed << 1 | (code & 1);
        for (std::size_t at = reversed; at < table_.size(); at += std::size_t{1} << length)
            table_[at] = {symbol, length};
    }

    unsigned bits_ = 0;
    std::vector<entry> table_;
};

/// What a length or distance symbol stands for: a number, and how many bits that follow add to it (3.2.5).
struct range {
    std::uint16_t first;
    std::uint8_t bits;
};
constexpr std::array<range, 29> match_lengths{{
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1},  {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3},  {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
}};
constexpr std::array<range, 30> match_distances{{
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},      {9, 2},     {13, 2},
    {17, 3},    {25, 3},    {33, 4},    {49, 4},     {65, 5},     {97, 5},     {129, 6},   {193, 6},
    {257, 7},   {385, 7},   {513, 8},   {769, 8},    {1025, 9},   {1537, 9},   {2049, 10}, {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13},
}};
constexpr unsigned end_of_block = 256, first_length = 257;

std::size_t value_of(std::span<const range> ranges, std::size_t symbol, bit_source& bits) {
    if (symbol >= ranges.size()) throw fault{"has a code that means nothing"};
    return ranges[symbol].first + bits.take(ranges[symbol].bits);
}

class decompressor {
public:
    decompressor(std::span<const std::byte> in, std::span<std::byte> out) : bits_(in), out_(out) {}

    void run() {
        bool is_last = false;
        while (!is_last) {
            is_last = bits_.take(1) != 0;
            switch (bits_.take(2)) {
                case 0: copy_stored(); break;
                case 1: expand(fixed_literals(), fixed_distances()); break;
                case 2: expand_by_own_codes(); break;
                default: throw fault{"has a block of an unknown kind"};
            }
        }
        if (made_ != out_.size()) throw fault{"has fewer bytes than the archive says"};
    }

private:
    /// 3.2.4
    void copy_stored() {
        const std::span<const std::byte> sizes = bits_.take_bytes(4);
        const auto number = [&](std::size_t at) {
            return static_cast<unsigned>(sizes[at]) | static_cast<unsigned>(sizes[at + 1]) << 8;
        };
        const unsigned count = number(0);
        if ((count ^ number(2)) != 0xffff) throw fault{"has a block whose two sizes differ"};
        check_room(count);
        const std::span<const std::byte> bytes = bits_.take_bytes(count);
        std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(made_));
        made_ += count;
    }

    void expand(const prefix_code& literals, const prefix_code& distances) {
        for (;;) {
            const unsigned symbol = literals.decode(bits_);
            if (symbol == end_of_block) return;
            if (symbol < end_of_block) {
                check_room(1);
                out_[made_++] = static_cast<std::byte>(symbol);
                continue;
            }
            const std::size_t count = value_of(match_lengths, symbol - first_length, bits_);
            const std::size_t distance = value_of(match_distances, distances.decode(bits_), bits_);
            if (distance > made_) throw fault{"refers to bytes before its first"};
            check_room(count);
            // The two may overlap: bytes that are written here are read again.
            for (std::size_t k = 0; k < count; ++k, ++made_) out_[made_] = out_[made_ - distance];
        }
    }

    /// 3.2.7
    void expand_by_own_codes() {
        const std::size_t literals = bits_.take(5) + 257, distances = bits_.take(5) + 1,
                          code_lengths = bits_.take(4) + 4;
        constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
        std::array<std::uint8_t, 19> of_lengths{};
        for (std::size_t k = 0; k < code_lengths; ++k)
            of_lengths[order[k]] = static_cast<std::uint8_t>(bits_.take(3));
        const prefix_code code(of_lengths);
        std::array<std::uint8_t, 32 + 32 + 256> lengths{};
        std::size_t known = 0;
        const auto repeat = [&](std::uint8_t length, std::size_t count) {
            if (count > literals + distances - known) throw fault{"has a code with too many lengths"};
            std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(known), count, length);
            known += count;
        };
        while (known < literals + distances) {
            const unsigned symbol = code.decode(bits_);
            if (symbol < 16) {
                repeat(static_cast<std::uint8_t>(symbol), 1);
            } else if (symbol == 16) {
                if (known == 0) throw fault{"repeats a length before the first"};
                repeat(lengths[known - 1], 3 + bits_.take(2));
            } else {
                repeat(0, symbol == 17 ? 3 + bits_.take(3) : 11 + bits_.take(7));
            }
        }
        const std::span<const std::uint8_t> all(lengths);
        expand(prefix_code(all.first(literals)), prefix_code(all.subspan(literals, distances)));
    }

    /// 3.2.6
    static const prefix_code& fixed_literals() {
        static const prefix_code& made = *new prefix_code([] {  // never destroyed
            std::array<std::uint8_t, 288> lengths{};
            for (std::size_t k = 0; k < lengths.size(); ++k)
                lengths[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
            return lengths;
        }());
        return made;
    }
    static const prefix_code& fixed_distances() {
        static const prefix_code& made = *new prefix_code([] {
            std::array<std::uint8_t, 32> lengths{};
            lengths.fill(5);
            return lengths;
        }());
        return made;
    }

    void check_room(std::size_t count) const {
        if (count > out_.size() - made_) throw fault{"has more bytes than the archive says"};
    }

    bit_source bits_;
    std::span<std::byte> out_;
    std::size_t made_ = 0;
};

}  // namespace

const char* inflate(std::span<const std::byte> in, std::span<std::byte> out) {
    try {
        decompressor(in, out).run();
        return nullptr;
    } catch (const fault& found) {
        return found.words;
    }
}

}  // namespace balm::interop
