// .npz files: a zip archive whose members are .npy files with the arrays' names.

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "balm/npy.hpp"
#include "interop/npy_format.hpp"
#include "interop/zip.hpp"

namespace balm::detail {

namespace {

constexpr std::string_view suffix = ".npy";

std::string name_of_array(const interop::zip_member& member) {
    std::string name = member.name;
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
}

}  // namespace

class npz_file {
public:
    explicit npz_file(const std::string& path)
        : file_(path, "rb"), members_(interop::read_zip_directory(file_)) {}

    const std::vector<interop::zip_member>& members() const { return members_; }

    void read(const std::string& name, function_ref<void(interop::byte_source&)> reader) const {
        const auto found =
            std::find_if(members_.begin(), members_.end(),
                         [&](const interop::zip_member& each) { return name_of_array(each) == name; });
        if (found == members_.end()) refuse(name);
        interop::read_zip_member(
            file_, *found, fmt::format("The array {} of the file '{}'", interop::shown(name), file_.path()),
            reader);
    }

private:
    [[noreturn]] void refuse(const std::string& name) const {
        constexpr std::size_t most_named = 10;
        std::string names;
        for (std::size_t k = 0; k < members_.size() && k < most_named; ++k)
            names += (k == 0 ? "" : ", ") + interop::shown(name_of_array(members_[k]));
        if (members_.size() > most_named) names += " and more";
        throw usage_error(fmt::format("The file '{}' has no array {}; it has {}.", file_.path(),
                                      interop::shown(name), members_.empty() ? "none" : names));
    }

    interop::file file_;
    std::vector<interop::zip_member> members_;
};

std::shared_ptr<const npz_file> open_npz(const std::string& path) { return std::make_shared<npz_file>(path); }

std::vector<std::string> npz_names(const npz_file& of) {
    std::vector<std::string> names;
    for (const interop::zip_member& each : of.members()) names.push_back(name_of_array(each));
    return names;
}

npy_header npz_header(const npz_file& of, const std::string& name) {
    npy_header head;
    of.read(name, [&](interop::byte_source& from) { head = interop::read_npy_head(from); });
    return head;
}

void read_npz(const npz_file& of, const std::string& name, const npy_layout& element, npy_place place) {
    of.read(name, [&](interop::byte_source& from) { interop::read_npy_array(from, element, place); });
}

class npz_output {
public:
    explicit npz_output(const std::string& path) : archive(path) {}
    npz_output(const npz_output&) = delete;
    npz_output& operator=(const npz_output&) = delete;
    ~npz_output() {
        try {
            archive.close();
        } catch (const error&) {  // a program that needs the error calls close()
        }
    }

    interop::zip_writer archive;
};

std::shared_ptr<npz_output> create_npz(const std::string& path) { return std::make_shared<npz_output>(path); }

void write_npz(npz_output& to, const std::string& name, const npy_layout& element, const shape& extents,
               const void* elements, npy_order order) {
    constexpr std::size_t longest_name = 0xffff - suffix.size();
    const std::string member = name + std::string(suffix);
    const char* const why = to.archive.is_closed()       ? "it is already closed"
                            : name.empty()               ? "an array needs a name"
                            : name.size() > longest_name ? "the name is too long"
                            : to.archive.has(member)     ? "it already has an array of that name"
                                                         : nullptr;
    if (why != nullptr)
        throw usage_error(fmt::format("The array {} cannot be added to the file '{}': {}.",
                                      interop::shown(name), to.archive.path(), why));
    const std::string head = interop::npy_head(element, extents, order);
    to.archive.add(member, head.size() + interop::npy_element_bytes(element, extents),
                   [&](interop::zip_writer::piece_writer put) {
                       put(std::as_bytes(std::span(head)));
                       interop::write_npy_elements(element, extents, elements, order, put);
                   });
}

void close_npz(npz_output& of) { of.archive.close(); }

}  // namespace balm::detail
