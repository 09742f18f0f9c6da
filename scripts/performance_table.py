#!/usr/bin/env python3
"""Makes a Markdown table of Google Benchmark's JSON files.

    performance_table.py FILE.json...                                        prints it
    performance_table.py --update PAGE.md --machine NAME FILE.json...        puts it into the page

In the page, the table of a machine stands between `<!-- table: NAME -->` and `<!-- end -->`; it is replaced
there, or added at the end.

Of repeated runs the median is shown. Counters become columns; two are known: `ratio`, how a measurement stands
to its peer, and `bar`, what the ratio must reach (it adds a column that says whether it did).
"""

import argparse
import json
import pathlib
import re

TO_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# What Google Benchmark writes of every run; anything else that is a number is a counter.
OWN_FIELDS = {
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "bytes_per_second", "items_per_second",
}


def with_prefix(value, unit, prefixes):
    """A number with the first of the prefixes that leaves at least one digit before the point."""
    for factor, prefix in prefixes:
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    factor, prefix = prefixes[-1]
    return f"{value / factor:.3g} {prefix}{unit}"


def time_text(seconds):
    return with_prefix(seconds, "s", [(1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")])


def rate_text(per_second, unit):
    return with_prefix(per_second, unit, [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")])


def measurements(paths):
    """The runs to show: medians where a benchmark was repeated, else the run itself."""
    runs = []
    for path in paths:
        runs += json.loads(path.read_text())["benchmarks"]
    with_median = {run["run_name"] for run in runs if run.get("aggregate_name") == "median"}
    for run in runs:
        if run.get("error_occurred"):
            yield run
        elif run.get("aggregate_name") == "median":
            yield run
        elif run.get("run_type") == "iteration" and run["run_name"] not in with_median:
            yield run


def short_name(run):
    return re.sub(r"/(real_time|process_time|manual_time|iterations:\d+|repeats:\d+)", "", run["run_name"])


def row(run):
    if run.get("error_occurred"):
        return {"what": short_name(run), "label": "not run: " + run["error_message"]}
    cells = {"what": short_name(run), "label": run.get("label", "")}
    cells["time"] = time_text(run["real_time"] * TO_SECONDS[run["time_unit"]])
    if "bytes_per_second" in run:
        cells["bandwidth"] = rate_text(run["bytes_per_second"], "B/s")
    if "items_per_second" in run:
        cells["items"] = rate_text(run["items_per_second"], "/s")
    for name, value in run.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and name not in OWN_FIELDS:
            cells[name] = f"{value:.4g}"
    if "ratio" in run and "bar" in run:
        cells["reached"] = "yes" if run["ratio"] >= run["bar"] else "no"
    return cells


def table(paths):
    rows = [row(run) for run in measurements(paths)]
    columns = []
    for cells in rows:
        columns += [name for name in cells if name not in columns]
    columns = [name for name in columns if any(cells.get(name) for cells in rows)]
    columns.sort(key=lambda name: name == "reached")  # the verdict is last
    lines = [columns, ["---"] * len(columns)]
    lines += [[cells.get(name, "").replace("|", "\\|") for name in columns] for cells in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def update(page, machine, text):
    """Replaces the machine's table in the page, or adds it."""
    begin, end = f"<!-- table: {machine} -->", "<!-- end -->"
    block = f"{begin}\n\n{text}\n\n{end}"
    old = page.read_text() if page.exists() else "# Performance\n"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if pattern.search(old):
        new = pattern.sub(lambda _: block, old)
    else:
        new = f"{old.rstrip()}\n\n## {machine}\n\n{block}\n"
    page.write_text(new)


def main():
    parser = argparse.ArgumentParser(description="Google Benchmark's JSON as a Markdown table")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="the page to put the table into")
    parser.add_argument("--machine", default="this machine", help="what the table's heading says")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    text = table(arguments.results)
    print(text)
    if arguments.update:
        update(arguments.update, arguments.machine, text)


if __name__ == "__main__":
    main()
