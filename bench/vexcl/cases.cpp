// The cases, written for VexCL's documented interface. Compiled twice; see cases.hpp.

#include "cases.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <vexcl/vexcl.hpp>

namespace {

using peer::vexcl_work;

constexpr std::size_t million = 1024 * 1024;

/// A context of one device, given by platform and name.
class on_device : public vexcl_work {
protected:
    explicit on_device(peer::vexcl_device which)
        : ctx(vex::Filter::Platform(which.platform) && vex::Filter::Name(which.name) &&
              vex::Filter::Count(1)) {
        if (!ctx) throw std::runtime_error("the library does not see this device");
    }

    vex::Context ctx;
};

/// Irregular numbers in [0, 1).
std::vector<float> spread_out(std::size_t n, double step = 0.61803398874989485) {
    std::vector<float> made(n);
    for (std::size_t k = 0; k < n; ++k)
        made[k] = static_cast<float>(std::fmod(step * static_cast<double>(k + 1), 1.0));
    return made;
}

/// x = a x + y, sixteen times.
class saxpy final : public on_device {
public:
    explicit saxpy(peer::vexcl_device which)
        : on_device(which),
          from_(ctx, spread_out(n)),
          x_(ctx, n),
          y_(ctx, spread_out(n, 0.414213562)),
          sum_(ctx) {}
    void prepare() override {
        x_ = from_;
        ctx.finish();
    }
    void run() override {
        for (int k = 0; k < 16; ++k) x_ = 0.5f * x_ + y_;
        ctx.finish();
    }
    double check() override { return sum_(x_); }

private:
    static constexpr std::size_t n = 4 * million;
    vex::vector<float> from_, x_, y_;
    vex::Reductor<double, vex::SUM> sum_;
};

class vector_arithmetic final : public on_device {
public:
    explicit vector_arithmetic(peer::vexcl_device which)
        : on_device(which),
          a_(ctx, n),
          b_(ctx, spread_out(n)),
          c_(ctx, spread_out(n, 0.414213562)),
          d_(ctx, spread_out(n, 0.732050807)),
          sum_(ctx) {}
    void run() override {
        a_ = 1;
        for (int k = 0; k < 16; ++k) a_ += b_ + c_ * d_;
        ctx.finish();
    }
    double check() override { return sum_(a_); }

private:
    static constexpr std::size_t n = 4 * million;
    vex::vector<float> a_, b_, c_, d_;
    vex::Reductor<double, vex::SUM> sum_;
};

class reductor final : public on_device {
public:
    explicit reductor(peer::vexcl_device which)
        : on_device(which), x_(ctx, spread_out(n)), y_(ctx, spread_out(n, 0.414213562)), sum_(ctx) {}
    void run() override {
        for (int k = 0; k < 4; ++k) got_ = sum_(x_ * y_);
    }
    double check() override { return got_; }

private:
    static constexpr std::size_t n = 16 * million;
    vex::vector<float> x_, y_;
    vex::Reductor<float, vex::SUM> sum_;
    double got_ = 0;
};

/// A moving average of 21 elements.
class stencil final : public on_device {
public:
    explicit stencil(peer::vexcl_device which)
        : on_device(which),
          average_(ctx, std::vector<float>(21, 1.f / 21), 10),
          x_(ctx, spread_out(n)),
          y_(ctx, n),
          sum_(ctx) {}
    void run() override {
        y_ = x_ * average_;
        ctx.finish();
    }
    double check() override { return sum_(y_ * y_); }

private:
    static constexpr std::size_t n = 4 * million;
    vex::stencil<float> average_;
    vex::vector<float> x_, y_;
    vex::Reductor<double, vex::SUM> sum_;
};

/// The Poisson matrix on a cube: seven entries per row, one on the border.
struct poisson {
    static constexpr std::size_t n = 64;
    std::vector<std::size_t> row{0};
    std::vector<unsigned> col;
    std::vector<double> val;

    poisson() {
        const auto on_border = [](std::size_t k) { return k == 0 || k + 1 == n; };
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t k = 0; k < n; ++k)
                    add_row(i, j, k, on_border(i) || on_border(j) || on_border(k));
    }
    void add_row(std::size_t i, std::size_t j, std::size_t k, bool is_border) {
        const std::size_t at = (i * n + j) * n + k;
        if (is_border) {
            add(at, 1);
        } else {
            for (const std::size_t before : {n * n, n, std::size_t{1}}) add(at - before, -1);
            add(at, 6);
            for (const std::size_t behind : {std::size_t{1}, n, n * n}) add(at + behind, -1);
        }
        row.push_back(col.size());
    }
    void add(std::size_t column, double value) {
        col.push_back(static_cast<unsigned>(column));
        val.push_back(value);
    }
};

class sparse_product final : public on_device {
public:
    explicit sparse_product(peer::vexcl_device which) : sparse_product(which, poisson()) {}
    void run() override {
        y_ = 0;
        for (int k = 0; k < 8; ++k) y_ += matrix_ * x_;
        ctx.finish();
    }
    double check() override { return sum_(y_ * y_); }

private:
    sparse_product(peer::vexcl_device which, const poisson& m)
        : on_device(which),
          matrix_(ctx, m.row.size() - 1, m.row.size() - 1, m.row.data(), m.col.data(), m.val.data()),
          x_(ctx, m.row.size() - 1),
          y_(ctx, m.row.size() - 1),
          sum_(ctx) {
        x_ = sin(0.01 * vex::element_index());
    }

    vex::SpMat<double, unsigned> matrix_;
    vex::vector<double> x_, y_;
    vex::Reductor<double, vex::SUM> sum_;
};

class sort final : public on_device {
public:
    explicit sort(peer::vexcl_device which)
        : on_device(which), from_(ctx, spread_out(n)), x_(ctx, n), sum_(ctx) {}
    void prepare() override {
        x_ = from_;
        ctx.finish();
    }
    void run() override {
        vex::sort(x_);
        ctx.finish();
    }
    double check() override { return sum_(x_ * vex::element_index()); }

private:
    static constexpr std::size_t n = 4 * million;
    vex::vector<float> from_, x_;
    vex::Reductor<double, vex::SUM> sum_;
};

class scan final : public on_device {
public:
    explicit scan(peer::vexcl_device which) : on_device(which), x_(ctx, n), y_(ctx, n), sum_(ctx) {
        x_ = vex::element_index() % 7;
    }
    void run() override {
        vex::exclusive_scan(x_, y_);
        ctx.finish();
    }
    double check() override { return sum_(y_); }

private:
    static constexpr std::size_t n = 8 * million;
    vex::vector<int> x_, y_;
    vex::Reductor<double, vex::SUM> sum_;
};

class fourier final : public on_device {
public:
    explicit fourier(peer::vexcl_device which)
        : on_device(which),
          x_(ctx, spread_out(n)),
          y_(ctx, n),
          back_(ctx, n),
          sum_(ctx),
          forward_(ctx, n),
          inverse_(ctx, n, vex::fft::inverse) {}
    void run() override {
        y_ = forward_(x_);
        back_ = inverse_(y_);
        ctx.finish();
    }
    double check() override { return sum_(back_ * back_); }

private:
    static constexpr std::size_t n = million;
    vex::vector<float> x_;
    vex::vector<cl_float2> y_;
    vex::vector<float> back_;
    vex::Reductor<double, vex::SUM> sum_;
    vex::FFT<float, cl_float2> forward_;
    vex::FFT<cl_float2, float> inverse_;
};

class monte_carlo final : public on_device {
public:
    explicit monte_carlo(peer::vexcl_device which) : on_device(which), sum_(ctx), x_(ctx, n), y_(ctx, n) {}
    void run() override {
        vex::Random<float> number;
        x_ = number(vex::element_index(), 1);
        y_ = number(vex::element_index(), 2);
        inside_ = sum_(x_ * x_ + y_ * y_ < 1.f);
    }
    double check() override { return 4.0 * static_cast<double>(inside_) / n; }

private:
    static constexpr std::size_t n = 8 * million;
    vex::Reductor<std::size_t, vex::SUM> sum_;
    vex::vector<float> x_, y_;
    std::size_t inside_ = 0;
};

/// From no context to the result of an expression that has not been compiled before: once per process.
class first_expression final : public vexcl_work {
public:
    explicit first_expression(peer::vexcl_device which) : which_(which) {}
    void run() override {
        vex::Context ctx(vex::Filter::Platform(which_.platform) && vex::Filter::Name(which_.name) &&
                         vex::Filter::Count(1));
        const std::vector<double> host(1000, 1.0);
        vex::vector<double> x(ctx, host), y(ctx, host.size());
        y = 2 * x + sqrt(x) / (1 + x * x) - cos(x) * exp(-x);
        got_ = y[17];
    }
    double check() override { return got_; }

private:
    peer::vexcl_device which_;
    double got_ = 0;
};

template <class Work>
std::unique_ptr<vexcl_work> made(peer::vexcl_device which) {
    return std::make_unique<Work>(which);
}

std::unique_ptr<vexcl_work> make(const char* name, peer::vexcl_device which) {
    constexpr struct {
        const char* name;
        std::unique_ptr<vexcl_work> (*make)(peer::vexcl_device);
    } all[] = {
        {"saxpy", &made<saxpy>},
        {"vector arithmetic", &made<vector_arithmetic>},
        {"reductor", &made<reductor>},
        {"stencil", &made<stencil>},
        {"SpMV", &made<sparse_product>},
        {"sort", &made<sort>},
        {"scan", &made<scan>},
        {"FFT", &made<fourier>},
        {"Monte Carlo", &made<monte_carlo>},
        {"first expression", &made<first_expression>},
    };
    for (const auto& each : all)
        if (std::strcmp(each.name, name) == 0) return each.make(which);
    return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const peer::vexcl_library* vexcl_cases() {
    static const peer::vexcl_library library{&make};
    return &library;
}
