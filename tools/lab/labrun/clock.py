# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast the time stamp counter counts, which emulated processors share with the host.

A guest's kernel measures that when it boots, by other timers. If the host does not schedule it meanwhile, it measures a
fraction of the true rate, and all its clocks run several times too fast from then on: each timeout is too short. So the lab
passes the rate on the kernel's command line.
"""

import ctypes
import mmap
import platform
import time

_READ_COUNTER = bytes.fromhex("0f31" "48c1e220" "4809d0" "c3")  # rdtsc; shl rdx, 32; or rax, rdx; ret
_SECONDS = 0.1
_ATTEMPTS = 50  # of which the one counts that took the shortest time


def _reader():
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_READ_COUNTER)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    function.code = code
    return function


def _now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _moment(read):
    """A time in nanoseconds, and the counter at that time."""
    attempts = []
    for _ in range(_ATTEMPTS):
        before = _now()
        counter = read()
        after = _now()
        attempts.append((after - before, (before + after) // 2, counter))
    return min(attempts)[1:]


def counter_khz():
    """Of the time stamp counter; None on a machine that has none."""
    if platform.machine() != "x86_64":
        return None
    read = _reader()
    begin, first = _moment(read)
    time.sleep(_SECONDS)
    end, last = _moment(read)
    return round((last - first) * 1_000_000 / (end - begin))
