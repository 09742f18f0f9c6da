#pragma once
// Decompresses a deflate stream (RFC 1951) with zlib, piece by piece as it is read.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "interop/byte_source.hpp"

namespace balm::interop {

/// The decompressed bytes of a stream that another source contains. Holds a buffer of compressed bytes and
/// zlib's window of 32 KiB, whatever the size of the stream.
class deflate_source final : public byte_source {
public:
    /// `size` is the stated number of decompressed bytes. Reading throws usage_error if the stream is damaged
    /// or ends early.
    deflate_source(byte_source& compressed, std::uint64_t size);
    ~deflate_source() override;

    /// Call it when all bytes have been read. Throws usage_error if the stream has more.
    void finish();

private:
    struct stream;

    void next(std::span<std::byte> to) override;
    /// Decompresses into `to`; returns the number of bytes before the stream's end.
    std::size_t expand(std::span<std::byte> to);

    std::unique_ptr<stream> stream_;
};

}  // namespace balm::interop
