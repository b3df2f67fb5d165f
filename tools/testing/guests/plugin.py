# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin of pytest with which tests run in guests."""

import pathlib
from collections.abc import Iterator

import pytest
from machine import CHECK

from guests.collect import VERDICT, GuestFile, GuestItem, VerdictItem, in_order_of_runs, is_for_guests, names_guest
from guests.host import host_run
from guests.run import SKIPPED, Runs


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("guests")
    group.addoption("--kernel", metavar="KERNEL", help="kernel of all guests")
    group.addoption("--driver", metavar="DRIVER", help="driver of all guests' HCAs: cxib or mlx5")
    group.addoption("--setting", metavar="NAME=VALUE", action="append", default=[], help="environment variable of all tests")
    group.addoption("--run", metavar="NAME", help="only the tests of this run")
    group.addoption("--list-runs", action="store_true", help="print the name, level, path and needs of each run")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[Runs.key] = Runs()
    config.addinivalue_line("markers", "run(name, level, needs=()): the run of a test on the host (guests/host.py)")
    config.addinivalue_line("markers", "check: a test in a guest that make check runs")
    config.addinivalue_line("markers", "long: a test in a guest that only make check-long runs")


def pytest_collect_file(file_path: pathlib.Path) -> None:
    if file_path.name.endswith("_test.py"):
        raise pytest.UsageError(f"{file_path}: the name of a file with tests begins with test_")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: pathlib.Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files of guests are not imported as modules of the host."""
    if names_guest(module_path):
        return GuestFile.from_parent(parent, path=module_path)
    if is_for_guests(module_path):
        raise pytest.UsageError(f"{module_path}: names neither GUEST nor GUESTS, so nothing would run its tests")
    return None


def run_name(item: pytest.Item) -> str:
    return item.run.name if isinstance(item, GuestItem) else host_run(item).name


def in_fewest_guests(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of several guests that could run a test, those of the level check; else the first."""
    guests: dict[str, list[GuestItem]] = {}
    for item in items:
        if isinstance(item, GuestItem):
            guests.setdefault(item.test, []).append(item)
        else:
            yield item
    for same in guests.values():
        yield from [item for item in same if item.run.guest.level == CHECK] or same[:1]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--run")
    if wanted:
        items[:] = [item for item in items if run_name(item) == wanted]
    elif not config.getoption("--list-runs"):
        items[:] = list(in_fewest_guests(items))
    items[:] = in_order_of_runs(items)


def description(item: pytest.Item) -> str:
    """Name, level, path and needs of the run of a test."""
    if isinstance(item, GuestItem):
        guest = item.run.guest
        needs = ("cxemu", *((guest.kernel,) if guest.kernel != "stock" else ()))
        return " ".join(["run", item.run.name, guest.level, item.run.area, *needs])
    run = host_run(item)
    return " ".join(["run", run.name, run.level, run.path, *run.needs])


def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.config.getoption("--list-runs"):
        return
    items = [item for item in session.items if not isinstance(item, VerdictItem)]
    for line in dict.fromkeys(map(description, items)):
        print(line)


def has_only_skipped(stats: dict[str, list[pytest.TestReport]]) -> bool:
    passed = [report for report in stats.get("passed", []) if VERDICT not in report.nodeid]
    return bool(stats.get("skipped")) and not passed


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A session that has skipped every test ends with the status that CTest knows."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and exitstatus == 0 and has_only_skipped(reporter.stats):
        session.exitstatus = SKIPPED
        reason = reporter.stats["skipped"][0].longrepr[2]
        session.config.add_cleanup(lambda: print(reason))


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    return True if session.config.getoption("--list-runs") else None
