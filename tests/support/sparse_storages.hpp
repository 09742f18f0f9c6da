#pragma once
// Sparse matrices on devices, in each storage: those of CPUs, and on CPUs those of GPUs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "algorithm/sparse/sparse_strategy.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "support/vectors.hpp"

namespace balm::test {

inline constexpr storage all_storages[] = {storage::automatic, storage::diagonals, storage::slices,
                                           storage::rows, storage::balanced};
inline std::string words_of(storage how) {
    constexpr const char* words[] = {"automatic", "diagonals", "slices", "rows", "balanced"};
    return words[static_cast<std::size_t>(how)];
}

struct stored_as_on_gpus {
    stored_as_on_gpus() { array::force_matrices_of_gpus(true); }
    stored_as_on_gpus(const stored_as_on_gpus&) = delete;
    ~stored_as_on_gpus() { array::force_matrices_of_gpus(false); }
};
/// Runs the body on every context, and on a CPU with matrices as GPUs have them.
template <class Body>
void with_matrices_of_all_devices(Body&& body) {
    on_all_contexts([&](const context& ctx) { body(ctx); });
    if (devices_are_together() || !has_cpu()) return;
    SCOPED_TRACE("stored as on GPUs");
    const stored_as_on_gpus held;
    body(context{filter::cpu});
}

template <class T, class Index = std::int32_t>
sparse_matrix<T, Index> on_device(const context& ctx, const host_matrix<T>& m,
                                  storage how = storage::automatic) {
    return sparse_matrix<T, Index>(ctx, m.rows, m.columns, m.pointers, m.column_indices, m.values, how);
}

/// Of more diagonals than storage::diagonals has.
template <class T>
bool has_too_many_diagonals(const host_matrix<T>& m) {
    std::vector<std::int64_t> seen;
    for (std::size_t r = 0; r < m.rows; ++r)
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k)
            seen.push_back(m.column_indices[k] - static_cast<std::int64_t>(r));
    std::sort(seen.begin(), seen.end());
    return std::unique(seen.begin(), seen.end()) - seen.begin() > 64;
}

}  // namespace balm::test
