#define VIENNACL_WITH_OPENCL

#include "support/opencl.hpp"  // sets the OpenCL version before other headers do

#include <vector>

#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/vector.hpp>

#include "peer_opencl_libraries.hpp"

namespace peer::viennacl_library {

namespace {

/// ViennaCL numbers its contexts; each work has its own, to which all its arrays belong.
long new_context(opencl_device where) {
    static long next = 0;
    cl_device_id device = find_device(where.platform, where.name);
    cl_int code = 0;
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "clCreateCommandQueue");
    viennacl::ocl::setup_context(next, context, device, queue);
    return next++;
}

class product_work : public library_work {
public:
    product_work(opencl_device where, const sparse_problem& p)
        : context_(viennacl::ocl::get_context(new_context(where))),
          a_(context_),
          x_(p.columns, context_),
          y_(p.rows, context_) {
        const std::vector<cl_uint> pointers(p.row_pointers, p.row_pointers + p.rows + 1),
            indices(p.column_indices, p.column_indices + p.entries);
        a_.set(pointers.data(), indices.data(), p.values, p.rows, p.columns, p.entries);
        viennacl::fast_copy(p.x, p.x + p.columns, x_.begin());
    }
    void run() override {
        y_ = viennacl::linalg::prod(a_, x_);
        viennacl::traits::context(y_).opencl_context().get_queue().finish();
    }
    void read(void* to, std::size_t count) override {
        viennacl::fast_copy(y_.begin(), y_.begin() + count, static_cast<double*>(to));
    }

private:
    viennacl::context context_;
    viennacl::compressed_matrix<double> a_;
    viennacl::vector<double> x_, y_;
};

}  // namespace

std::unique_ptr<library_work> sparse_product(opencl_device where, const sparse_problem& p) {
    return std::make_unique<product_work>(where, p);
}

}  // namespace peer::viennacl_library
