#!/usr/bin/env bash
# Installs what Balm needs to be built, run and tested, on Debian 12 and Ubuntu 24.04. Does nothing where
# nothing is missing; uses sudo only to install.
#
#   scripts/setup.sh             what the build, the tests and the demo need
#   scripts/setup.sh --packages  also what scripts/package.sh builds packages with
#   scripts/setup.sh --checks    that, and what scripts/check.sh checks the code with
set -euo pipefail

packages=(
    build-essential cmake ninja-build ccache pkg-config git python3  # to build
    ocl-icd-opencl-dev opencl-headers                                # the library
    libfmt-dev libsodium-dev zlib1g-dev                              # what it is linked with
    pocl-opencl-icd                                                  # OpenCL on the CPU
    libcli11-dev libpng-dev nlohmann-json3-dev libtbb-dev            # the programs
    libgtest-dev libgmock-dev librandom123-dev libbenchmark-dev      # tests and benchmarks
    libmpfr-dev                                                      # the tests' exact functions
    libboost-dev libviennacl-dev                                     # odeint, solvers: for tests and examples
    libeigen3-dev libclblast-dev libclfft-dev libdlpack-dev          # libraries that exchange data with Balm,
    python3-numpy                                                    # Python's too
)
if [ "${1-}" = --packages ] || [ "${1-}" = --checks ]; then
    packages+=(dpkg-dev file)                                        # what a package depends on
fi
if [ "${1-}" = --checks ]; then
    packages+=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14)
    packages+=(oclgrind)                                             # checks what kernels do to memory
    packages+=(codespell)                                            # misspelt words
    packages+=(doxygen python3-sphinx python3-myst-parser furo)      # the documentation site
    packages+=(python3-matplotlib)                                   # the pictures of docs/performance.md
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: no apt here, so nothing is installed; Balm needs what these Debian packages hold:" >&2
    echo "    ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: nothing is missing"
    exit 0
fi

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: this needs root, and there is no sudo. As root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
install_missing() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}
"${as_root[@]}" apt-get update --quiet
install_missing
