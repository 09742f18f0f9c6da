# Sourced by scripts/test.sh and scripts/check.sh: runs the functions step_NAME of whoever sources it, in the order
# given, and ends with a table of what passed and how long it took.

jobs=${BALM_JOBS:-$(nproc)}

# Builds targets of a preset; no targets: all of them.
build_preset() {
    local preset=$1 target=()
    shift
    if [ $# -gt 0 ]; then target=(--target "$@"); fi
    cmake --preset "$preset"
    cmake --build --preset "$preset" --parallel "$jobs" "${target[@]}"
}

run_steps() {
    local start
    for step in "$@"; do
        if ! declare -F "step_$step" >/dev/null; then
            echo "$0: there is no step '$step'; the head of the script lists them" >&2
            exit 2
        fi
    done
    summary=()
    trap report EXIT
    for step in "$@"; do
        echo "== $step"
        start=$SECONDS
        "step_$step"
        summary+=("$(printf '%-14s passed  %4d s' "$step" $((SECONDS - start)))")
    done
}

report() {
    local status=$?
    if [ ${#summary[@]} -gt 0 ]; then printf '%s\n' "" "${summary[@]}"; fi
    if [ "$status" -ne 0 ]; then echo "FAILED: $step"; fi
}
