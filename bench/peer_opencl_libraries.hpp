#pragma once
// Boost.Compute and ViennaCL, on the OpenCL device of a platform by their names. Each is there where its
// headers were found: BALM_BENCH_BOOST_COMPUTE, BALM_BENCH_VIENNACL.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "peer_sparse.hpp"

namespace peer {

/// An algorithm of a library with its arrays on the device. All throw std::exception where something fails.
class library_work {
public:
    library_work() = default;
    library_work(const library_work&) = delete;
    virtual ~library_work() = default;

    /// Sets what the algorithm overwrites, and waits.
    virtual void prepare() {}
    /// Runs the algorithm, and waits.
    virtual void run() = 0;
    /// The results, or the first so many of them.
    virtual void read(void* to, std::size_t count) = 0;
};

struct opencl_device {
    const char *platform, *name;
};

namespace boost_compute {
std::unique_ptr<library_work> inclusive_scan(opencl_device, const std::uint32_t* x, std::size_t n);
std::unique_ptr<library_work> sort(opencl_device, const std::uint32_t* x, std::size_t n);
/// The sums of equal neighbouring keys' values.
std::unique_ptr<library_work> reduce_by_key(opencl_device, const std::int32_t* keys, const float* values,
                                            std::size_t n);
}  // namespace boost_compute

namespace viennacl_library {
/// In ViennaCL's compressed_matrix.
std::unique_ptr<library_work> sparse_product(opencl_device, const sparse_problem&);
}  // namespace viennacl_library

}  // namespace peer
