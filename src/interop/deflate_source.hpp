#pragma once
// What a deflate stream (RFC 1951) expands to, piece by piece as it is read, by zlib.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "interop/byte_source.hpp"

namespace balm::interop {

/// The expanded bytes of a stream that another source has. Holds a buffer of compressed bytes and zlib's
/// window of 32 KiB, whatever the size of the stream.
class deflate_source final : public byte_source {
public:
    /// `size`: how many bytes the stream is said to expand to. Reading throws usage_error where it is damaged
    /// or ends before them.
    deflate_source(byte_source& compressed, std::uint64_t size);
    ~deflate_source() override;

    /// To be called when all bytes have been read. Throws usage_error where the stream has more.
    void finish();

private:
    struct stream;

    void next(std::span<std::byte> to) override;
    /// Expands into `to`; returns how many bytes there were before the stream's end.
    std::size_t expand(std::span<std::byte> to);

    std::unique_ptr<stream> stream_;
};

}  // namespace balm::interop
