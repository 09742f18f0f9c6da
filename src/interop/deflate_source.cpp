#include "interop/deflate_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace balm::interop {

struct deflate_source::stream {
    explicit stream(byte_source& from) : compressed(from) {
        constexpr int without_header = -MAX_WBITS;  // archives contain the raw stream
        if (inflateInit2(&state, without_header) != Z_OK) throw std::bad_alloc();
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { inflateEnd(&state); }

    void refill() {
        const auto next = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), compressed.left()));
        compressed.read(next);
        state.next_in = reinterpret_cast<Bytef*>(next.data());
        state.avail_in = static_cast<uInt>(next.size());
    }

    byte_source& compressed;
    z_stream state{};
    std::array<std::byte, std::size_t{1} << 16> buffer{};
};

deflate_source::deflate_source(byte_source& compressed, std::uint64_t size)
    : byte_source(compressed.what(), size), stream_(std::make_unique<stream>(compressed)) {}

deflate_source::~deflate_source() = default;

void deflate_source::next(std::span<std::byte> to) {
    if (expand(to) < to.size()) refuse("its data expands to fewer bytes than the archive records");
}

void deflate_source::finish() {
    std::byte beyond{};
    if (expand({&beyond, 1}) > 0) refuse("its data expands to more bytes than the archive records");
}

std::size_t deflate_source::expand(std::span<std::byte> to) {
    z_stream& state = stream_->state;
    std::size_t made = 0;
    while (made < to.size()) {
        if (state.avail_in == 0) stream_->refill();
        // zlib counts in unsigned int.
        const auto room =
            static_cast<uInt>(std::min<std::size_t>(to.size() - made, std::numeric_limits<uInt>::max()));
        state.next_out = reinterpret_cast<Bytef*>(to.data() + made);
        state.avail_out = room;
        const int result = inflate(&state, Z_NO_FLUSH);
        made += room - state.avail_out;
        switch (result) {
            case Z_OK: break;
            case Z_STREAM_END: return made;
            case Z_BUF_ERROR: refuse("its compressed data ends early");  // `to` has room, so input is missing
            case Z_MEM_ERROR: throw std::bad_alloc();
            default: refuse("its compressed data is damaged");
        }
    }
    return made;
}

}  // namespace balm::interop
