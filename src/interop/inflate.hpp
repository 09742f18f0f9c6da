#pragma once
// Decompression of deflate streams (RFC 1951), as zip archives hold them. Here so that the library needs no
// zlib.

#include <cstddef>
#include <span>

namespace balm::interop {

/// Decompresses a stream, which must give exactly as many bytes as `out` has. Returns why it does not, in
/// words that follow "its compressed data"; null if it did.
const char* inflate(std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace balm::interop
