#pragma once
// Boost.Compute and ViennaCL on an OpenCL device, given by platform and name. Each is available if its
// headers were found: BALM_BENCH_BOOST_COMPUTE, BALM_BENCH_VIENNACL.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "peer_sparse.hpp"

namespace peer {

/// A library's algorithm with its arrays on the device. Failures throw std::exception.
class library_work {
public:
    library_work() = default;
    library_work(const library_work&) = delete;
    virtual ~library_work() = default;

    /// Sets what the algorithm overwrites, and waits.
    virtual void prepare() {}
    /// Runs the algorithm, and waits.
    virtual void run() = 0;
    /// The first `count` results.
    virtual void read(void* to, std::size_t count) = 0;
};

struct opencl_device {
    const char *platform, *name;
};

namespace boost_compute {
std::unique_ptr<library_work> inclusive_scan(opencl_device, const std::uint32_t* x, std::size_t n);
std::unique_ptr<library_work> sort(opencl_device, const std::uint32_t* x, std::size_t n);
/// The sums of the values of equal neighbouring keys.
std::unique_ptr<library_work> reduce_by_key(opencl_device, const std::int32_t* keys, const float* values,
                                            std::size_t n);
}  // namespace boost_compute

namespace viennacl_library {
/// With ViennaCL's compressed_matrix.
std::unique_ptr<library_work> sparse_product(opencl_device, const sparse_problem&);
}  // namespace viennacl_library

}  // namespace peer
