// Reads and writes Matrix Market files, from and to matrices on devices.

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "algorithm/sparse/matrix_market.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/error.hpp"
#include "balm/matrix_market.hpp"
#include "base/read_file.hpp"

namespace balm::array {

namespace {

/// A file that is written in large pieces.
class market_file {
public:
    explicit market_file(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
        if (file_ == nullptr) fail();
    }
    market_file(const market_file&) = delete;
    ~market_file() {
        if (file_ != nullptr) std::fclose(file_);
    }

    /// Text to be written by pass_on() or close().
    std::string text;

    void pass_on() {
        if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
        text.clear();
    }
    void close() {
        pass_on();
        if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
    }

private:
    [[noreturn]] void fail() const {
        throw usage_error(
            fmt::format("the Matrix Market file '{}' cannot be written: {}", path_, std::strerror(errno)));
    }

    const std::string& path_;
    std::FILE* file_;
};

template <class T, class I>
void write_entries(const std::string& path, const sparse_state* matrix) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    const std::size_t entries = kept_entries_of(matrix), rows = rows_of(*matrix);
    std::vector<I> pointers(rows + 1), columns(entries);
    std::vector<T> values(entries);
    read_csr(*matrix, {pointers.data(), columns.data(), values.data()});
    market_file file(path);
    file.text = matrix_market_head<T>(rows, columns_of(*matrix), entries);
    for (std::size_t r = 0; r < rows; ++r)
        for (auto k = static_cast<std::size_t>(pointers[r]); k < static_cast<std::size_t>(pointers[r + 1]);
             ++k) {
            print_market_entry(file.text, static_cast<std::int64_t>(r), columns[k], values[k]);
            if (file.text.size() >= piece) file.pass_on();
        }
    file.close();
}

std::string text_of(const std::string& path) {
    std::string text;
    const std::string why = runtime::read_file(path, std::numeric_limits<std::size_t>::max(), text);
    if (!why.empty()) throw usage_error(fmt::format("the Matrix Market file '{}' {}", path, why));
    return text;
}

}  // namespace

std::shared_ptr<const sparse_state> read_matrix_market(const context& where, const std::string& path,
                                                       trace::type value, scalar index, storage how) {
    std::string text = text_of(path);
    return with_types(value, index, [&]<class T, class I>() {
        const market_matrix<T> read = parse_matrix_market<T>(text, path);
        std::string().swap(text);
        return make_sparse(
            where,
            host_triplets{read.rows, read.columns, balm::detail::host_integers_of(read.row_indices),
                          balm::detail::host_integers_of(read.column_indices), read.values.data(),
                          read.values.size()},
            value, index, how);
    });
}

market_elements read_matrix_market_array(const context& where, const std::string& path, trace::type value) {
    const std::string text = text_of(path);
    return with_types(value, scalar::i32, [&]<class T, class>() {
        const market_array<T> read = parse_matrix_market_array<T>(text, path);
        vector<T> made(where, read.values);
        return market_elements{read.rows, read.columns, made.state()};
    });
}

void write_matrix_market(const std::string& path, const sparse_state* matrix, trace::type value,
                         scalar index) {
    with_types(value, index, [&]<class T, class I>() { write_entries<T, I>(path, matrix); });
}

}  // namespace balm::array
