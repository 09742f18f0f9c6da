#pragma once
// Complex in-place transforms by cuFFT and FFTW, whose libraries are opened on first use.

#include <cstddef>

namespace peer {

/// A batch of transforms of one to three dimensions, in f64 or f32.
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

/// The functions that `peer_cuda_fft_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select: cuFFT. Asynchronous except make and finish.
struct cuda_fft_functions {
    /// Null if cuFFT is missing.
    void* (*make)(const fft_problem&);
    void (*forward)(void*);
    void (*finish)();
    void (*release)(void*);
};

/// Work on real transforms of `padded` floats: a convolution of operands that are already padded; or a cosine
/// transform of type 2, which cuFFT lacks and replaces by a real transform.
struct spectral_problem {
    std::size_t padded;
    bool is_convolution;
};
/// The functions that `peer_cuda_spectral_functions` of libpeer_cuda.so returns.
struct cuda_spectral_functions {
    /// Null if cuFFT is missing.
    void* (*make)(const spectral_problem&);
    void (*run)(void*);
    void (*finish)();
    void (*release)(void*);
};

namespace fftw {

/// FFTW with FFTW_MEASURE and a thread per core; null if its libraries are not installed.
void* make(const fft_problem&);
void forward(void*);
void release(void*);

/// The same for spectral problems.
void* make_spectral(const spectral_problem&);
void run_spectral(void*);
void release_spectral(void*);

}  // namespace fftw

}  // namespace peer
