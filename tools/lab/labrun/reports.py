# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the kernel's complaints in a guest's log.

The scanner gets the log line by line, and returns reports with the lines around them as evidence.
"""

import re
from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """One kind of complaint.

    fatal: the guest cannot continue, so waiting for the command is useless. follow_up: the line belongs to the current
    report, if there is one.
    """

    name: str
    pattern: re.Pattern
    fatal: bool = False
    follow_up: bool = False


def _kind(name, pattern, **flags):
    return Kind(name, re.compile(pattern), **flags)


# The first kind that matches names the report.
KINDS = (
    _kind("kernel panic", r"^Kernel panic - not syncing", fatal=True, follow_up=True),
    _kind("oops", r"^Oops: |^Internal error: ", fatal=True, follow_up=True),
    _kind("bad memory access", r"^BUG: unable to handle |^BUG: kernel NULL pointer dereference", fatal=True),
    _kind("general protection fault", r"^general protection fault", fatal=True),
    _kind("BUG", r"^kernel BUG at ", fatal=True),
    _kind("stack overflow", r"^BUG: .*stack guard page was hit|^corrupted stack end detected", fatal=True),
    _kind("KASAN", r"^BUG: KASAN: |^KASAN: "),
    _kind("KFENCE", r"^BUG: KFENCE: "),
    _kind("KCSAN", r"^BUG: KCSAN: "),
    _kind("UBSAN", r"^UBSAN: "),
    _kind("hung task", r"^INFO: task .* blocked for more than \d+ seconds"),
    _kind("soft lockup", r"^BUG: soft lockup"),
    _kind("hard lockup", r"^(NMI )?watchdog: .*hard LOCKUP", fatal=True),
    _kind("workqueue lockup", r"^BUG: workqueue lockup"),
    _kind("RCU stall", r"^INFO: rcu\S* (self-)?detected (expedited )?stall"),
    _kind("RCU misuse", r"^WARNING: suspicious RCU usage"),
    _kind("sleep in atomic context", r"^BUG: sleeping function called from invalid context"),
    _kind("scheduling while atomic", r"^BUG: scheduling while atomic"),
    _kind(
        "lockdep",
        r"^WARNING: (possible (circular|recursive|irq lock inversion|unsafe) locking"
        r"|possible (circular|recursive|irq) |inconsistent lock state|bad unlock balance|bad contention"
        r"|held lock freed|Nested lock was not taken|lock held when returning|.*still has locks held"
        r"|.*(SOFTIRQ|HARDIRQ|RECLAIM)-safe -> )"
        r"|^\[ BUG: Invalid wait context \]|^DEBUG_LOCKS_WARN_ON|^INFO: trying to register non-static key"
        r"|^BUG: MAX_LOCK",
    ),
    # "DMA-API: DRIVER DEVICE: …" is a finding; other lines of the checker name no device.
    _kind("DMA API misuse", r"^DMA-API: (\S+ \S+: |exceeded |debugging out of memory)"),
    _kind("object misuse", r"^ODEBUG: (?!selftest|Out of memory|DEBUG_OBJECTS|\d+ of )"),
    _kind("list corruption", r"^(list_add|list_del|slab).{0,20} corruption"),
    _kind("reference count", r"^refcount_t: "),
    _kind("slab corruption", r"^BUG [\w:.-]+ \(.*\): "),
    _kind("page corruption", r"^BUG: Bad (page|rss)"),
    _kind("memory leak", r"^kmemleak: \d+ new suspected memory leaks"),
    _kind("out of memory", r"^Out of memory: Killed process|^Memory cgroup out of memory"),
    _kind("device never released", r"^unregister_netdevice: waiting for "),
    _kind("WARN", r"^WARNING: "),
    _kind("BUG", r"^BUG: "),
)

# Complaints about correct code: the headline, a line of the call trace, and in the comment the reason.
HARMLESS = (
    # A process may register a page as often as it likes. The checker takes the pages of the process for buffers that
    # the driver has mapped twice.
    (re.compile(r"^DMA-API: .*cacheline tracking EEXIST"),
     re.compile(r"\b(?:ib_umem_get|ib_umem_odp_map_dma_and_lock|cxib_odp_map)\+")),
    # The checker counts mappings of a cache line with three bits.
    (re.compile(r"^DMA-API: exceeded 7 overlapping mappings of cacheline "),
     re.compile(r"\b(?:ib_umem_get|cxib_odp_map)\+")),
    # The kernel's NVMe-oF host maps each completion of 16 bytes separately, and several share a cache line. This is
    # correct with coherent DMA, as on this machine; the checker complains on any machine.
    (re.compile(r"^DMA-API: .*cacheline tracking EEXIST"), re.compile(r"\bnvme_rdma_alloc_qe\+")),
    # The kernel's iSER target syncs every message for the CPU before it has mapped it for the device.
    (re.compile(r"^DMA-API: .*tries to sync DMA memory it has not allocated \[device address=0x0{16}\]"),
     re.compile(r"\bisert_create_send_desc\b")),
    # RDS maps the header of each message bidirectionally, and unmaps it in one direction.
    (re.compile(r"^DMA-API: .*frees DMA memory with different direction .*\[mapped with DMA_BIDIRECTIONAL\]"),
     re.compile(r"\brds_ib_conn_path_shutdown\+")),
    # The kernel's iSCSI removes disks in a WQ_MEM_RECLAIM workqueue, and waits there for work of power management in a
    # workqueue without this flag. This happens only if such work is pending at the end of a session, with any driver.
    (re.compile(r"^WARNING: .*\bcheck_flush_dependency\b"),
     re.compile(r"(?s)\bpm_runtime_remove\+.*\b__iscsi_unbind_session\+")),
    # The kernel has known data races of its own. The headline names the functions of both accesses.
    (re.compile(r"^BUG: KCSAN: (?!.*\[cxib(?:_kverbs)?\])"), re.compile("")),
)

# "[   12.345678]", with CONFIG_PRINTK_CALLER also "[   T123]"; some lines name their subsystem first.
_PREFIX = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])? ?(?:watchdog: (?=BUG)|rcu: (?=INFO))?")
_RULE = re.compile(r"^={30,}$")
_END = re.compile(r"^---\[ end (trace|Kernel panic)")
# Headlines within so many lines belong to one report: a list corruption, for example, is followed by a WARNING after
# two lines.
_BURST = 3


def message_of(line):
    """The text of a log line without time and subsystem."""
    return _PREFIX.sub("", line, count=1)


def kind_of(line):
    """The kind of report that a log line begins; None if it begins none."""
    message = message_of(line)
    for kind in KINDS:
        if kind.pattern.search(message):
            return kind
    return None


@dataclass
class Report:
    """A complaint with its place in the log (lines count from 1) and the lines around it."""

    kind: str
    line: int
    headline: str
    fatal: bool
    lines: list = field(default_factory=list)
    before: int = 0  # number of lines before the headline

    def matches(self, pattern):
        """Whether the report contains a match of a regular expression; with (?s) its dots match newlines."""
        return re.search(pattern, "\n".join(self.lines)) is not None

    def is_harmless(self):
        """Whether the complaint is about correct code. Lines before the headline may belong to another report."""
        body = "\n".join(self.lines[self.before:])
        return any(headline.search(self.headline) and trace.search(body) for headline, trace in HARMLESS)


class Scanner:
    """Collects reports from a log.

    before: lines kept before a headline; after: maximum number of lines kept from the headline on.
    """

    def __init__(self, before=4, after=60):
        self.reports = []
        self.line_number = 0
        self._after = after
        self._history = deque(maxlen=before)
        self._open = None
        self._last_match = 0

    def feed(self, line):
        """Reads the next line; returns the report that it begins, or None."""
        self.line_number += 1
        line = line.rstrip("\r\n")
        kind = kind_of(line)
        begun = None
        if kind and self._continues(kind):
            self._open.fatal |= kind.fatal
            self._last_match = self.line_number
        elif kind:
            begun = self._begin(kind, line)
        if self._open and begun is None:
            self._collect(line)
        self._history.append(line)
        return begun

    @property
    def fatal(self):
        """Whether a report says that the guest cannot continue."""
        return any(report.fatal for report in self.reports)

    def _continues(self, kind):
        if self._open is None:
            return False
        return kind.follow_up or self.line_number - self._last_match <= _BURST

    def _begin(self, kind, line):
        lines = [*self._history, line]
        report = Report(kind.name, self.line_number, message_of(line), kind.fatal, lines, len(self._history))
        self.reports.append(report)
        self._open = report
        self._last_match = self.line_number
        return report

    def _collect(self, line):
        report = self._open
        report.lines.append(line)
        message = message_of(line)
        # A KASAN report has a rule above its headline and one below; this is the second one.
        ended = _END.match(message) or _RULE.match(message)
        if ended or self.line_number - report.line >= self._after:
            self._open = None


def complaints(reports):
    """The reports that are not harmless."""
    return [report for report in reports if not report.is_harmless()]


def compare(reports, expected, allowed=()):
    """Splits reports by expectation.

    expected: regular expressions, each of which must match a report. allowed: regular expressions of reports that may
    appear. Returns (unexpected reports, expressions that no report matches). Harmless reports count as neither.
    """
    reports = complaints(reports)
    unexpected = [r for r in reports if not any(r.matches(pattern) for pattern in (*expected, *allowed))]
    missing = [p for p in expected if not any(r.matches(p) for r in reports)]
    return unexpected, missing


def render(report, log):
    """The report as text for the user; log is the name of the complete log."""
    head = f"{report.kind} in the guest's kernel log ({log}, line {report.line}):"
    return "\n".join([head, *(f"    {line}" for line in report.lines)])
