// expect nothing: the programs of docs/arrays.md, docs/reductions.md, docs/scans.md and
// docs/sorting.md, as they stand there.
#include <array>
#include <balm/balm.hpp>
#include <complex>
#include <iostream>
#include <tuple>

using namespace balm::dsl;

void first_steps(std::size_t n);
void first_steps(std::size_t n) {
    balm::context ctx;
    balm::vector<double> x(ctx, n), y(ctx, n);
    y = 2 * x - sin(x);
    double s = balm::sum(x * y);

    double third = x[3];
    x.set(3, 1.0);
    x.elements().range(2, 5).write({1, 2, 3});
    balm::vector<float> f(ctx, n);
    y = f * balm::argument(0.1);
    balm::vector<double> v;
    std::cout << s << third << x.map()[0] << v;

    std::cout << balm::generated_source(2 * x - sin(y));
}

void handles(balm::vector<double>& x, std::size_t n);
void handles(balm::vector<double>& x, std::size_t n) {
    balm::vector<double> copy = x;
    balm::vector<double> same = x.share();
    balm::vector<balm::double2> pairs = x.as<balm::double2>();
    auto like = balm::make_like(x);
    auto flags = balm::make_like<bool>(x);
    balm::vector<int> more(x.context(), 3 * n);
    std::cout << copy.size() << same.size() << pairs.size() << like.size() << flags.size() << more.size();
}

double places(const balm::context& all_gpus, const balm::context& ctx, std::size_t n, balm::vector<double>& x,
              balm::vector<double>& y);
double places(const balm::context& all_gpus, const balm::context& ctx, std::size_t n, balm::vector<double>& x,
              balm::vector<double>& y) {
    balm::uniform<balm::double2> rnd;
    const unsigned seed = 1;
    auto hits = length(rnd(balm::element_index(0, n), seed)) < 1.0;
    double pi = 4.0 * static_cast<double>(balm::sum(balm::on(all_gpus, hits))) / static_cast<double>(n);
    auto report = balm::function("report", [](Long i) { print("{}", i); });
    balm::eval(report(balm::on(ctx, balm::element_index(0, 10))));
    balm::device device = ctx.device(0);
    balm::queue second = device.make_queue();
    {
        balm::queue_scope on(second);
        y = 2 * x;
    }
    return pi;
}

void views(balm::vector<double>& x, balm::vector<double>& y, balm::vector<double>& z, std::size_t rows,
           std::size_t columns, const balm::vector<int>& positions, const balm::vector<double>& weights);
void views(balm::vector<double>& x, balm::vector<double>& y, balm::vector<double>& z, std::size_t rows,
           std::size_t columns, const balm::vector<int>& positions, const balm::vector<double>& weights) {
    const std::size_t n = x.size();
    auto M = balm::view(x, {rows, columns});
    y = M(balm::all, 3);
    M(0, balm::all) = 0.0;
    M(balm::slice(1, rows - 1), balm::reversed) += 1.0;
    auto T = M.transpose();
    auto B = balm::view(y, {columns}).broadcast({rows, columns});
    auto C = M.reshape({rows / 2, 2, columns});
    z = x[n - 1 - balm::element_index()];
    x[positions] = z;
    x(balm::slice(0, n, 2)) = -1.0;
    auto D = balm::view(x, {rows}, {columns + 1});
    auto W = balm::view(x, {n / 16 - 4, 64}, {16, 1}, 8);
    M = M.transpose();
    M(balm::all, 0) = M(balm::all, 1);
    y = balm::constant_memory(weights)[balm::element_index() / 1024] * x;
    std::cout << T.size() << B.size() << C.to_host().size() << D.size() << W.size();
}

void several_vectors(double dt, balm::vector<double>& x, balm::vector<double>& v, balm::vector<double>& a,
                     balm::vector<double>& b, balm::vector<double>& y, balm::view<double>& M);
void several_vectors(double dt, balm::vector<double>& x, balm::vector<double>& v, balm::vector<double>& a,
                     balm::vector<double>& b, balm::vector<double>& y, balm::view<double>& M) {
    balm::tie(x, v) = std::tuple(x + dt * v, v - dt * x);
    balm::tie(a, b) = balm::tie(b, a);
    balm::tie(M(0, balm::all), y) += std::tuple(1.0, x);
}

void multivectors(const balm::context& ctx, std::size_t n, double dt);
void multivectors(const balm::context& ctx, std::size_t n, double dt) {
    balm::multivector<double, 3> p(ctx, n, 0.0), q(ctx, n, 1.0);
    p += dt * q;
    q += std::array{0.0, 0.0, -9.81 * dt};
    p(2) = max(p(2), 0.0);
    auto r = balm::each([](auto x, auto rate) { return x * exp(-rate); }, p, std::array{1.0, 2.0, 3.0});
    std::array<double, 3> centre = balm::sum(p);
    p = r;
    std::cout << centre[0];
}

void several_devices(std::size_t n);
void several_devices(std::size_t n) {
    balm::context ctx(balm::filter::gpu);
    balm::vector<double> x(ctx, n), y(ctx, n);
    y = 2 * x;
    double s = balm::sum(x * y);
    balm::vector<double> z(ctx.weighted({3, 1}), n);
    std::cout << s << x.parts().size() << z;
}

void reductions(const balm::context& ctx, const balm::vector<double>& x, const balm::vector<double>& y,
                const balm::vector<double>& r, const balm::vector<unsigned>& masks,
                const balm::vector<balm::float4>& positions, const balm::vector<std::complex<double>>& z);
void reductions(const balm::context& ctx, const balm::vector<double>& x, const balm::vector<double>& y,
                const balm::vector<double>& r, const balm::vector<unsigned>& masks,
                const balm::vector<balm::float4>& positions, const balm::vector<std::complex<double>>& z) {
    double dot = balm::sum(x * y);
    double norm = balm::max(balm::abs(x));
    auto [value, position] = balm::arg_min(x);
    if (balm::any(x != x)) std::cerr << "not a number\n";
    std::cout << dot << norm << value << position;

    auto join = balm::function("join", [](UInt a, UInt b) { return a | b; });
    unsigned all_bits = balm::fold(masks, 0u, join);
    balm::float4 centre = balm::sum(positions);
    balm::complex_value<double> total = balm::sum(z);
    std::cout << all_bits << centre.x << total.real();
    balm::vector<double> rho(ctx, 1), least(ctx, 1), most(ctx, 1);
    balm::sum_into(rho, r * r);
    balm::reduce_into(std::tie(least, most), balm::min_of(x), balm::max_of(x));
    double checksum = balm::sum(x, balm::policy::portable);
    std::cout << checksum;
}

void several_in_one_pass(const balm::vector<double>& x, const balm::vector<double>& y);
void several_in_one_pass(const balm::vector<double>& x, const balm::vector<double>& y) {
    auto [dot, least, most] = balm::reduce(balm::sum_of(x * y), balm::min_of(x), balm::max_of(balm::abs(x)));
    std::cout << dot << least << most;
}

void along_dimensions(balm::vector<double>& x, balm::vector<double>& means, balm::vector<double>& most,
                      balm::vector<double>& total, balm::vector<std::int64_t>& nearest,
                      const balm::view<double>& T, std::size_t rows, std::size_t columns);
void along_dimensions(balm::vector<double>& x, balm::vector<double>& means, balm::vector<double>& most,
                      balm::vector<double>& total, balm::vector<std::int64_t>& nearest,
                      const balm::view<double>& T, std::size_t rows, std::size_t columns) {
    auto M = balm::view(x, {rows, columns});
    means = balm::sum(M, balm::along(1)) / columns;
    most = balm::max(balm::abs(M), balm::along(0));
    total = balm::sum(T, balm::along(0, 2));
    nearest = balm::arg_min(M, balm::along(1));
    bool all_rows = balm::all(balm::any(M > 0, balm::along(1)));
    auto of_columns = balm::view(balm::sum(M, balm::along(0)) / rows, {1, columns});
    M -= of_columns.broadcast({rows, columns});
    std::cout << all_rows;
}

void scans(const balm::vector<float>& x, const balm::vector<float>& y, const balm::vector<int>& counts,
           const balm::vector<int>& marks, const balm::vector<int>& months, const balm::vector<float>& sales);
void scans(const balm::vector<float>& x, const balm::vector<float>& y, const balm::vector<int>& counts,
           const balm::vector<int>& marks, const balm::vector<int>& months,
           const balm::vector<float>& sales) {
    balm::vector<float> totals, highest, running;
    balm::vector<int> offsets, filled;
    balm::vector<std::int64_t> rank;
    totals = balm::inclusive_scan(x);
    offsets = balm::exclusive_scan(counts);
    offsets = balm::exclusive_scan(counts, 100);
    highest = balm::inclusive_scan(balm::max_of(x * y));
    auto last = balm::function("last", [](Int a, Int b) { return select(b != 0, b, a); });
    filled = balm::inclusive_scan(balm::fold_of(marks, 0, last));
    running = balm::inclusive_scan_by_key(months, sales);
    rank = balm::exclusive_scan_by_key(months, balm::count_of(sales > 0));
    std::cout << totals << offsets << highest << filled << running << rank;
}

void use(const balm::vector<float>& scanned);
void scans_along(balm::context& ctx, const balm::vector<float>& x, const balm::vector<float>& y,
                 std::size_t rows, std::size_t columns, const std::vector<balm::vector<float>>& pieces);
void scans_along(balm::context& ctx, const balm::vector<float>& x, const balm::vector<float>& y,
                 std::size_t rows, std::size_t columns, const std::vector<balm::vector<float>>& pieces) {
    balm::vector<float> of_rows, of_columns, area, sums, high, peak(ctx, 1, 0.0f);
    auto M = balm::view(x, {rows, columns});
    of_rows = balm::inclusive_scan(M, balm::along(1));
    of_columns = balm::exclusive_scan(balm::max_of(M * M), 0, balm::along(0));  // from 0
    area =
        balm::inclusive_scan(balm::inclusive_scan(M, balm::along(1)), balm::along(0));  // a summed-area table
    balm::inclusive_scan_into(std::tie(sums, high), balm::sum_of(x), balm::max_of(x * y));
    balm::vector<float> carry(ctx, 1, 0.0f);
    for (const balm::vector<float>& piece : pieces) {
        balm::vector<float> scanned;
        balm::inclusive_scan_into(scanned, carry, piece);
        use(scanned);
    }
    balm::inclusive_scan_into(std::tie(sums, high), std::tie(carry, peak), balm::sum_of(x),
                              balm::max_of(x * y));
    std::cout << of_rows << of_columns << area;
}

struct particle {
    float mass;
    int number;
};
BALM_STRUCT(particle, mass, number)

void sorts(balm::vector<float>& x, balm::vector<int>& keys, balm::vector<float>& a, balm::vector<double>& b,
           balm::vector<int>& year, balm::vector<int>& month, balm::vector<float>& sales,
           balm::vector<particle>& particles, balm::vector<int>& names, std::size_t rows,
           std::size_t columns);
void sorts(balm::vector<float>& x, balm::vector<int>& keys, balm::vector<float>& a, balm::vector<double>& b,
           balm::vector<int>& year, balm::vector<int>& month, balm::vector<float>& sales,
           balm::vector<particle>& particles, balm::vector<int>& names, std::size_t rows,
           std::size_t columns) {
    balm::vector<float> y;
    balm::sort(x);
    balm::sort(x, balm::descending);
    balm::sort_by_key(keys, a, b);
    balm::vector<std::uint32_t> order = balm::argsort(x);
    y = balm::sorted(abs(x));
    auto mass = balm::function("mass", [](Var<particle> p) { return Float(p.mass); });
    balm::sort_by_key(mass(particles), particles);
    balm::sort_by_key(balm::tie(year, month), sales, balm::descending);
    auto heavier =
        balm::function("heavier", [](Var<particle> p, Var<particle> q) { return Bool(p.mass > q.mass); });
    balm::sort(particles, heavier);
    balm::sort_by_key(particles, names, heavier);
    auto M = balm::view(x, {rows, columns});
    x = balm::sorted(M, balm::along(1));
    balm::sort(balm::tie(keys, x));
    std::cout << order << y << balm::argsort<std::int64_t>(x, balm::descending).tape().size;
}
