// expect nothing: the examples of docs/kernel-language.md, as they stand there.
#include <balm/balm.hpp>

#include <complex>

// The examples name what they do not use.
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-variable"

using namespace balm::dsl;
using balm::int4;
using balm::uchar4;

void values_and_variables();
void values_and_variables() {
    Int n = 3, m;
    Float x = 1.5f * n;
    x += 2;
    Var<std::uint16_t> small = 7;
    const Float kept = x;
    Float sum = named("sum", 0.f);
}

void control_flow(Float x, Int n, In<int> in, Out<int> out);
void control_flow(Float x, Int n, In<int> in, Out<int> out) {
    Index i = global_id(0);
    IF (x > 1.f && in[i] != 0) {
        out[i] = 1;
    }
    ELIF (x < 0.f) {
        out[i] = 2;
    }
    ELSE { out[i] = 3; }
    for (Int k : range(n)) {
        IF (k == 7) {
            break_();
        }
        out[k] = k;
    }
    WHILE (n > 0) {
        n /= 2;
    }
    Int chosen = select(x > 0.f, 1, 2);
    Float root = if_else(
        x > 0.f, [&] { return sqrt(x); }, [&] { return Float(0.f); });
}

void vectors(Float dt, Int n, Mixed<balm::float4> positions, Mixed<float> coordinates);
void vectors(Float dt, Int n, Mixed<balm::float4> positions, Mixed<float> coordinates) {
    Index i = global_id(0);
    Float4 v = positions[i];
    v.xyz += dt * v.w;
    Float4 w = Float4(v.zyx, 1.f);
    Bool4 less = v < w;
    v = select(less, v, clamp(w, 0.f, 1.f));
    Float lane = v[2] + v[n % 4];
    Int4 whole = convert<int4, rounding::down>(v);
    UChar4 pixel = convert_sat<uchar4>(255.f * v);
    Int4 bits = bit_cast<int4>(v);
    Float d = dot(v, w) + length(v.xyz) + distance(v, w);
    Float3 c = cross(v.xyz, normalize(w.xyz));
    Float3 p = vload<3>(coordinates, i);
    vstore(p * 2.f, coordinates, i);
    auto [mantissa, exponent] = frexp(v);
}

void complex_numbers(In<std::complex<float>> signal, Out<std::complex<float>> spectrum,
                     Out<float> magnitudes);
void complex_numbers(In<std::complex<float>> signal, Out<std::complex<float>> spectrum,
                     Out<float> magnitudes) {
    Index i = global_id(0);
    CFloat z = signal[i];
    z = z * conj(z) + CFloat(0.f, 1.f) / z;
    spectrum[i] = exp(z) * polar(2.f, arg(z));
    magnitudes[i] = abs(z);
}

struct particle {
    balm::float4 pos, vel;
};
BALM_STRUCT(particle, pos, vel)

void structures(Float dt, Mixed<particle> particles);
void structures(Float dt, Mixed<particle> particles) {
    Index i = global_id(0);
    Var<particle> q = particles[i];
    q.pos += dt * q.vel;
    particles[i] = q;
    particles[i].vel.w = 0.f;
}

void memory(balm::device device, balm::in_buffer<float> a, balm::out_buffer<float> b, std::size_t n);
void memory(balm::device device, balm::in_buffer<float> a, balm::out_buffer<float> b, std::size_t n) {
    static const balm::constant_array<float> weights("weights", {0.25f, 0.5f, 0.25f});
    auto smooth =
        balm::kernel<1>("smooth(in, out, tile)", [](In<float> in, Out<float> out, Local<float> tile) {
            Index i = global_id(0), lid = local_id(0);
            tile[lid] = in[i];
            local_barrier();
            LocalArray<float, 2, 8> rows;
            Array<float, 3> own;
            own[lid % 3] = tile[0] * weights[lid % 3];
            rows[1][lid % 8] = own[0];
            out[i] = own[lid % 3];
        });
    device.execute(smooth(a, b, balm::local<float>(64)), {n}, {64});
}

void pointers(Mixed<int> numbers);
void pointers(Mixed<int> numbers) {
    Ptr<int> p = address_of(numbers[0]);
    p += 1;
    *p = 99;
    p[2] += 1;
    Ptr<const int> reader = p;
    PrivatePtr<Ptr<int>> pp = address_of(p);
    **pp = 5;
    Array<Ptr<int>, 4> many;
    many[0] = p + 3;
    Ptr<unsigned char> bytes = pointer_cast<unsigned char>(p);
    Index between = p - address_of(numbers[0]);
}

template <class T>
T lerp(T a, T b, float t = 0.5f) {
    return a + (b - a) * t;
}

void functions(balm::vector<float>& x, balm::vector<float>& y);
void functions(balm::vector<float>& x, balm::vector<float>& y) {
    auto square = balm::function("square(x)", [](Float v) { return v * v; });
    auto swap_ = balm::function("swap_(p, q)", [](Ptr<float> p, Ptr<float> q) {
        Float kept = *p;
        *p = Float(*q);
        *q = kept;
    });
    auto scale = balm::kernel<1>(
        "scale", [](In<float> in, Out<float> out) { out[global_id(0)] = 2 * in[global_id(0)]; });
    auto both = balm::kernel<1>("both", [=](In<float> in, Mixed<float> m, Out<float> out) {
        scale(in, out);
        m[0] = square(lerp(Float(m[0]), Float(m[1])));
        swap_(address_of(m[2]), address_of(m[3]));
    });
    y = square(x) + 1;
}
