# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the rate of the time stamp counter, which emulated processors share with the host.

At boot a guest's kernel measures the rate with other timers. If the host does not schedule the guest during that time,
the kernel measures a fraction of the rate, and all its clocks run several times too fast: each time-out is too short.
So the lab passes the rate on the kernel command line.
"""

import ctypes
import mmap
import platform
import time

_READ_COUNTER = bytes.fromhex("0f31" "48c1e220" "4809d0" "c3")  # rdtsc; shl rdx, 32; or rax, rdx; ret
_SECONDS = 0.1
_ATTEMPTS = 50  # the one with the shortest time is used


def _reader():
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_READ_COUNTER)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    function.code = code
    return function


def _now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _moment(read):
    """A time in nanoseconds and the counter at that time."""
    attempts = []
    for _ in range(_ATTEMPTS):
        before = _now()
        counter = read()
        after = _now()
        attempts.append((after - before, (before + after) // 2, counter))
    return min(attempts)[1:]


def counter_khz():
    """Rate of the time stamp counter in kHz; None if the machine has none."""
    if platform.machine() != "x86_64":
        return None
    read = _reader()
    begin, first = _moment(read)
    time.sleep(_SECONDS)
    end, last = _moment(read)
    return round((last - first) * 1_000_000 / (end - begin))
