#pragma once
// Zip archives (PKWARE's APPNOTE.TXT, whose section numbers are cited), as far as .npz files need them:
// members that are stored or deflated are read, stored ones are written; archives and members may be larger
// than 4 GiB.

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

/// The archive's directory, in its order. Throws usage_error where it is none or damaged.
std::vector<zip_member> read_zip_directory(const file&);

/// Calls `read` with the bytes of a member, which are expanded as it reads them. Throws usage_error, with the
/// words of `what` it is, where it is damaged, encrypted or compressed in another way than by deflate; and
/// where the checksum of all its bytes differs, or its compressed data has more of them than the archive
/// says, which is known once `read` has returned.
void read_zip_member(const file&, const zip_member&, const std::string& what,
                     balm::detail::function_ref<void(byte_source&)> read);

/// An archive that is written.
class zip_writer {
public:
    explicit zip_writer(const std::string& path) : file_(path, "wb") {}
    zip_writer(const zip_writer&) = delete;
    zip_writer& operator=(const zip_writer&) = delete;

    const std::string& path() const { return file_.path(); }
    bool has(const std::string& name) const;
    bool is_closed() const { return is_closed_; }
    /// Adds a member of that many bytes: `write` calls its argument with each piece of them.
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
