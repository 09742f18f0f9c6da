#include "support/opencl.hpp"  // sets the OpenCL version before other headers do

#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/algorithm/reduce_by_key.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/container/vector.hpp>

#include "peer_opencl_libraries.hpp"

namespace peer::boost_compute {

namespace {

namespace compute = boost::compute;

class on_device : public library_work {
public:
    explicit on_device(opencl_device where)
        : device_(find_device(where.platform, where.name)), context_(device_), queue_(context_, device_) {}

protected:
    template <class T>
    compute::vector<T> copied(const T* from, std::size_t n) {
        compute::vector<T> made(n, context_);
        compute::copy(from, from + n, made.begin(), queue_);
        return made;
    }
    template <class T>
    void read_from(const compute::vector<T>& from, void* to, std::size_t count) {
        compute::copy(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count), static_cast<T*>(to),
                      queue_);
    }

    compute::device device_;
    compute::context context_;
    compute::command_queue queue_;
};

class scan_work : public on_device {
public:
    scan_work(opencl_device where, const std::uint32_t* x, std::size_t n)
        : on_device(where), from_(copied(x, n)), to_(n, context_) {}
    void run() override {
        compute::inclusive_scan(from_.begin(), from_.end(), to_.begin(), queue_);
        queue_.finish();
    }
    void read(void* to, std::size_t count) override { read_from(to_, to, count); }

private:
    compute::vector<std::uint32_t> from_, to_;
};

class sort_work : public on_device {
public:
    sort_work(opencl_device where, const std::uint32_t* x, std::size_t n)
        : on_device(where), from_(copied(x, n)), x_(n, context_) {}
    void prepare() override {
        compute::copy(from_.begin(), from_.end(), x_.begin(), queue_);
        queue_.finish();
    }
    void run() override {
        compute::sort(x_.begin(), x_.end(), queue_);
        queue_.finish();
    }
    void read(void* to, std::size_t count) override { read_from(x_, to, count); }

private:
    compute::vector<std::uint32_t> from_, x_;
};

class reduce_work : public on_device {
public:
    reduce_work(opencl_device where, const std::int32_t* keys, const float* values, std::size_t n)
        : on_device(where),
          keys_(copied(keys, n)),
          runs_(n, context_),
          values_(copied(values, n)),
          sums_(n, context_) {}
    void run() override {
        compute::reduce_by_key(keys_.begin(), keys_.end(), values_.begin(), runs_.begin(), sums_.begin(),
                               queue_);
        queue_.finish();
    }
    void read(void* to, std::size_t count) override { read_from(sums_, to, count); }

private:
    compute::vector<std::int32_t> keys_, runs_;
    compute::vector<float> values_, sums_;
};

}  // namespace

std::unique_ptr<library_work> inclusive_scan(opencl_device where, const std::uint32_t* x, std::size_t n) {
    return std::make_unique<scan_work>(where, x, n);
}
std::unique_ptr<library_work> sort(opencl_device where, const std::uint32_t* x, std::size_t n) {
    return std::make_unique<sort_work>(where, x, n);
}
std::unique_ptr<library_work> reduce_by_key(opencl_device where, const std::int32_t* keys,
                                            const float* values, std::size_t n) {
    return std::make_unique<reduce_work>(where, keys, values, n);
}

}  // namespace peer::boost_compute
