// Files that appear atomically. In: bytes. Out: a file, by rename.

#include "pending_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace heat {

std::string last_system_error() {
    return errno != 0 ? std::generic_category().message(errno) : "the system gave no reason";
}

pending_file::pending_file(const std::string& name, const char* what)
    : name_(name), temporary_name_(fmt::format("{}.{}.part", name, ::getpid())), what_(what) {
    errno = 0;
    file_ = std::fopen(temporary_name_.c_str(), "wbx");  // x: fails if the file exists
    if (file_ == nullptr) fail(last_system_error());
}

pending_file::~pending_file() {
    if (is_complete_) return;
    if (file_ != nullptr) std::fclose(file_);
    std::remove(temporary_name_.c_str());
}

void pending_file::write(const void* bytes, std::size_t count) {
    errno = 0;
    if (std::fwrite(bytes, 1, count, file_) != count) fail(last_system_error());
}

std::uint64_t pending_file::size() {
    const off_t at = ::ftello(file_);
    if (at < 0) fail(last_system_error());
    return static_cast<std::uint64_t>(at);
}

void pending_file::write_at(std::uint64_t offset, const void* bytes, std::size_t count) {
    seek(offset, SEEK_SET);
    write(bytes, count);
    seek(0, SEEK_END);
}

void pending_file::seek(std::uint64_t offset, int origin) {
    errno = 0;
    if (::fseeko(file_, static_cast<off_t>(offset), origin) != 0) fail(last_system_error());
}

void pending_file::complete() {
    errno = 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(last_system_error());
    std::error_code fault;
    std::filesystem::rename(temporary_name_, name_, fault);
    if (fault) fail(fault.message());
    is_complete_ = true;
}

void pending_file::fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("the {} \"{}\" could not be written: {}", what_, name_, why));
}

}  // namespace heat
