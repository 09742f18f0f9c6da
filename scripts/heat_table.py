#!/usr/bin/env python3
"""Times the programs of the heat trail on one world and writes a page with the table and a plot.

    heat_table.py --programs DIR [--size 5000] [--steps 1000] [--repeats 3] [--output docs/heat-results.md]

Each program runs with 1 step and with all of them; the fastest of the repeats counts, and a run that fills the caches of
kernels does not. Programs that take longer than SLOW seconds run once. The world comes from a binary file, as in the heat course, and the result goes to another. Every result is
compared with the serial one. Ends with 1, and writes nothing, when one differs by more than the tolerance.
"""

import argparse
import datetime
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

DT = "0.1"
ALPHA = "0.1"
SLOW = 20
TOLERANCE = 1e-4  # single precision has rounded differently after some thousand steps

PROGRAMS = [
    ("step_world_v1_lambda", "serial"),
    ("step_world_tbb", "TBB"),
    ("step_world_v3_opencl", "OpenCL"),
    ("step_world_v4_double_buffered", "double-buffered"),
    ("step_world_v5_packed_properties", "packed"),
    ("step_world", "Balm"),
]


def fail(message):
    sys.exit(f"heat_table: {message}")


def run(command, **streams):
    result = subprocess.run(command, text=True, check=False, **streams)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stderr or ''}")
    return result


def seconds_of(program, steps, world, result, repeats):
    """The fastest of some runs, and what the last one said on stderr."""
    best = math.inf
    for turn in range(1 + repeats):
        with open(world, "rb") as source, open(result, "wb") as sink:
            start = time.monotonic()
            said = run([program, DT, str(steps), "1"], stdin=source, stdout=sink, stderr=subprocess.PIPE).stderr
            seconds = time.monotonic() - start
        if seconds > SLOW:
            return seconds, said
        if turn > 0:
            best = min(best, seconds)
    return best, said


def measure(arguments, folder):
    """A row for each program that was built: label, seconds, seconds of the steps, difference; and devices."""
    world, serial = folder / "world.bin", folder / "serial.bin"
    with open(world, "wb") as sink:
        run([arguments.programs / "make_world", str(arguments.size), ALPHA, "1"], stdout=sink)
    rows, opencl_device = [], ""
    for name, label in PROGRAMS:
        program = arguments.programs / name
        if not program.exists():
            print(f"heat_table: {name} was not built, so it is left out", file=sys.stderr)
            continue
        result = folder / "result.bin" if rows else serial
        start_up, _ = seconds_of(program, 1, world, result, arguments.repeats)
        seconds, said = seconds_of(program, arguments.steps, world, result, arguments.repeats)
        difference = run([arguments.programs / "compare_worlds", serial, result, "--tolerance", str(TOLERANCE)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.strip()
        chosen = re.search(r"Choosing device (\d+)", said)
        if chosen:
            opencl_device = re.search(rf"Device {chosen[1]} : (.*)", said)[1]
        rows.append((label, name, seconds, seconds - start_up, difference))
        print(f"{label:16} {seconds:9.3f} s, differs by {difference}")
    return rows, opencl_device


def balm_device(programs, folder):
    """The device that step_world takes: heat_demo takes the same and names it."""
    said = run([programs / "heat_demo", "--size", "8", "--steps", "1", "--output", folder / "demo.png"],
               stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return re.search(r" s on (.*)", said)[1]


def host_name():
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", cpuinfo)
    return f"{model[1] if model else os.uname().machine}, {os.cpu_count()} cores"


def three_digits(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def steps_text(seconds, total):
    """Where the steps take less than the runs differ by, the subtraction says nothing."""
    noise = max(0.02, 0.02 * total)
    return three_digits(seconds) if seconds > noise else f"< {noise:.2g}"


def page(arguments, rows, opencl_device, own_device, busy, plot_name):
    serial = rows[0][2]
    lines = [
        "# The heat table",
        "",
        "<!-- scripts/heat_table.sh writes this page and its plot; what is changed here is lost. -->",
        "",
        f"A slalom world of {arguments.size} x {arguments.size} cells, {arguments.steps} steps of {DT} s, measured on "
        f"{datetime.date.today().isoformat()}.",
        "",
        f"* Host: {host_name()}. {busy}",
        f"* Device of the OpenCL programs: {opencl_device or 'none'}",
        f"* Device of Balm's `step_world`: {own_device}",
        "",
        "Seconds are those of the whole program: it reads the world from a binary file, steps it, and writes it to another; "
        f"the fastest of {arguments.repeats}, with kernels cached. *Of them steps* is what remains without the time of the "
        "same program with one step. The last column is the largest difference from the serial result.",
        "",
        "| method | program | seconds | of them steps | speed-up | over the row above | difference |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    above = serial
    for label, name, seconds, steps_alone, difference in rows:
        lines.append(f"| {label} | `{name}` | {three_digits(seconds)} | {steps_text(steps_alone, seconds)} | "
                     f"{three_digits(serial / seconds)} | {three_digits(above / seconds)} | {difference} |")
        above = seconds
    lines += ["", f"![Seconds of each program, logarithmic]({plot_name})", ""]
    return "\n".join(lines)


def plot(rows, title):
    """A bar for each row, with its seconds, on a logarithmic axis: SVG."""
    left, top, width, height, gap = 150, 50, 520, 26, 12
    low = 10 ** math.floor(math.log10(min(row[2] for row in rows)))
    high = 10 ** math.ceil(math.log10(max(row[2] for row in rows)) + 1e-9)
    bottom = top + len(rows) * (height + gap)

    def x_of(seconds):
        return left + width * math.log(seconds / low) / math.log(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{bottom + 60}" '
        'font-family="sans-serif" font-size="14">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="28" font-size="16">{title}</text>',
    ]
    tick = low
    while tick <= high * 1.001:
        x = x_of(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{bottom}" stroke="#ccc"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
        tick *= 10
    for number, (label, _, seconds, _, _) in enumerate(rows):
        y = top + number * (height + gap)
        colour = "#c0392b" if label == "Balm" else "#4878a8"
        parts.append(f'<text x="{left - 10}" y="{y + 18}" text-anchor="end">{label}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{max(1.0, x_of(seconds) - left):.1f}" height="{height}" '
                     f'fill="{colour}"/>')
        parts.append(f'<text x="{max(left + 1.0, x_of(seconds)) + 6:.1f}" y="{y + 18}">{three_digits(seconds)} s</text>')
    parts.append(f'<text x="{left + width / 2}" y="{bottom + 42}" text-anchor="middle">seconds (logarithmic)</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def whole_number(lowest):
    def parse(text):
        value = int(text)
        if value < lowest:
            raise argparse.ArgumentTypeError(f"{text} is less than {lowest}")
        return value
    return parse


def main():
    parser = argparse.ArgumentParser(description="Times the heat trail and writes a page with the table and a plot.")
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="the folder of make_world and the others")
    parser.add_argument("--size", type=whole_number(1), default=5000, help="cells per row, and rows")
    parser.add_argument("--steps", type=whole_number(2), default=1000)
    parser.add_argument("--repeats", type=whole_number(1), default=3)
    parser.add_argument("--output", type=pathlib.Path, default="docs/heat-results.md", help="the plot: the same, .svg")
    arguments = parser.parse_args()

    load = os.getloadavg()[0]
    busy = f"Other work was running: load {load:.1f} before the first run." if load > 0.5 else "Nothing else was running."
    with tempfile.TemporaryDirectory(prefix="heat_table_") as name:
        folder = pathlib.Path(name)
        rows, opencl_device = measure(arguments, folder)
        own_device = balm_device(arguments.programs, folder)
    plot_path = arguments.output.with_suffix(".svg")
    title = f"{arguments.size} x {arguments.size} cells, {arguments.steps} steps"
    arguments.output.write_text(page(arguments, rows, opencl_device, own_device, busy, plot_path.name))
    plot_path.write_text(plot(rows, title))
    print(f"wrote {arguments.output} and {plot_path}")


if __name__ == "__main__":
    main()
