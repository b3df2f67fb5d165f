#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints results as tables for Documentation/performance/, and writes the data of the plot, if there is one.

usage: tables.py NAME RESULTS

RESULTS is build/bench/NAME.json. The data of the plot go to NAME.dat next to it.
"""

import datetime
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Iterator

REPO = pathlib.Path(__file__).resolve().parents[2]
LICENSE = "SPDX-License" + "-Identifier: GPL-2.0-or-later"
PEER = "rdma_rxe"
IN_TREE = "mlx5_core + mlx5_ib"


def table(rows: list[list[str]]) -> str:
    """A simple reStructuredText table. The first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def transport(results: dict) -> Iterator[str]:
    rows = [["measured", "unit", "cxemu", PEER, "ratio"]]
    for measured in results["peers"].values():
        ours, theirs = measured["values"]["cxemu"], measured["values"][PEER]
        better = ours / theirs if measured["better"] == "higher" else theirs / ours
        rows.append([measured["title"], measured["unit"], f"{ours:,.0f}", f"{theirs:,.0f}", f"{better:.1f}"])
    yield table(rows)
    found = results["queue_pairs"]
    few, many = found["create_at_100_us"], found["create_at_all_us"]
    yield table([
        ["queue pairs", "messages", "create with 100 others", "create with all others", "ratio"],
        [f"{found['queue_pairs']:,}", f"{found['messages']:,}", f"{few:.0f} µs", f"{many:.0f} µs", f"{many / few:.2f}"],
    ])


BRING_UP = {
    "load_us": ("time from load to registration", "µs"),
    "commands": ("commands until no more follow", ""),
    "memory_kib": ("used memory", "KiB"),
    "modules_kib": ("of this, the modules", "KiB"),
    "unload_us": ("time to remove the device", "µs"),
}


def bring_up(results: dict) -> Iterator[str]:
    ours, theirs = results["cxib"], results[IN_TREE]
    rows = [["measured", "unit", "cxib", IN_TREE, "ratio"]]
    for key, (title, unit) in BRING_UP.items():
        rows.append([title, unit, f"{ours[key]:,.0f}", f"{theirs[key]:,.0f}", f"{ours[key] / theirs[key]:.3f}"])
    yield table(rows)


ULP_DRIVERS = {"cxib": "cxib", "mlx5": "mlx5_ib", "rxe": PEER}
Figures = dict[tuple[str, str, str], dict[str, list[float]]]


def ulp_figures(results: dict) -> Figures:
    """The values of all turns by driver for each protocol, measurement and unit."""
    figures: Figures = {}
    for driver, turns in results.items():
        for row in itertools.chain.from_iterable(turns):
            found = figures.setdefault((row["protocol"], row["what"], row["unit"]), {})
            found.setdefault(driver, []).append(row["value"])
    return figures


def ulps(results: dict) -> Iterator[str]:
    figures = ulp_figures(results)
    all_turns = [turns for found in figures.values() for turns in found.values()]
    spreads = [max(turns) / min(turns) for turns in all_turns]
    yield (f"Medians of {max(map(len, all_turns))} turns, which differ by a factor of {statistics.median(spreads):.1f} for the "
           f"median figure and {max(spreads):.1f} at the most.")
    rows = [["protocol", "measured", "unit", *ULP_DRIVERS.values()]]
    for (protocol, what, unit), found in figures.items():
        medians = [f"{statistics.median(found[driver]):,.0f}" if driver in found else "-" for driver in ULP_DRIVERS]
        rows.append([protocol, what, unit, *medians])
    yield table(rows)


REQUESTS = ("SEND", "RDMA_WRITE", "REG_MR", "LOCAL_INV")
COST_GOAL = 0.6


def costs_table(ours: dict, theirs: dict) -> str:
    rows = [["request", "", "cxib", "mlx5_ib", "ratio"]]
    for name in REQUESTS:
        for step in ("post", "poll", "both"):
            one, other = (sum(found[name].values()) if step == "both" else found[name][step] for found in (ours, theirs))
            rows.append([name, step, f"{one:,}", f"{other:,}", f"{one / other:.2f}"])
    return table(rows)


def verbs(results: dict) -> Iterator[str]:
    ours, theirs = results["cxib"], results["mlx5_ib"]
    yield costs_table(ours, theirs)
    missed = [name for name in REQUESTS if sum(ours[name].values()) > COST_GOAL * sum(theirs[name].values())]
    yield f"Goal: a ratio of {COST_GOAL} for posting and polling together. Not reached: {', '.join(missed) or 'nowhere'}."
    yield f"The lock of cxib: {ours['lock']['pair']} instructions."
    yield table([["object", "cxib", "mlx5_ib", "ratio"],
                 *([name, f"{size:,}", f"{theirs['bytes'][name]:,}", f"{size / theirs['bytes'][name]:.2f}"]
                   for name, size in ours["bytes"].items())])


def size_name(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size >> 10} KiB"


def objects(results: dict) -> Iterator[str]:
    ours, theirs = results["cxib"], results["mlx5_ib"]
    waits = [["queue pairs", "cxib", "mlx5_ib", "ratio"]]
    for count, time in ours["create_us"].items():
        other = theirs["create_us"][count]
        waits.append([f"{int(count):,}", f"{time:,.0f} µs", f"{other:,.0f} µs", f"{time / other:.2f}"])
    yield table(waits)
    rates = [["size", "cxib", "mlx5_ib", "ratio"]]
    for size, rate in ours["registrations"].items():
        other = theirs["registrations"][size]
        rates.append([size_name(int(size)), f"{rate:,.1f}", f"{other:,.1f}", f"{rate / other:.2f}"])
    yield table(rates)


POLLING_P99_GOALS = {"core-softirq": 20, "core-workqueue": 10}
"""How many times less the 99th percentile of a context has to be, at 20 µs."""
POLLING_JAIN_GOAL = 0.95
POLLING_ALONE_GOALS = {"cxib-softirq": 1.05, "cxib-thread": 1.10, "cxib-own-thread": 1.10}
POLLING_LOADS = {"equal": "7 full CQs, done() of 20 µs", "mixed": "7 full CQs, done() of 5 to 100 µs"}


def quantile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def jain(values: list[float]) -> float:
    """Jain's index: 1 if all are equal, 1/n if one has everything."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0


def worst_jain(found: dict) -> float:
    """Jain's index of the processor time in done() of the full CQs, in the worst second."""
    costs = [hog["cost_us"] for hog in found["hogs"]]
    windows = [[0] * len(costs), *found["windows"]]
    return min(jain([(now - before) * cost for now, before, cost in zip(after, first, costs, strict=True)])
               for first, after in itertools.pairwise(windows))


def rates(found: dict) -> list[float]:
    """Completions per second of each full CQ."""
    return [completed / len(found["windows"]) for completed in found["windows"][-1]]


def polling_table(contexts: dict, load: str) -> str:
    rows = [["context", "p50", "p99", "longest", "waits", "completions a second", "longest hold", "Jain's index"]]
    for context, measured in contexts.items():
        found = measured[load]
        waits = found["latencies_ns"]
        hogs = rates(found)
        rows.append([context, *(f"{quantile(waits, share) / 1000:,.0f} µs" for share in (0.5, 0.99, 1)), f"{len(waits):,}",
                     f"{min(hogs):,.0f} to {max(hogs):,.0f}", f"{found['longest_hold_ns'] / 1000:,.0f} µs",
                     f"{worst_jain(found):.2f}"])
    return table(rows)


def alone_table(contexts: dict) -> str:
    medians = {context: statistics.median(measured["alone"]) for context, measured in contexts.items()}
    rows = [["context", "instructions", "of core-workqueue"]]
    rows += [[context, f"{median:,.0f}", f"{median / medians['core-workqueue']:.2f}"] for context, median in medians.items()]
    return table(rows)


def hogged_table(hogged: dict) -> str:
    return table([["context", "work items"], *([context, f"{count:,}"] for context, count in hogged.items())])


def judged(text: str, *, is_reached: bool) -> str:
    return text if is_reached else f"{text}, missed"


def polling_goals(contexts: dict) -> str:
    """A table of the goals with the figure of each context of cxib."""
    p99 = {context: quantile(measured["equal"]["latencies_ns"], 0.99) for context, measured in contexts.items()}
    medians = {context: statistics.median(measured["alone"]) for context, measured in contexts.items()}
    rows = [["context", *(f"p99 of {context} (1/{least})" for context, least in POLLING_P99_GOALS.items()),
             f"Jain's index ({POLLING_JAIN_GOAL})", "alone"]]
    for context, measured in contexts.items():
        if not context.startswith("cxib-"):
            continue
        cells = [judged(f"1/{p99[core] / p99[context]:,.0f}", is_reached=p99[core] >= least * p99[context])
                 for core, least in POLLING_P99_GOALS.items()]
        index = worst_jain(measured["mixed"])
        cells.append(judged(f"{index:.2f}", is_reached=index >= POLLING_JAIN_GOAL))
        alone, most = medians[context] / medians["core-workqueue"], POLLING_ALONE_GOALS.get(context)
        cells.append(judged(f"{alone:.2f} ({most:.2f})", is_reached=alone <= most) if most else f"{alone:.2f} (none)")
        rows.append([context, *cells])
    return table(rows)


def polling_data(contexts: dict) -> str:
    """Data of the plot: 99th percentiles of the latencies in microseconds."""
    return "".join(
        " ".join([context, *(f"{quantile(measured[load]['latencies_ns'], 0.99) / 1000:.0f}" for load in POLLING_LOADS)]) + "\n"
        for context, measured in contexts.items())


def polling(results: dict) -> Iterator[str]:
    contexts = results["contexts"]
    yield f"Preemption of the kernel: \"{results['preemption']}\". {results['seconds']} s of each context."
    for load, title in POLLING_LOADS.items():
        yield f"{title}:"
        yield polling_table(contexts, load)
    yield "Instructions from the interrupt to done():"
    yield alone_table(contexts)
    yield f"Work items that held their processor for more than 10 ms, in {results['hog_seconds']} s (goal for cxib: none):"
    yield hogged_table(results["hogged"])
    yield "Goals, in brackets:"
    yield polling_goals(contexts)


def slope(delays: list[float], latencies: list[float]) -> float:
    """Slope of the best straight line: how often a latency contains the delay."""
    middle, mean = statistics.mean(delays), statistics.mean(latencies)
    above = sum((delay - middle) * (latency - mean) for delay, latency in zip(delays, latencies, strict=True))
    return above / sum((delay - middle) ** 2 for delay in delays)


def pipelining_medians(results: dict, kind: str) -> dict[str, float]:
    """The medians of all turns by measured quantity."""
    turns, delays_us = results["times"][kind], [1000 * delay for delay in results["times"]["delays_ms"]]
    values = {name: statistics.median(turn[name] for turn in turns)
              for name in ("latency_us", "latency_p10_us", "latency_p99_us", "iops", "mixed_iops")}
    values |= {name: statistics.median(turn["counts"][name] for turn in turns) for name in turns[0]["counts"]}
    values["slope"] = statistics.median(slope(delays_us, turn["delayed_us"]) for turn in turns if "delayed_us" in turn)
    costs = results["costs"][kind]
    return values | {f"{name}_{depth}": statistics.median(turn[depth][name] for turn in costs)
                     for depth, cost in costs[0].items() for name in cost}


def pipelining_cost_spread(costs: dict) -> float:
    """The largest difference between the instructions of turns, relative to the smallest."""
    turns = [[turn[depth]["instructions"] for turn in costs[kind]] for kind in costs for depth in costs[kind][0]]
    return max(max(found) / min(found) for found in turns) - 1


def pipelining_spread(results: dict) -> float:
    """The largest difference between the turns of a time."""
    return max(max(turn[name] for turn in results[kind]) / min(turn[name] for turn in results[kind])
               for kind in ("with", "without") for name in ("latency_us", "latency_p10_us", "iops", "mixed_iops"))


# Name, description, digits, and the range of the with/without ratio that is the goal.
PIPELINING = (
    ("slope", "one-way trips in the latency, depth 1", 2, 0.47, 0.53),
    ("send_completions", "send CQEs of the target for a read", 2, 0, 0.51),
    ("send_doorbells", "send doorbells of the target for a read", 2, 0, 0.51),
    ("interrupts", "completion interrupts of the target for a read", 2, 0, 0.68),
    ("latency_us", "latency, depth 1, median, µs", 0, 0, 0.85),
    ("latency_p10_us", "latency, depth 1, 10th percentile, µs", 0, None, None),
    ("latency_p99_us", "latency, depth 1, 99th percentile, µs", 0, None, None),
    ("iops", "IOPS, depth 16", 0, 1.1, None),
    ("mixed_iops", "IOPS, reads and writes, depth 16", 0, 0.97, None),
)
# Costs of a read for host and target, in a guest with one processor.
PIPELINING_COSTS = (
    ("instructions_1", "instructions, depth 1", 0, None, None),
    ("interrupts_1", "completion interrupts, depth 1", 2, None, None),
    ("switches_1", "context switches, depth 1", 2, None, None),
    ("instructions_16", "instructions, depth 16", 0, None, None),
)


def goal_told(low: float | None, high: float | None) -> str:
    if low and high:
        return f"{low} to {high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


def pipelining_table(figures: tuple, ours: dict[str, float], theirs: dict[str, float]) -> str:
    has_goals = any(low or high for *_, low, high in figures)
    rows = [["measured", "without", "with", "with/without", *(["goal", "reached"] if has_goals else [])]]
    for name, title, digits, low, high in figures:
        ratio = ours[name] / theirs[name]
        reached = (low is None or ratio >= low) and (high is None or ratio <= high)
        goal = goal_told(low, high)
        judged = [goal, ("yes" if reached else "no") if goal else ""] if has_goals else []
        rows.append([title, f"{theirs[name]:,.{digits}f}", f"{ours[name]:,.{digits}f}", f"{ratio:.2f}", *judged])
    return table(rows)


def pipelining_data(results: dict) -> str:
    """Data of the plot: a delay, and the latencies without and with pipelining, in milliseconds."""
    lines = []
    for i, delay in enumerate(results["times"]["delays_ms"]):
        found = [statistics.median(turn["delayed_us"][i] for turn in results["times"][kind] if "delayed_us" in turn) / 1000
                 for kind in ("without", "with")]
        lines.append(f"{delay} {found[0]:.3f} {found[1]:.3f}\n")
    return "".join(lines)


def pipelining(results: dict) -> Iterator[str]:
    ours, theirs = (pipelining_medians(results, kind) for kind in ("with", "without"))
    times = results["times"]
    yield (f"Medians of {len(times['with'])} turns, {times['seconds']} s for each figure of latency and IOPS, which differ by "
           f"a factor of up to {pipelining_spread(times):.1f}.")
    yield pipelining_table(PIPELINING, ours, theirs)
    yield f"What a read costs; turns differ by up to {pipelining_cost_spread(results['costs']):.0%}:"
    yield pipelining_table(PIPELINING_COSTS, ours, theirs)
    stops = times["stops"]
    yield (f"{stops['stops']} stops of the QP: {stops['cancelled']} cancelled responses, {stops['commands']} commands, "
           f"{stops['commands'] / stops['stops']:.1f} a stop (goal: 2).")


POLICY_DRIVERS = {"whole": "cxib", "unasked": "without the query", "unclaimed": "without query and state"}
POLICY_GOAL = 10


def policy(results: dict) -> Iterator[str]:
    costs = {name: {part: statistics.median(values) for part, values in results[name].items()} for name in POLICY_DRIVERS}
    yield table([["driver", "event", "arming"],
                 *([title, *(f"{costs[name][part]:,.0f}" for part in ("event", "arming"))]
                   for name, title in POLICY_DRIVERS.items())])
    asked = costs["whole"]["event"] - costs["unasked"]["event"]
    claimed, arming = (costs["unasked"][part] - costs["unclaimed"][part] for part in ("event", "arming"))
    yield (f"Cost of the policy: {asked + claimed:,.0f} instructions an event (goal: {POLICY_GOAL}), {asked:,.0f} for the "
           f"question and {claimed:,.0f} for the arming state; {arming:,.0f} an arming.")


TABLES = {
    "bring-up": bring_up,
    "objects": objects,
    "pipelining": pipelining,
    "policy": policy,
    "polling": polling,
    "transport": transport,
    "ulps": ulps,
    "verbs": verbs,
}
PLOTS = {"pipelining": pipelining_data, "polling": lambda results: polling_data(results["contexts"])}


def commit() -> str:
    return subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], cwd=REPO, check=True,
                          capture_output=True, text=True).stdout.strip()


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in TABLES:
        print(f"usage: tables.py {'|'.join(TABLES)} RESULTS", file=sys.stderr)
        return 2
    name, file = sys.argv[1], pathlib.Path(sys.argv[2])
    results = json.loads(file.read_text(encoding="utf-8"))
    measured = f"Measured {datetime.date.today()} at {commit()} by ``tools/bench/run {name}``."
    print("\n\n".join([measured, *TABLES[name](results)]))
    if name in PLOTS:
        file.with_suffix(".dat").write_text(f"# {LICENSE}\n{PLOTS[name](results)}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
