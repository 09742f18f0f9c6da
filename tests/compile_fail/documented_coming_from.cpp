// expect nothing: what docs/coming-from.md sets beside other libraries' statements; each is there as it
// stands here.
#include <balm/balm.hpp>
#include <chrono>
#include <complex>
#include <iostream>
#include <span>
#include <vector>

using namespace balm::dsl;

void cuda();
void cuda() {
    const std::size_t n = 1024;
    const std::vector<float> host(n, 1.f);

    auto saxpy = balm::kernel<1>("saxpy", [](Float a, In<float> x, InOut<float> y) {
        Index i = global_id(0);
        y[i] = a * x[i] + y[i];
    });
    auto sums = balm::kernel<1>("sums", [](In<float> x, Out<float> of_groups) {
        LocalArray<float, 256> tile;
        Index i = local_id(0);
        tile[i] = x[global_id(0)];
        for (int half = 128; half > 0; half /= 2) {
            barrier();
            IF (i < half) {
                tile[i] += tile[i + half];
            }
        }
        IF (i == 0) {
            of_groups[group_id(0)] = tile[0];
        }
    });
    auto words = balm::kernel<1>("words", [](In<float> x, InOut<int> counter, Local<float> scratch) {
        Index i = global_id(0);
        Index thread = local_id(0), block = group_id(0), block_size = local_size(0), blocks = group_count(0);
        scratch[thread] = x[i];
        barrier();
        atomic_add(counter[0], 1);
        Float v = scratch[thread];
        Float lower = shuffle_down(v, 1);
        UInt mask = ballot(v > 0.f);
        Int lane = lane_id();
        sub_group_barrier();
        device_fence();
        IF (i == 0) {
            print("{} {} {} {} {} {}\n", block, block_size, blocks, lower, mask, lane);
        }
    });

    balm::context ctx(balm::filter::name("H100") || balm::filter::any);
    balm::device dev = ctx.device(0);
    balm::vector<float> x(ctx, n), y(ctx, n, 1.f), partial(ctx, n / 256);
    balm::vector<int> counter(ctx, 1, 0);
    x.write(host);
    std::vector<float> back = x.to_host();
    balm::event done = dev.execute(saxpy(2.f, x, y), {n}, {256});
    dev.execute(sums(x, partial), balm::groups(n / 256, 256));
    dev.execute(words(x, counter, balm::local<float>(256)), {n}, {256});
    balm::queue stream = dev.make_queue();
    balm::event other = stream.execute(saxpy(1.f, x, y), {n}, done);
    done.wait();
    dev.finish();
    balm::recording graph = balm::record(ctx, [&] { y = 2 * x; });
    graph();
    auto nanoseconds = other.profile().duration();
    std::uint64_t free = dev.info().global_memory;
    auto pinned = dev.pinned_array<float>(n);
    std::cout << nanoseconds << ' ' << free << ' ' << back.size() << ' ' << pinned.size() << ' ' << partial
              << '\n';
}

void thrust();
void thrust() {
    const std::size_t n = 1000;
    balm::context ctx;
    const std::vector<float> h(n, 2.f);
    const float a = 3;

    balm::vector<float> x(ctx, h), y(ctx, n, 1.f), z(ctx, n);
    balm::vector<int> keys(ctx, n), positions(ctx, n);
    y = 7.f;
    x = balm::cast<float>(balm::element_index());
    keys = balm::cast<int>(balm::element_index() / 10);
    positions = balm::cast<int>(balm::element_index() % 7);
    z = a * x + y;
    auto square = balm::function("square", [](Float v) { return v * v; });
    z = square(x);
    float total = balm::sum(x);
    float dot = balm::dot(x, y);
    float norm = balm::sum(x * x);
    auto [largest, at] = balm::arg_max(x);
    std::int64_t negative = balm::count(x < 0);
    z = balm::inclusive_scan(x);
    balm::sort(z);
    balm::sort_by_key(keys, x);
    auto is_closer = balm::function("is_closer", [](Float p, Float q) { return abs(p) < abs(q); });
    balm::sort(z, is_closer);
    auto positive = balm::copy_if(x, x > 0);
    auto distinct = balm::unique(keys);
    auto [k, sums] = balm::reduce_by_key(keys, x);
    z = x[positions];
    z[positions] = x;
    auto found = balm::vector<std::int64_t>(balm::lower_bound(z, y));
    auto merged = balm::merge(x, z);
    z = balm::uniform<float>()(balm::element_index(), 42);
    std::cout << total << ' ' << dot << ' ' << norm << ' ' << largest << ' ' << at << ' ' << negative << ' '
              << positive.size() << ' ' << distinct.size() << ' ' << k.size() << ' ' << sums.size() << ' '
              << found.size() << ' ' << merged.size() << '\n';
}

void opencl();
void opencl() {
    const std::size_t n = 1024;
    const std::vector<float> host(n, 1.f);
    const char* text =
        "kernel void scale(float a, global const float* x, global float* y) {\n"
        "    y[get_global_id(0)] = a * x[get_global_id(0)];\n"
        "}\n";

    balm::context ctx(balm::filter::gpu || balm::filter::cpu);
    balm::device dev = ctx.device(0);
    balm::queue queue = dev.make_queue();
    auto x = dev.in_buffer<float>(n);
    auto y = dev.out_buffer<float>(n);
    auto scale = balm::source_kernel<1, void(float, In<float>, Out<float>)>("scale", text);
    balm::event written = x.write(host);
    balm::event done = queue.execute(scale(2.f, x, y), {n}, {64}, written);
    auto result = y.read(done);
    x.range(0, 16).copy_to(x.range(16, 32)).wait();
    auto nanoseconds = done.profile().duration();
    queue.finish();

    auto words = balm::kernel<1>("words", [](In<float> in, Out<float> out, Local<float> tile) {
        Index i = global_id(0), l = local_id(0);
        tile[l] = in[i];
        barrier();
        Float4 v = vload<4>(in, 0);
        Int whole = convert_sat<int>(v.x);
        Int bits = as_int(v.y);
        Float near = select(v.z > 0.f, v.z, 0.f);
        v.xy = v.yx;
        out[i] = mad(near, 2.f, tile[l]) + cast<float>(whole) + native_sin(v.w) + cast<float>(bits & 1);
    });
    dev.execute(words(x, y, balm::local<float>(64)), {n}, {64});
    std::cout << result[0] << ' ' << nanoseconds << ' ' << y.read()[5] << '\n';
}

void numpy();
void numpy() {
    const std::size_t n = 24, r = 4, c = 6;
    balm::context ctx;
    const std::vector<double> values(n, 1.5);

    balm::vector<double> x(ctx, n), y(ctx, n, 0.0), row(ctx, c), of_rows(ctx, r);
    balm::vector<std::int64_t> i(ctx, n);
    y = values;
    i = balm::element_index();
    x = balm::cast<double>(i);
    y = 2 * x + sin(x);
    y = select(x > 3, x, 0.0);
    auto head = x(balm::slice(0, 10));
    auto even = x(balm::slice(0, n, 2));
    auto back = x(balm::reversed);
    y = x[i];
    auto M = balm::view(x, {r, c});
    auto column = M(balm::all, 3);
    auto T = M.transpose();
    M(0, balm::all) = 0.0;
    M += balm::view(row, {std::size_t{1}, c}).broadcast({r, c});
    double total = balm::sum(x), mean = balm::mean(x), most = balm::max(x);
    of_rows = balm::sum(M, balm::along(1));
    of_rows = balm::mean(M, balm::along(1));
    const double spread = balm::stddev(x), middle = balm::median(x), late = balm::quantile(x, 0.9);
    auto where = balm::arg_max(x).position;
    bool above = balm::all(x > -1);
    double norm = balm::norm2(x);
    auto positive = balm::copy_if(x, x > 0);
    balm::sort(y);
    auto order = balm::vector<std::uint32_t>(balm::argsort(x));
    y = balm::inclusive_scan(x);
    auto distinct = balm::unique(balm::sorted(x));
    auto counts = balm::vector<std::int64_t>(balm::bincount(i, 24));
    auto product = balm::vector<double>(balm::matmul(M, T));
    auto also = balm::vector<double>(balm::einsum("ij,kj->ik", M, M));
    auto spectrum = balm::vector<std::complex<double>>(balm::fft(x));
    y = balm::normal<double>()(balm::element_index(), 42);
    std::vector<double> host = x.to_host();
    std::cout << head.size() << ' ' << even.size() << ' ' << back.size() << ' ' << column.size() << ' '
              << total << ' ' << spread << ' ' << middle << ' ' << late << ' ' << mean << ' ' << most << ' '
              << where << ' ' << above << ' ' << norm << ' ' << positive.size() << ' ' << order.size() << ' '
              << distinct.size() << ' ' << counts.size() << ' ' << product.size() << ' ' << also.size() << ' '
              << spectrum.size() << ' ' << host.size() << '\n';
}

void vexcl();
void vexcl() {
    const std::size_t n = 64;
    balm::context ctx(balm::filter::double_precision);
    const std::vector<double> host(n * n, 1.0), values{4, 4, 4};
    const std::vector<int> row_pointers{0, 1, 2, 3}, column_indices{0, 1, 2};

    balm::vector<double> x(ctx, n * n), y(ctx, host), z(ctx, n), three(ctx, 3, 1.0);
    x = 2 * y - sin(y);
    x = balm::cast<double>(balm::element_index());
    x = y[n * n - 1 - balm::element_index()];
    double dot = balm::sum(x * y);
    double most = balm::max(x);
    auto sqr = balm::function("sqr", [](Double a, Double b) { return a * a + b * b; });
    y = sqrt(sqr(x, y));
    auto M = balm::view(x, {n, n});
    z = M(balm::all, 42);
    z = balm::sum(M, balm::along(1));
    balm::tie(x, y) = std::tuple(x + y, x - y);
    balm::multivector<double, 3> p(ctx, n, 0.0);
    p += 2.0 * p;
    balm::sort(z);
    z = balm::inclusive_scan(z);
    z = balm::normal<double>()(balm::element_index(), 42);
    balm::sparse_matrix<double> A(ctx, 3, 3, row_pointers, column_indices, values);
    three += A * three;
    auto spectrum = balm::vector<std::complex<double>>(balm::fft(z));
    const auto three_of = [](const auto& u) { return u(-1) + u(0) + u(1); };
    z = balm::stencil(balm::border::clamp, three_of, z);
    z = balm::constant(3.0) * z;
    std::vector<double> back = x.to_host();
    for (double& value : z.map()) value += 1;
    balm::profiler prof(ctx.device(0));
    std::cout << balm::generated_source(2 * x).size() << ' ' << dot << ' ' << most << ' ' << spectrum.size()
              << ' ' << back.size() << ' ' << x << '\n';
}
