#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns what was measured into a page and a plot."""

import itertools
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import textwrap

REPO = pathlib.Path(__file__).resolve().parents[2]
PEER = "rdma_rxe"
IN_TREE = "mlx5_core + mlx5_ib"
LICENSE = "SPDX-License" + "-Identifier: GPL-2.0-or-later"


def factor(measured: dict) -> float:
    """How many times better than the peer."""
    ours, theirs = measured["values"]["cxemu"], measured["values"][PEER]
    return ours / theirs if measured["better"] == "higher" else theirs / ours


def table(rows: list[list[str]]) -> str:
    """A simple table of reStructuredText, the first row is its heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def peers_table(peers: dict) -> str:
    rows = [["measured", "unit", "cxemu", PEER, "times better"]]
    for measured in peers.values():
        values = measured["values"]
        rows.append([measured["title"], measured["unit"], f"{values['cxemu']:,.0f}", f"{values[PEER]:,.0f}",
                     f"{factor(measured):.1f}"])
    return table(rows)


def queue_pairs_table(found: dict) -> str:
    few, many = found["create_at_100_us"], found["create_at_all_us"]
    return table([
        ["queue pairs", "messages", "create with 100 others", "create with all others", "ratio"],
        [f"{found['queue_pairs']:,}", f"{found['messages']:,}", f"{few:.0f} µs", f"{many:.0f} µs", f"{many / few:.2f}"],
    ])


def page(results: dict) -> str:
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ===================================
        How fast the emulated transport is
        ===================================

        Two emulated ConnectX-5 HCAs in one guest with two virtual processors, without hardware
        virtualization (TCG), on a machine with {os.cpu_count()} processors. The guest runs Debian's kernel with its
        own mlx5 driver. perftest talks from one HCA to the other, then over rdma_rxe in the same guest;
        both take turns, and the median of three runs counts. ``tools/bench/run transport`` measures and
        writes this page. Only ratios say something about another machine.

        @PEERS@

        .. image:: transport.svg

        Every connection has a queue pair on either HCA, and one message went in each direction and
        arrived as it was sent. The times are medians of 101 creations by a user process.

        @QUEUE_PAIRS@
        """)
    return text.replace("@PEERS@", peers_table(results["peers"])).replace(
        "@QUEUE_PAIRS@", queue_pairs_table(results["queue_pairs"]))


def plot(peers: dict, target: pathlib.Path) -> None:
    script = f"""
        set terminal svg size 640,360 noenhanced font 'sans-serif,13' background 'white'
        set output '{target}'
        set title 'Emulated HCAs against {PEER} in the same guest'
        set ylabel 'times better'
        set logscale y
        set yrange [1:*]
        set offsets graph 0.1, graph 0.1, graph 0.1, 0
        set bmargin 4
        set style fill solid 0.8 border -1
        set boxwidth 0.5
        set grid ytics
        unset key
        plot '-' using 0:2:xtic(1) with boxes linecolor rgb '#3465a4', '' using 0:2:(sprintf('%.1f', $2)) with labels offset 0,0.7
    """
    points = "".join(f'"{measured["title"].replace(", ", chr(92) + "n")}" {factor(measured)}\n' for measured in peers.values())
    # gnuplot reads inline data once for each of the two drawings.
    subprocess.run(["gnuplot"], input=f"{script}\n{points}e\n{points}e\n", text=True, check=True)
    declaration, drawing = target.read_text().split("\n", 1)
    target.write_text(f"{declaration}\n<!-- {LICENSE} -->\n{drawing}")


def publish_transport(results: dict, pages: pathlib.Path) -> None:
    (pages / "transport.rst").write_text(page(results))
    plot(results["peers"], pages / "transport.svg")


BRING_UP = {
    "load_us": ("from loading to a registered device", "µs"),
    "commands": ("commands until nothing more comes", ""),
    "memory_kib": ("memory that is not free any more", "KiB"),
    "modules_kib": ("of these, the modules", "KiB"),
    "unload_us": ("until it is gone again", "µs"),
}


def publish_bring_up(results: dict, pages: pathlib.Path) -> None:
    ours, theirs = results["cxib"], results[IN_TREE]
    rows = [["measured", "unit", "cxib", IN_TREE, "ratio"]]
    for key, (title, unit) in BRING_UP.items():
        rows.append([title, unit, f"{ours[key]:,.0f}", f"{theirs[key]:,.0f}", f"{ours[key] / theirs[key]:.3f}"])
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ===========================
        What it takes to bring up
        ===========================

        One emulated ConnectX-5 HCA in a guest with two virtual processors, without hardware virtualization
        (TCG), on a machine with {os.cpu_count()} processors. Both drivers take turns in the same guest with Debian's
        kernel; the RDMA core and what else both need is loaded before; the median of three rounds counts.
        Memory is what is free before and after, caches of files aside; the firmware's pages are included.
        ``tools/bench/run bring-up`` measures and writes this page. Times of another machine are others,
        ratios and commands are not.

        @TABLE@
        """)
    (pages / "bring-up.rst").write_text(text.replace("@TABLE@", table(rows)))


ULP_DRIVERS = {"cxib": "cxib", "mlx5": "mlx5_ib", "rxe": PEER}


Figures = dict[tuple[str, str, str], dict[str, list[float]]]


def ulp_figures(results: dict) -> Figures:
    """The values of all turns by driver, for each protocol, measurement and unit."""
    figures: Figures = {}
    for driver, turns in results.items():
        for row in itertools.chain.from_iterable(turns):
            found = figures.setdefault((row["protocol"], row["what"], row["unit"]), {})
            found.setdefault(driver, []).append(row["value"])
    return figures


def turns_told(figures: Figures) -> str:
    """How many turns a figure is of, and how far they lie apart."""
    all_turns = [turns for found in figures.values() for turns in found.values()]
    count = max(map(len, all_turns))
    if count == 1:
        return "figures are of one turn."
    spreads = [max(turns) / min(turns) for turns in all_turns]
    return (f"figures are medians of {count} turns, which differ by a factor of\n{statistics.median(spreads):.1f} for the "
            f"median figure and {max(spreads):.1f} at the most: smaller differences between drivers mean nothing.")


def plot_columns(title: str, unit: str, lines: list[str], target: pathlib.Path, scale: str = "set yrange [0:*]") -> None:
    """Groups of columns: the first of the lines names them, each further one is a group, its name and their heights.
    Names with blanks are in quotation marks."""
    script = f"""
        set terminal svg size 720,380 noenhanced font 'sans-serif,13' background 'white'
        set output '{target}'
        set title '{title}'
        set ylabel '{unit}'
        {scale}
        set style data histogram
        set style histogram clustered gap 1
        set style fill solid 0.8 border -1
        set grid ytics
        set key outside right
    """
    data = "\n".join(["$found << END", *lines, "END"])
    last = len(shlex.split(lines[0]))
    columns = ", ".join(f"$found using {number}:xtic(1) title columnheader" for number in range(2, last + 1))
    subprocess.run(["gnuplot"], input=f"{script}\n{data}\nplot {columns}\n", text=True, check=True)
    declaration, drawing = target.read_text().split("\n", 1)
    target.write_text(f"{declaration}\n<!-- {LICENSE} -->\n{drawing}")


def plot_ulps(values: dict, target: pathlib.Path) -> None:
    lines = [" ".join(["protocol", *ULP_DRIVERS.values()])]
    for (protocol, what, unit), found in values.items():
        if unit == "IOPS" and what.startswith("read"):
            lines.append(" ".join([protocol, *(f"{found.get(driver, 0):.0f}" for driver in ULP_DRIVERS)]))
    plot_columns("Random reads of 4 KiB, 16 at a time", "IOPS", lines, target)


def publish_ulps(results: dict, pages: pathlib.Path) -> None:
    figures = ulp_figures(results)
    values = {key: {driver: statistics.median(turns) for driver, turns in found.items()}
              for key, found in figures.items()}
    rows = [["protocol", "measured", "unit", *ULP_DRIVERS.values()]]
    for (protocol, what, unit), found in values.items():
        medians = [f"{found[driver]:,.0f}" if driver in found else "-" for driver in ULP_DRIVERS]
        rows.append([protocol, what, unit, *medians])
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        =======================================
        The kernel's protocols over each driver
        =======================================

        One guest with two virtual processors, without hardware virtualization (TCG), on a machine with
        {os.cpu_count()} processors, has both ends: targets with disks in memory on the first device, clients on the
        second one. cxib and mlx5_ib drive two emulated ConnectX-5 HCAs on a switch; rdma_rxe runs over a pair
        of virtual Ethernet interfaces, without an HCA. The drivers take turns, a new guest each
        time; @TURNS@
        Processor time is that of the whole guest, target and fio included.
        ``make bench-ulps`` measures and writes this page. Only ratios say something about another machine.

        @TABLE@

        .. image:: ulps.svg
        """)
    (pages / "ulps.rst").write_text(text.replace("@TURNS@", turns_told(figures)).replace("@TABLE@", table(rows)))
    plot_ulps(values, pages / "ulps.svg")


REQUESTS = ("SEND", "RDMA_WRITE", "REG_MR", "LOCAL_INV")
COST_GOAL = 0.6


def costs_table(ours: dict, theirs: dict) -> str:
    rows = [["request", "", "cxib", "mlx5_ib", "ratio"]]
    for name in REQUESTS:
        for step in ("post", "poll", "both"):
            one, other = (sum(found[name].values()) if step == "both" else found[name][step] for found in (ours, theirs))
            rows.append([name, step, f"{one:,}", f"{other:,}", f"{one / other:.2f}"])
    return table(rows)


def verdict(ours: dict, theirs: dict) -> str:
    """Where the goal is reached, and where it is not."""
    ratios = {name: sum(ours[name].values()) / sum(theirs[name].values()) for name in REQUESTS}
    reached = [name for name, ratio in ratios.items() if ratio <= COST_GOAL]
    missed = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio > COST_GOAL]
    return (f"The goal is a ratio of {COST_GOAL} for posting and polling together. "
            f"Reached: {', '.join(reached) or 'nowhere'}. Not reached: {', '.join(missed) or 'nowhere'}.")


def objects_table(ours: dict, theirs: dict) -> str:
    rows = [["object", "cxib", "mlx5_ib", "ratio"]]
    for name, size in ours.items():
        rows.append([name, f"{size:,}", f"{theirs[name]:,}", f"{size / theirs[name]:.2f}"])
    return table(rows)


def plot_verbs(ours: dict, theirs: dict, target: pathlib.Path) -> None:
    lines = ["request cxib mlx5_ib goal"]
    for name in REQUESTS:
        both = sum(theirs[name].values())
        lines.append(f"{name} {sum(ours[name].values())} {both} {COST_GOAL * both:.0f}")
    plot_columns("Posting a request and polling its completion", "instructions", lines, target)


def publish_verbs(results: dict, pages: pathlib.Path) -> None:
    ours, theirs = results["cxib"], results["mlx5_ib"]
    lock = ours.pop("lock")["pair"]
    theirs.pop("lock")
    plot_verbs(ours, theirs, pages / "verbs.svg")
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ================================
        What posting and polling cost
        ================================

        Instructions of the guest's processor for ib_post_send() of one request with one data segment and
        for ib_poll_cq() of its completion, with Debian's kernel. QEMU counts them exactly (``-icount``); the
        median of 101 requests is what the usual way takes. ib_map_mr_sg(), which lists the pages that REG_MR
        registers, is not in it, for either driver.
        ``tools/bench/run verbs`` measures and writes this page; how fast the machine is does not matter.

        @COSTS@

        @VERDICT@

        .. image:: verbs.svg

        Either driver takes one lock with interrupts off to post and one to poll, for the RDMA core lets
        several users do both at the same time, in interrupts too: {lock} instructions each. What is left
        of cxib's figures are checks of the request, of the entry and of the room in the queue, which
        stay. A list of requests has one lock, one doorbell record, two barriers and one write to the
        device, however long it is; a poll has one lock, one barrier for each entry, one more before the
        doorbell record, and no write to the device.

        Bytes of the drivers' objects, without the memory that the device shares:

        @OBJECTS@
        """)
    text = text.replace("@COSTS@", costs_table(ours, theirs))
    text = text.replace("@VERDICT@", textwrap.fill(verdict(ours, theirs), 100))
    text = text.replace("@OBJECTS@", objects_table(ours.pop("bytes"), theirs.pop("bytes")))
    (pages / "verbs.rst").write_text(text)


def size_name(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size >> 10} KiB"


def publish_objects(results: dict, pages: pathlib.Path) -> None:
    ours, theirs = results["cxib"], results["mlx5_ib"]
    waits = [["queue pairs", "cxib", "mlx5_ib", "ratio"]]
    for count, time in ours["create_us"].items():
        other = theirs["create_us"][count]
        waits.append([f"{int(count):,}", f"{time:,.0f} µs", f"{other:,.0f} µs", f"{time / other:.2f}"])
    rates = [["size", "cxib", "mlx5_ib", "ratio"]]
    for size, rate in ours["registrations"].items():
        other = theirs["registrations"][size]
        rates.append([size_name(int(size)), f"{rate:,.1f}", f"{other:,.1f}", f"{rate / other:.2f}"])
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ==================================
        What queue pairs and regions cost
        ==================================

        One emulated ConnectX-5 HCA in a guest with two virtual processors, without hardware virtualization
        (TCG), on a machine with {os.cpu_count()} processors, one driver after the other. ``tools/bench/run objects``
        measures and writes this page. Only ratios say something about another machine, and the less the
        more the emulated HCA has to do with it.

        How long a program waits for a queue pair, the median of the last 101 of so many:

        @WAITS@

        How often a second it can register memory that is there, and give that up again, by the median of
        their times:

        @RATES@
        """)
    (pages / "objects.rst").write_text(text.replace("@WAITS@", table(waits)).replace("@RATES@", table(rates)))


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
    """Of processor time in done() of the full CQs, in the worst second."""
    costs = [hog["cost_us"] for hog in found["hogs"]]
    windows = [[0] * len(costs), *found["windows"]]
    return min(jain([(now - before) * cost for now, before, cost in zip(after, first, costs, strict=True)])
               for first, after in itertools.pairwise(windows))


def rates(found: dict) -> list[float]:
    """Completions a second of each full CQ."""
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
    """Each goal, with the figure of each context of cxib beside it."""
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


def plot_polling(contexts: dict, target: pathlib.Path) -> None:
    lines = ["context " + " ".join(f'"{title}"' for title in POLLING_LOADS.values())]
    for context, measured in contexts.items():
        lines.append(" ".join([context, *(f"{quantile(measured[load]['latencies_ns'], 0.99) / 1000:.0f}"
                                          for load in POLLING_LOADS)]))
    plot_columns("Waits of a CQ that is mostly idle, 99th percentile", "µs", lines, target,
                 "set logscale y\n        set yrange [10:*]\n        set xtics rotate by -20")


def publish_polling(results: dict, pages: pathlib.Path) -> None:
    contexts, hogged = results["contexts"], results["hogged"]["cxib-workqueue"]
    plot_polling(contexts, pages / "polling.svg")
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        =================================
        Polling contexts of a busy vector
        =================================

        Eight CQs of one completion vector, in a guest with one virtual processor. Seven are always full: done()
        works for some microseconds and posts the next WR. The eighth has a WR every 5 ms. The wait of its
        completion begins with the interrupt that reports it and ends in done(); what the emulated device did
        before is not in it. QEMU counts instructions (``-icount shift=0``): one is a nanosecond, and how
        fast the machine is matters little. The kernel is Debian's, with its default preemption,
        "{results["preemption"]}". Each context was measured for {results["seconds"]} s of the guest's time; waits are of all WRs
        posted in them, also where they ended later. The longest hold is how long done() of one full CQ ran in a row,
        without that of another CQ. Jain's index is that of the time in done() of the full
        CQs, in the worst second: 1 if all had the same, 1/7 if one had everything. A full CQ has 1,024 WRs
        outstanding, so that it stays full while the emulated device waits for a processor of the machine.
        ``make bench-polling`` measures and writes this page.

        @LOADS@

        .. image:: polling.svg

        Instructions from the interrupt to done() when the CQ is alone on the vector, and the processor idle
        with a tick that goes on (``nohz=off``); the median of {len(next(iter(contexts.values()))["alone"])} completions. The
        scheduler's server of normal tasks (``fair_server``) is off meanwhile: its timer adds 600 or 1,700 instructions to
        some wake-ups of threads and work items, of cxib or not:

        @ALONE@

        Work items that held their processor for more than 10 ms, in {results["hog_seconds"]} s with 7 full CQs of 20 µs.
        A kernel with CONFIG_WQ_CPU_INTENSIVE_REPORT counts them, and writes "hogged CPU" to its log; Debian's is
        built without it, so trace events of the workqueues count them here. Work items of an unbound
        workqueue are not counted by the kernel.

        @HOGGED@

        The goals are in brackets: the 99th percentile at 20 µs as a share of that of a context of the RDMA core, Jain's
        index at 5 to 100 µs, and the instructions alone on the vector as a share of core-workqueue's, which has a goal
        in softirqs and in threads:

        @GOALS@

        The goal for work items of cxib that hold their processor for more than 10 ms is none ({judged(f"{hogged} found", is_reached=not hogged)}). What
        CQs cost that the RDMA core goes on polling is in policy.rst; posting, polling and the size of a CQ are in verbs.rst.

        CQs with threads of their own share the processor by the rules of the kernel's scheduler. The slice of such a
        thread is the turn of its CQ, ``cq_quantum_us`` times its weight, but 0.1 ms at least: the scheduler has none that are
        shorter. After each turn the thread lets the scheduler choose, so none waits for the tick of another. A thread
        that runs out of completions sleeps, and what it has not used of its slice goes to the others. Kernels before 6.12
        have no slices of threads; there, the scheduler takes the thread that ran least.
        """)
    text = text.replace("@GOALS@", polling_goals(contexts))
    loads = "\n\n".join(f"{title}:\n\n{polling_table(contexts, load)}" for load, title in POLLING_LOADS.items())
    text = text.replace("@LOADS@", loads).replace("@ALONE@", alone_table(contexts))
    (pages / "polling.rst").write_text(text.replace("@HOGGED@", hogged_table(results["hogged"])))


def slope(delays: list[float], latencies: list[float]) -> float:
    """Of the straight line that fits best: how many times a delay is in a latency."""
    middle, mean = statistics.mean(delays), statistics.mean(latencies)
    above = sum((delay - middle) * (latency - mean) for delay, latency in zip(delays, latencies, strict=True))
    return above / sum((delay - middle) ** 2 for delay in delays)


def pipelining_medians(results: dict, kind: str) -> dict[str, float]:
    """The medians of all turns, by what was measured."""
    turns, delays_us = results["times"][kind], [1000 * delay for delay in results["times"]["delays_ms"]]
    values = {name: statistics.median(turn[name] for turn in turns)
              for name in ("latency_us", "latency_p10_us", "latency_p99_us", "iops", "mixed_iops")}
    values |= {name: statistics.median(turn["counts"][name] for turn in turns) for name in turns[0]["counts"]}
    values["slope"] = statistics.median(slope(delays_us, turn["delayed_us"]) for turn in turns if "delayed_us" in turn)
    costs = results["costs"][kind]
    return values | {f"{name}_{depth}": statistics.median(turn[depth][name] for turn in costs)
                     for depth, cost in costs[0].items() for name in cost}


def pipelining_cost_spread(costs: dict) -> float:
    """By what share of the least the instructions of turns differ at most."""
    turns = [[turn[depth]["instructions"] for turn in costs[kind]] for kind in costs for depth in costs[kind][0]]
    return max(max(found) / min(found) for found in turns) - 1


def pipelining_spread(results: dict) -> float:
    """How far the turns of a figure lie apart at most, of those that are times."""
    return max(max(turn[name] for turn in results[kind]) / min(turn[name] for turn in results[kind])
               for kind in ("with", "without") for name in ("latency_us", "latency_p10_us", "iops", "mixed_iops"))


# Name, what it is, digits, the goal: of the ratio with/without from, to.
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
# For a read, of host and target in a guest with one processor.
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


def plot_pipelining(results: dict, target: pathlib.Path) -> None:
    columns = [[statistics.median(turn["delayed_us"][i] for turn in results[kind] if "delayed_us" in turn) / 1000
                for kind in ("without", "with")] for i in range(len(results["delays_ms"]))]
    points = "\n".join(f"{delay} {one} {other}" for delay, (one, other) in zip(results["delays_ms"], columns, strict=True))
    script = f"""
        set terminal svg size 640,360 noenhanced font 'sans-serif,13' background 'white'
        set output '{target}'
        set title 'Reads with protection information, one at a time'
        set xlabel 'delay of each packet, ms'
        set ylabel 'latency, 10th percentile, ms'
        set yrange [0:*]
        set grid
        set key left top
    """
    data = "\n".join(["$found << END", points, "END"])
    lines = "with linespoints linewidth 2 pointtype 7 title"
    subprocess.run(["gnuplot"], input=f"{script}\n{data}\nplot $found using 1:2 {lines} 'without pipelining', "
                                      f"$found using 1:3 {lines} 'with pipelining'\n", text=True, check=True)
    declaration, drawing = target.read_text().split("\n", 1)
    target.write_text(f"{declaration}\n<!-- {LICENSE} -->\n{drawing}")


POLICY_DRIVERS = {"whole": "cxib", "unasked": "asks no scheduler at an event", "unclaimed": "nor has a claim"}
POLICY_GOAL = 10


def publish_policy(results: dict, pages: pathlib.Path) -> None:
    costs = {name: {part: statistics.median(values) for part, values in results[name].items()} for name in POLICY_DRIVERS}
    rows = [["driver", "event", "arming"]]
    rows += [[title, *(f"{costs[name][part]:,.0f}" for part in ("event", "arming"))]
             for name, title in POLICY_DRIVERS.items()]
    asked = costs["whole"]["event"] - costs["unasked"]["event"]
    claimed = costs["unasked"]["event"] - costs["unclaimed"]["event"]
    claim_set = costs["unasked"]["arming"] - costs["unclaimed"]["arming"]
    event = asked + claimed
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ===============================================
        What polling contexts cost CQs of the RDMA core
        ===============================================

        Instructions of the guest's processor for one completion of a CQ that a work item of the RDMA core polls: from the
        interrupt to comp_handler, which queues the work item, and from done() to the end of the work item, which arms
        the CQ. QEMU counts them (``-icount shift=0``); the median of {len(results["whole"]["event"])} completions. The kernel
        is Debian's. Beside cxib, the same driver without what polling contexts need: the question whether
        a scheduler of the driver polls the CQ, and the claim that makes the answer safe, set by the arming
        and taken by the event. (The claim also drops events that were not asked for, so cxib would have it anyway.)
        ``tools/bench/run policy`` measures and writes this page; how fast the machine is does not matter.

        @TABLE@

        The policy ``core`` costs {event:,.0f} instructions an event, {asked:,.0f} for the question and {claimed:,.0f} for the claim, where the goal is {POLICY_GOAL}
        ({"reached" if event <= POLICY_GOAL else "missed"}), and an arming {claim_set:,.0f}. These are differences of whole functions as compiled: where the
        claim is left out, the compiler may save another register instead. Each half of the claim is one exchange, a full
        barrier: that of the arming keeps a completion from being lost, that of the event two from polling (ordering.rst).
        Posting and polling have no part in either: their figures are those of verbs.rst.
        """)
    (pages / "policy.rst").write_text(text.replace("@TABLE@", table(rows)))


def publish_pipelining(results: dict, pages: pathlib.Path) -> None:
    ours, theirs = (pipelining_medians(results, kind) for kind in ("with", "without"))
    spread = pipelining_cost_spread(results["costs"])
    results = results["times"]
    stops = results["stops"]
    text = textwrap.dedent(f"""\
        .. {LICENSE}

        ====================
        Signature pipelining
        ====================

        An NVMe-oF target and its host in one guest with two virtual processors, on two emulated ConnectX-5 HCAs, without
        hardware virtualization (TCG), on a machine with {os.cpu_count()} processors. The disk has protection information (scsi_debug),
        which the target's HCA checks when 4 KiB are read. The target is Debian's nvmet-rdma, changed by
        ``tools/pipelined_nvmet``; "with" and "without" are two connections of that module, with
        ``/sys/kernel/debug/cxib/signature_pipelining`` on and off, which take turns in the same guest. Figures are medians of
        {len(results["with"])} turns, {results["seconds"]} s for each figure of latency and IOPS. ``make bench-pipelining`` measures and writes this page.

        @TABLE@

        Without pipelining a read takes four trips over the wire: command, data, acknowledgement, response. With it the
        response follows the data: two trips. The emulator delays each packet of connections by
        {", ".join(str(delay) for delay in results["delays_ms"])} ms for the first row, whose figures are slopes of these latencies, each of the quickest
        tenth of the reads, since the others may have waited for a processor of the machine:

        .. image:: pipelining.svg

        Latency and IOPS are those of an emulated HCA that shares the machine's processors with the guest, and of a link
        without delay: the trips that are saved take next to no time there, and what is gained is an interrupt, a
        completion and a doorbell. The goal for the latency is for its median. Turns differ by a factor of up to
        {pipelining_spread(results):.1f}.

        What a read costs fio, host and target together, in a guest with one processor whose instructions QEMU counts
        (``-icount``). The time of the HCA is real there, too, and with it how many completions are polled at a time:
        turns differ by up to {spread:.0%}.

        @COSTS@

        So a wire with a one-way delay of T answers each read 2 T earlier, and at depth 1 one completion interrupt
        is saved. A target whose processors are the limit, at greater depth, gains as much as the last row shows.

        {stops["stops"]} reads of a bad block, one after the other: {stops["stops"]} stops of the queue pair, {stops["cancelled"]} cancelled
        responses, {stops["commands"]} commands to the device, {stops["commands"] / stops["stops"]:.1f} a stop (goal: 2;
        a queue pair that is still draining is queried again).
        """)
    (pages / "pipelining.rst").write_text(text.replace("@TABLE@", pipelining_table(PIPELINING, ours, theirs))
                                          .replace("@COSTS@", pipelining_table(PIPELINING_COSTS, ours, theirs)))
    plot_pipelining(results, pages / "pipelining.svg")


PUBLISHERS = {
    "pipelining": publish_pipelining,
    "objects": publish_objects,
    "polling": publish_polling,
    "policy": publish_policy,
    "transport": publish_transport,
    "bring-up": publish_bring_up,
    "ulps": publish_ulps,
    "verbs": publish_verbs,
}


def main() -> int:
    name, results, pages = sys.argv[1:] if len(sys.argv) == 4 else ("", "", "")
    if name not in PUBLISHERS:
        print(f"usage: publish.py {'|'.join(PUBLISHERS)} RESULTS DIRECTORY", file=sys.stderr)
        return 2
    directory = REPO / pages
    directory.mkdir(parents=True, exist_ok=True)
    PUBLISHERS[name](json.loads((REPO / results).read_text()), directory)
    print(f"published in {directory.relative_to(REPO)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
