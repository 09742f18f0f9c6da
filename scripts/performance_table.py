#!/usr/bin/env python3
"""Makes Markdown tables of Google Benchmark's JSON files: for each device (a benchmark's label), and for what has
the same columns.

    performance_table.py FILE.json...                                        prints it
    performance_table.py --update PAGE.md --machine NAME FILE.json...        puts it into the page

In the page, the tables of a machine stand between `<!-- table: NAME -->` and `<!-- end -->`; they are replaced
there, or added at the end. Prose outside of the two lines is left as it is.

Of repeated runs the median is shown. Counters become columns; some are known:

    ratio, bar     how fast a measurement is in terms of its peer, and what that must reach
    at_most        the seconds that it may take
    NAME_seconds   a time
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


def measurements(results):
    """The runs to show: medians where a benchmark was repeated, else the run itself."""
    runs = [run for result in results for run in result["benchmarks"]]
    with_median = {run["run_name"] for run in runs if run.get("aggregate_name") == "median"}
    for run in runs:
        if run.get("error_occurred"):
            yield run
        elif run.get("aggregate_name") == "median":
            yield run
        elif run.get("run_type") == "iteration" and run["run_name"] not in with_median:
            yield run


def short_name(run):
    """The benchmark's name without its device and without Google Benchmark's notes on the way of timing."""
    name = re.sub(r"/(real_time|process_time|manual_time|iterations:\d+|repeats:\d+)", "", run["run_name"])
    return name.removesuffix("/" + run.get("label", ""))


def counter_text(name, value):
    if name.endswith("_seconds") or name == "at_most":
        return time_text(value)
    return f"{value:.3f}" if name == "ratio" else f"{value:.4g}"


def row(run):
    if run.get("error_occurred"):
        return {"what": short_name(run), "time": "not run: " + run["error_message"]}
    seconds = run["real_time"] * TO_SECONDS[run["time_unit"]]
    cells = {"what": short_name(run), "time": time_text(seconds)}
    if "bytes_per_second" in run:
        cells["bandwidth"] = rate_text(run["bytes_per_second"], "B/s")
    if "items_per_second" in run:
        cells["items"] = rate_text(run["items_per_second"], "/s")
    for name, value in run.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and name not in OWN_FIELDS:
            cells[name.removesuffix("_seconds").replace("_", " ")] = counter_text(name, value)
    if "bar" in run:
        cells["reached"] = "yes" if run["ratio"] >= run["bar"] else "**no**"
    elif "at_most" in run:
        cells["reached"] = "yes" if seconds <= run["at_most"] else "**no**"
    return cells


def table(rows):
    columns = []
    for cells in rows:
        columns += [name for name in cells if name not in columns]
    last = ["peer", "ratio", "bar", "at most", "reached"]  # the verdict, after what it is made of
    columns.sort(key=lambda name: last.index(name) + 1 if name in last else 0)
    lines = [columns, ["---"] * len(columns)]
    lines += [[cells.get(name, "").replace("|", "\\|") for name in columns] for cells in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tables_of(rows):
    """A table for all rows that have the same columns."""
    alike = {}
    for cells in rows:
        alike.setdefault(frozenset(cells), []).append(cells)
    return "\n\n".join(table(each) for each in alike.values())


def device_of(run):
    """The label; a benchmark that failed before it set one has the device at the end of its name."""
    return run.get("label") or (run["run_name"].split("/")[1] if run.get("error_occurred") else "host")


def tables(paths):
    """A date, then the tables of each device."""
    results = [json.loads(path.read_text()) for path in paths]
    by_device = {}
    for run in measurements(results):
        by_device.setdefault(device_of(run), []).append(row(run))
    days = sorted({result["context"]["date"][:10] for result in results})
    parts = ["Measured " + (days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}") + "."]
    for device, rows in sorted(by_device.items(), key=lambda each: each[0] == "host"):
        parts.append(f"### {device[:1].upper() + device[1:] if device == 'host' else device}\n\n{tables_of(rows)}")
    return "\n\n".join(parts)


def update(page, machine, text):
    """Replaces the machine's tables in the page, or adds them."""
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
    parser = argparse.ArgumentParser(description="Google Benchmark's JSON as Markdown tables")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help="the page to put the tables into")
    parser.add_argument("--machine", default="this machine", help="what the table's heading says")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    text = tables(arguments.results)
    print(text)
    if arguments.update:
        update(arguments.update, arguments.machine, text)


if __name__ == "__main__":
    main()
