#!/usr/bin/env python3
"""Draws the ratios of docs/performance.md: how fast Balm is in terms of its peer, every row of a device a dot.

    performance_plot.py           draws docs/pictures/performance-*.svg; needs matplotlib (python3-matplotlib)
    performance_plot.py --check   whether these are of the page's present tables, and that each row has a place;
                                  needs Python alone
    performance_plot.py --test    draws made-up tables into a temporary folder, with what it says of faulty ones

The pictures come from the page, not from Google Benchmark's JSON, which is not kept: scripts/performance_table.py
has made the tables of it. Rows without a peer are not drawn, nor are those whose bar is 0, which compare with
something that Balm need not reach.
"""

import argparse
import collections
import hashlib
import pathlib
import re
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs" / "performance.md"
pictures = root / "docs" / "pictures"

Plot = collections.namedtuple("Plot", "picture machine title series")
# A picture, the page's table that it is of, and the devices of that: how the heading begins, and a legend. A device that has
# not the peers of GPUs has those of CPUs.
PLOTS = [
    Plot("performance-h100.svg", "NVIDIA H100 80GB HBM3, driver 580, CUDA 13.0", "one NVIDIA H100 80GB",
         {"NVIDIA H100 80GB HBM3 (cuda": "Balm through CUDA", "NVIDIA H100 80GB HBM3 (opencl": "Balm through OpenCL"}),
    Plot("performance-cpu.svg", "AMD EPYC, 2 cores", "two cores of an AMD EPYC",
         {"pthread-skylake-avx512-AMD EPYC": "Balm through OpenCL (PoCL)"}),
]
# What a row is, by its name: the first that matches. Then the peer on GPUs, and on CPUs.
FAMILIES = [
    (r"Boost\.Compute", "scans, sorts, by key of Boost.Compute", "Boost.Compute", "Boost.Compute"),
    (r"ViennaCL", "sparse products of ViennaCL", "ViennaCL", "ViennaCL"),
    (r"heat step", "heat solver", "CUDA by hand", "OpenMP"),
    (r"odeint", "Boost.odeint, Lorenz ensemble", "kernels by hand", "kernels by hand"),
    (r"Y \+= a \* X", "Y += a * X", "CUDA by hand", "OpenMP"),
    (r"(y = x[(\[]|inner elements|B = A\.transpose)", "views and gathers", "CUDA by hand", "OpenMP"),
    (r"[CYZ] = ", "expressions of vectors", "CUDA by hand", "OpenMP"),
    (r"sums of (rows|columns)", "sums of rows and columns", "a copy of as many bytes", "OpenMP"),
    (r"(sum\(|max\(|min, max)", "reductions", "a copy of as many bytes", "OpenMP"),
    (r"scans of (rows|columns)", "scans of rows and columns", "a copy of as many bytes", "OpenMP"),
    (r"(inclusive_scan|two scans)", "scans", "CUB", "OpenMP"),
    (r"sort", "sorts", "CUB", "std::sort"),
    (r"(copy_if|unique|reduce_by_key|run_length)", "selections, reductions by key", "CUB", "OpenMP"),
    (r"(merge|set_|top_k)", "merges, set operations, top_k", "Thrust, CUB", "OpenMP"),
    (r"histogram", "histograms", "CUB", "OpenMP"),
    (r"sparse", "sparse matrices", "cuSPARSE", "OpenMP"),
    (r"(matmul|einsum)", "matrix products, contractions", "cuBLAS", "OpenBLAS"),
    (r"matrix product in local memory", "a kernel with tiles of matrices", "the same by hand", "the same by hand"),
    (r"([cz]2[cz]|convolution with|cosine transform)", "Fourier and cosine transforms", "cuFFT", "FFTW"),
    (r"(rows|columns) by", "convolutions", "CUDA by hand", "OpenMP"),
    (r"(spline|fit) of", "splines", "CUDA by hand", "OpenMP"),
    (r"(wave equation|.*points)", "stencils", "CUDA by hand", "OpenMP"),
    (r"(uniform|normal)", "random numbers", "cuRAND", "Random123, OpenMP"),
    (r"(device to )?pinned", "transfers to and from the device", "the driver", "the driver"),
]


class Fault(Exception):
    """What is wrong with the tables or pictures."""


def family_of(name):
    for family in FAMILIES:
        if re.match(family[0], name):
            return family
    raise Fault(f"no family for the row '{name}': add one to FAMILIES")


def ratios(text, machine, device):
    """The rows of a device in the tables of a machine that have a peer: (name, ratio)."""
    block = re.search(re.escape(f"<!-- table: {machine} -->") + "(.*?)<!-- end -->", text, re.DOTALL)
    if not block:
        raise Fault(f"there is no table of '{machine}'")
    sections = re.split(r"^### ", block.group(1), flags=re.MULTILINE)
    lines = [line for section in sections if section.startswith(device) for line in section.splitlines()]
    rows, columns = [], []
    for line in lines:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif "ratio" in columns and "peer" in columns and not cells[0].startswith("---"):
            row = dict(zip(columns, cells))
            if row["ratio"] and row["peer"] and row.get("bar") != "0":
                rows.append((row["what"], float(row["ratio"])))
    if not rows:
        raise Fault(f"the table of '{machine}' has no ratios of '{device}'")
    return rows


def series_of(plot, text):
    """By device: by family, its rows."""
    series = {}
    for device, legend in plot.series.items():
        families = series.setdefault(legend, {})
        for name, ratio in ratios(text, plot.machine, device):
            families.setdefault(family_of(name), []).append((name, ratio))
    return series


def day_of(plot, text):
    return re.search(re.escape(f"<!-- table: {plot.machine} -->") + r"\s*Measured ([^.]*)\.", text).group(1)


def digest(plot, text):
    """Of all that a picture shows of the page."""
    return hashlib.sha256(repr((plot, day_of(plot, text), series_of(plot, text))).encode()).hexdigest()


def draw(plot, text, folder):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "balm", "font.size": 9,
                                "font.family": "sans-serif", "font.sans-serif": ["Arial", "DejaVu Sans"]})

    series = series_of(plot, text)
    is_gpu = not plot.picture.endswith("cpu.svg")
    present = [family for family in FAMILIES if any(family in families for families in series.values())]
    # The worst family last, by the median of the first device that has it.
    middle = {}
    for family in present:
        values = next(sorted(r for _, r in families[family]) for families in series.values() if family in families)
        middle[family] = values[len(values) // 2]
    present.sort(key=lambda family: middle[family])
    every = [ratio for families in series.values() for rows in families.values() for _, ratio in rows]
    slower, clearly = sum(ratio < 1 for ratio in every), sum(ratio < 0.98 for ratio in every)

    figure, axes = pyplot.subplots(figsize=(8, 0.25 * len(present) + 1.6))
    axes.axvline(1, color="#555555", linewidth=1)
    axes.axvspan(min(every) / 1.3, 1, color="#f3e3da", zorder=0, linewidth=0)
    for k, (legend, families) in enumerate(series.items()):
        shift = 0 if len(series) == 1 else 0.14 - 0.28 * k
        x = [ratio for family in present for _, ratio in families.get(family, [])]
        y = [at + shift for at, family in enumerate(present) for _ in families.get(family, [])]
        axes.scatter(x, y, s=14, label=f"{legend}, {len(x)} rows", zorder=3, linewidths=0.8,
                     edgecolors=("#1f5fa8", "#c2571a")[k], facecolors=("#1f5fa8", "none")[k], alpha=0.8)
    axes.set_xscale("log")
    axes.set_xlim(min(every) / 1.3, max(every) * 1.2)
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10) if min(every) / 1.3 < tick < max(every) * 1.2]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(present)), [f"{family[1]} — {family[2 if is_gpu else 3]}" for family in present])
    axes.set_ylim(-0.6, len(present) - 0.4)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5, zorder=1)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.suptitle(f"Balm beside its peers on {plot.title}, {day_of(plot, text)}", x=0.01, ha="left", fontsize=11)
    figure.supxlabel(f"time of the peer / time of Balm. Left of 1 Balm is slower: {slower} of {len(every)} rows, "
                     f"{clearly} by more than 2 %", fontsize=9)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(series), frameon=False, fontsize=8, handletextpad=0.1)
    figure.tight_layout(pad=0.5)
    figure.savefig(folder / plot.picture, metadata={
        "Date": None, "Creator": "scripts/performance_plot.py", "Description": f"tables {digest(plot, text)}"})
    pyplot.close(figure)


def check(plots, text, folder):
    for plot in plots:
        picture = folder / plot.picture
        if not picture.exists() or f"tables {digest(plot, text)}" not in picture.read_text():
            raise Fault(f"{picture.name} is not of the tables of '{plot.machine}': run scripts/performance_plot.py")


def test():
    """The drawing, the check, and what is said of faults."""
    plot = Plot("made-up.svg", "M", "a machine", {"D (cuda": "CUDA", "D (opencl": "OpenCL"})
    table = "| what | time | peer | ratio | bar | reached |\n| --- | --- | --- | --- | --- | --- |\n"
    text = ("<!-- table: M -->\n\nMeasured 2026-01-02.\n\n### D (cuda, CUDA)\n\n" + table +
            "| sort, u32 | 2 s | 1 s | 0.500 | 1 | **no** |\n| C = A \\| B, f32 | 1 s | 1 s | 1.000 | 1 | yes |\n"
            "| cubic spline beside a copy | 4 s | 1 s | 0.250 | 0 | yes |\n\n"
            "| what | time | ratio |\n| --- | --- | --- |\n| no peer | 1 s | 3.000 |\n\n"
            "### D (opencl, OpenCL)\n\n" + table + "| sort, u32 | 1 s | 2 s | 2.000 | 1 | yes |\n\n<!-- end -->\n")
    assert ratios(text, "M", "D (cuda") == [("sort, u32", 0.5), ("C = A \\| B, f32", 1.0)]
    assert ratios(text, "M", "D (opencl") == [("sort, u32", 2.0)]

    def says(words, call, *arguments):
        try:
            call(*arguments)
        except Fault as fault:
            assert words in str(fault), fault
        else:
            raise AssertionError(f"nothing said '{words}'")

    says("no table of 'N'", ratios, text, "N", "D")
    says("no ratios of 'E'", ratios, text, "M", "E")
    says("no family", digest, plot, text.replace("sort, u32", "dance"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        says("run scripts/performance_plot.py", check, [plot], text, folder)
        try:
            draw(plot, text, folder)
        except ImportError:
            print("performance_plot: no matplotlib here (python3-matplotlib), so nothing is drawn")
            return
        check([plot], text, folder)
        drawn = (folder / plot.picture).read_text()
        for words in ("sorts — CUB", "CUDA, 2 rows", "OpenCL, 1 rows", "a machine, 2026-01-02", "1 of 3 rows, 1 by more"):
            assert words in drawn, words
        draw(plot, text, folder)
        assert (folder / plot.picture).read_text() == drawn, "drawn twice it differs"
        says("not of the tables", check, [plot], text.replace("0.500", "0.600"), folder)


def main():
    parser = argparse.ArgumentParser(description="the ratios of docs/performance.md as pictures")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="whether the pictures are of the page's tables")
    mode.add_argument("--test", action="store_true", help="test this script")
    arguments = parser.parse_args()
    try:
        if arguments.test:
            test()
        elif arguments.check:
            check(PLOTS, page.read_text(), pictures)
        else:
            for plot in PLOTS:
                draw(plot, page.read_text(), pictures)
                print(pictures.relative_to(root) / plot.picture)
    except Fault as fault:
        sys.exit(f"performance_plot: {fault}")
    except ImportError:
        sys.exit("performance_plot: drawing needs matplotlib: apt-get install python3-matplotlib")


if __name__ == "__main__":
    main()
