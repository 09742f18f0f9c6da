#!/usr/bin/env bash
# Builds Debian packages of Balm into build/packages, and checks what is in them. With names of steps, only those, in
# the order given:
#
#   scripts/package.sh               all of: setup build package check
#   scripts/package.sh check         any steps by name
#
# DEBFULLNAME and DEBEMAIL name the maintainer; without them, the user of git does. DEB_BUILD_OPTIONS=noopt builds without
# the optimiser, in a third of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

packages=build/packages
maintainer="${DEBFULLNAME:-$(git config user.name || id -un)} <${DEBEMAIL:-$(git config user.email || id -un)}>"

step_setup() {
    scripts/setup.sh --packages
    if ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null; then
        echo "package: dpkg-shlibdeps and file find the packages that Balm depends on; there is no apt to install" \
            "Debian's dpkg-dev and file" >&2
        return 1
    fi
}
step_build() {
    local optimiser=-O3
    if [[ " ${DEB_BUILD_OPTIONS-} " == *" noopt "* ]]; then optimiser=-O0; fi
    cmake --preset packages -D CMAKE_CXX_FLAGS_RELEASE="$optimiser -DNDEBUG"
    cmake --build --preset packages --parallel "$jobs" --target balm balm_tool
}
step_package() {
    rm -rf $packages/*.deb $packages/staging
    cpack --config $packages/tree/CPackConfig.cmake -B $packages/staging -D CPACK_PACKAGE_CONTACT="$maintainer"
    mv $packages/staging/*.deb $packages
    rm -r $packages/staging
}
# What each package holds and depends on; then programs outside use what all of them install, and the tool starts.
step_check() {
    local root=$PWD/$packages/root libraries runtime version package name
    libraries=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    runtime=$(basename $packages/libbalm[0-9]*.deb)
    runtime=${runtime%%_*}
    version=$(dpkg-deb --field $packages/libbalm-dev_*.deb Version)

    holds "$runtime" "$libraries/libbalm.so.${runtime#libbalm}" "usr/share/doc/$runtime/copyright"
    depends "$runtime" libc6 'libfmt[0-9]' 'libsodium[0-9]' 'libstdc++6' zlib1g
    holds libbalm-dev usr/include/balm/{balm.hpp,version.hpp} "$libraries"/{libbalm.so,libbalm_of_each_user.a} \
        "$libraries"/cmake/balm/{balmConfig,balmConfigVersion,balmTargets}.cmake "$libraries/pkgconfig/balm.pc"
    depends libbalm-dev "$runtime (= $version)"
    holds balm-tools usr/bin/balm usr/share/man/man1/balm.1.gz usr/share/bash-completion/completions/balm \
        usr/share/zsh/vendor-completions/_balm
    depends balm-tools "$runtime (= $version)" 'libfmt[0-9]'
    holds libbalm-doc usr/share/doc/balm/{README.md,LICENSE,CHANGELOG.md,docs/installing.md,examples/hello.cpp}

    rm -rf "$root"
    for package in $packages/*.deb; do
        name=$(dpkg-deb --field "$package" Package)
        holds "$name" "usr/share/doc/$name/copyright" "usr/share/doc/$name/changelog.Debian.gz"
        dpkg-deb --extract "$package" "$root"
    done
    gzip -dc "$root"/usr/share/doc/balm-tools/changelog.Debian.gz | dpkg-parsechangelog -l - >/dev/null
    if objdump -p "$root/usr/bin/balm" "$root/$libraries"/libbalm.so.* | grep -E 'R(UN)?PATH'; then
        echo "package: a program or library has a run-time path" >&2
        return 1
    fi
    # Not told: that CPack's scripts call ldconfig beside the trigger, and that no bug of Debian's asks for the package.
    if command -v lintian >/dev/null; then
        lintian --fail-on error,warning --suppress-tags maintscript-calls-ldconfig,initial-upload-closes-no-bugs \
            $packages/*.deb
    else
        echo "package: there is no lintian here (apt-get install lintian), so the packages are not looked at by it" >&2
    fi
    if [ "$(ls "$root/usr/bin")" != balm ]; then
        echo "package: the only program to install is balm; there are: $(ls "$root/usr/bin")" >&2
        return 1
    fi
    LD_LIBRARY_PATH=$root/$libraries "$root/usr/bin/balm" --version
    cmake -D prefix="$root/usr" -D config=Release -D source="$PWD/tests/install" -D compiler=c++ -D sanitize= \
        -D work="$PWD/$packages/outside" -P cmake/test_install.cmake
}
# holds PACKAGE file...: these files are in it.
holds() {
    local package=$1 file contents
    shift
    contents=$(dpkg-deb --contents $packages/"${package}"_*.deb | awk '{ print $6 }')
    for file in "$@"; do
        if ! grep -qxF "./$file" <<<"$contents"; then
            printf 'package: %s lacks %s; it has:\n%s\n' "$package" "$file" "$contents" >&2
            return 1
        fi
    done
}
# depends PACKAGE pattern...: each is the beginning of one of its dependencies.
depends() {
    local package=$1 pattern fields
    shift
    fields=", $(dpkg-deb --field $packages/"${package}"_*.deb Depends)"
    for pattern in "$@"; do
        if ! grep -q ", $pattern" <<<"$fields"; then
            echo "package: $package does not depend on $pattern, but on: ${fields#, }" >&2
            return 1
        fi
    done
}

case "${1-all}" in
    all) run_steps setup build package check ;;
    *) run_steps "$@" ;;
esac
