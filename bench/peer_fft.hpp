#pragma once
// Complex transforms in place by the libraries that one would take, which are opened when first used.

#include <cstddef>

namespace peer {

/// A transform along the last `dimensions` (1 to 3) extents of an array, `batch` times; of f64, or f32.
struct fft_problem {
    bool is_double;
    int dimensions;
    int extents[3];
    int batch;

    std::size_t count() const {
        std::size_t n = static_cast<std::size_t>(batch);
        for (int d = 0; d < dimensions; ++d) n *= static_cast<std::size_t>(extents[d]);
        return n;
    }
};

/// Those of libpeer_cuda.so, got with `peer_cuda_fft_functions`, on the device that cuda_functions::select
/// has chosen: cuFFT. Asynchronous but for make and finish.
struct cuda_fft_functions {
    /// Null where there is no cuFFT.
    void* (*make)(const fft_problem&);
    void (*forward)(void*);
    void (*finish)();
    void (*release)(void*);
};

/// What real transforms of floats do, of `padded` elements: a convolution, whose operands are padded already;
/// or a cosine transform of type 2, in whose place cuFFT, which has none, does a real transform.
struct spectral_problem {
    std::size_t padded;
    bool is_convolution;
};
/// Those of libpeer_cuda.so, got with `peer_cuda_spectral_functions`.
struct cuda_spectral_functions {
    /// Null where there is no cuFFT.
    void* (*make)(const spectral_problem&);
    void (*run)(void*);
    void (*finish)();
    void (*release)(void*);
};

namespace fftw {

/// FFTW with FFTW_MEASURE and a thread for each core; null where its libraries are not installed.
void* make(const fft_problem&);
void forward(void*);
void release(void*);

/// The same for what real transforms do.
void* make_spectral(const spectral_problem&);
void run_spectral(void*);
void release_spectral(void*);

}  // namespace fftw

}  // namespace peer
