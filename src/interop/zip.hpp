#pragma once
// Zip archives (PKWARE's APPNOTE.TXT, whose section numbers are cited), as far as .npz files need them: reads
// stored and deflated members, writes stored ones. Archives and members may be larger than 4 GiB.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "balm/function_ref.hpp"
#include "interop/byte_source.hpp"

namespace balm::interop {

struct zip_member {
    std::string name;
    std::uint16_t flags = 0, method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t compressed_bytes = 0, bytes = 0;
    std::uint64_t header_at = 0;  ///< where its local header begins in the archive
};

/// The members of an archive, in the order of its directory. Throws usage_error if the file is not an archive
/// or is damaged.
std::vector<zip_member> read_zip_directory(const file&);

/// Calls `read` with the bytes of a member, which are decompressed as it reads them. Throws usage_error, in
/// which `what` names the member, if the member is damaged, encrypted or compressed by another method than
/// deflate. After `read` has returned, throws it if the checksum of all bytes differs, or if the compressed
/// data has more bytes than the archive states.
void read_zip_member(const file&, const zip_member&, const std::string& what,
                     balm::detail::function_ref<void(byte_source&)> read);

/// An archive to write.
class zip_writer {
public:
    explicit zip_writer(const std::string& path) : file_(path, "wb") {}
    zip_writer(const zip_writer&) = delete;
    zip_writer& operator=(const zip_writer&) = delete;

    const std::string& path() const { return file_.path(); }
    bool has(const std::string& name) const;
    bool is_closed() const { return is_closed_; }
    /// Adds a member of `bytes` bytes: `write` calls its argument with each piece of them.
    using piece_writer = balm::detail::function_ref<void(std::span<const std::byte>)>;
    void add(const std::string& name, std::uint64_t bytes,
             balm::detail::function_ref<void(piece_writer)> write);
    /// Writes the directory. Later calls do nothing.
    void close();

private:
    file file_;
    std::vector<zip_member> members_;
    bool is_closed_ = false;
};

}  // namespace balm::interop
