# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which lines of a kernel log tools/lab/run treats as error reports.

The texts are copies of messages on kernel consoles.
"""

import textwrap
import unittest

from labrun.reports import Scanner, compare, kind_of, render


def scan(text, **arguments):
    """The reports in a log."""
    scanner = Scanner(**arguments)
    for line in textwrap.dedent(text).strip("\n").split("\n"):
        scanner.feed(line)
    return scanner.reports


OOPS = """
    [   41.220010] cxib 0000:01:00.0: firmware 16.35.3006
    [   41.231541] BUG: kernel NULL pointer dereference, address: 0000000000000018
    [   41.231886] #PF: supervisor read access in kernel mode
    [   41.232101] #PF: error_code(0x0000) - not-present page
    [   41.232301] PGD 0 P4D 0
    [   41.232602] Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI
    [   41.232987] CPU: 1 UID: 0 PID: 211 Comm: insmod Tainted: G           O       6.12.117+deb13-amd64 #1
    [   41.233499] RIP: 0010:cxib_query_cap+0x1c/0x90 [cxib]
    [   41.235012] Call Trace:
    [   41.235131]  <TASK>
    [   41.236000]  do_one_initcall+0x5b/0x310
    [   41.240000] ---[ end trace 0000000000000000 ]---
    [   41.241000] after the end
"""

KASAN = """
    [   12.000001] # cxib_layout: ok
    [   12.034411] ==================================================================
    [   12.034907] BUG: KASAN: slab-out-of-bounds in pack_beyond_end+0x5a/0xd0 [cxib_kunit]
    [   12.035522] Write of size 1 at addr ffff888103c4a180 by task kunit_try_catch/233
    [   12.036000]
    [   12.036100] CPU: 0 UID: 0 PID: 233 Comm: kunit_try_catch Tainted: G           O     N 6.12.117-cxib-debug #1
    [   12.037000] Call Trace:
    [   12.038000]  print_report+0xcb/0x5e0
    [   12.039000] The buggy address belongs to the object at ffff888103c4a100
    [   12.039100]                 which belongs to the cache kmalloc-128 of size 128
    [   12.040000]  ffff888103c4a180: fc fc fc fc
    [   12.041000] ==================================================================
    [   12.041900] Disabling lock debugging due to kernel taint
"""

RACE = """
    [   60.100000] ==================================================================
    [   60.100100] BUG: KCSAN: data-race in FUNCTION / ib_drain_qp [ib_core]
    [   60.100200]
    [   60.100300] write to 0xffff888104a0c0a8 of 4 bytes by task 212 on cpu 1:
    [   60.100400]  cxib_post_send+0x1c0/0x9d0 [cxib]
    [   60.100500] ==================================================================
"""

MAPPED_TWICE = """
    [  178.177291] ------------[ cut here ]------------
    [  178.177905] DMA-API: mlx5_core 0000:02:00.0: cacheline tracking EEXIST, overlapping mappings aren't supported
    [  178.178545] WARNING: CPU: 1 PID: 314 at kernel/dma/debug.c:601 add_dma_entry+0x3c7/0x520
    [  178.183095] Call Trace:
    [  178.184281]  CALLER+0x593/0x8f0
    [  178.190000] ---[ end trace 0000000000000000 ]---
"""

MAPPED_OFTEN = """
    [  117.126487]  dma_map_sgtable+0x6b/0xe0
    [  117.126631]  ib_umem_get+0x593/0x8f0 [ib_uverbs]
    [  117.126872]  ib_uverbs_reg_mr+0x39b/0x9d0 [ib_uverbs]
    [  117.271854] ------------[ cut here ]------------
    [  117.277218] DMA-API: exceeded 7 overlapping mappings of cacheline 0x00000000040dccc0
    [  117.278077] WARNING: CPU: 1 PID: 156 at kernel/dma/debug.c:463 add_dma_entry+0x44d/0x520
    [  117.302256] Call Trace:
    [  117.302398]  <TASK>
    [  117.303043]  debug_dma_map_sg+0x544/0xad0
    [  117.305665]  __dma_map_sg_attrs+0x138/0x3a0
    [  117.306449]  CALLER+0x593/0x8f0
    [  117.340000] ---[ end trace 0000000000000000 ]---
"""

NOT_MAPPED = """
    [  303.593400] ------------[ cut here ]------------
    [  303.593540] DMA-API: cxib 0000:01:00.0: device driver tries to sync DMA memory it has not allocated [device address=ADDRESS] [size=76 bytes]
    [  303.593868] WARNING: CPU: 0 PID: 12 at kernel/dma/debug.c:1108 check_sync+0x41c/0x1840
    [  303.603003] Call Trace:
    [  303.605012]  isert_create_send_desc.isra.0+0xc5/0x290 [ib_isert]
    [  303.611593] ---[ end trace 0000000000000000 ]---
"""

UNMAPPED = """
    [  884.386747] DMA-API: cxib 0000:02:00.0: device driver frees DMA memory with different direction [device address=0x0000000112d6ec80] [size=48 bytes] [mapped with DMA_BIDIRECTIONAL] [unmapped with DMA_FROM_DEVICE]
    [  884.388646] WARNING: CPU: 1 PID: 181 at kernel/dma/debug.c:1027 check_unmap+0x7a9/0x1f50
    [  884.406296] Call Trace:
    [  884.409714]  dma_unmap_page_attrs+0x26f/0x8d0
    [  884.411147]  rds_dma_hdrs_free+0xc1/0x170 [rds_rdma]
    [  884.412147]  CALLER+0x695/0x13d0
    [  884.426629] ---[ end trace 0000000000000000 ]---
"""

FLUSHED = """
    [   97.056518] ------------[ cut here ]------------
    [   97.060496] WARNING: CPU: 0 PID: 174 at kernel/workqueue.c:3767 check_flush_dependency.part.0+0xc9/0x150
    [   97.093889] Call Trace:
    [   97.099577]  pm_runtime_remove+0x20/0x30
    [   97.103591]  CALLER+0xd4/0x1c0
    [   97.107902] ---[ end trace 0000000000000000 ]---
"""

LOCKDEP = """
    [   33.101010] ======================================================
    [   33.101320] WARNING: possible circular locking dependency detected
    [   33.101700] 6.12.117-cxib-debug #1 Tainted: G           O
    [   33.102000] ------------------------------------------------------
    [   33.102300] modprobe/301 is trying to acquire lock:
"""

LIST_CORRUPTION = """
    [   20.000000] ------------[ cut here ]------------
    [   20.000100] list_del corruption. prev->next should be ffff88810a0b0e00, but was dead000000000100. (prev=ffff8)
    [   20.000200] WARNING: CPU: 1 PID: 190 at lib/list_debug.c:62 __list_del_entry_valid_or_report+0xb0/0xd0
    [   20.000300] Modules linked in: cxib(O)
    [   20.000400] ---[ end trace 0000000000000000 ]---
"""


class KindOfReport(unittest.TestCase):
    """Each line begins a report."""

    def assert_kind(self, kind, line):
        found = kind_of("[    5.000001] " + line)
        self.assertIsNotNone(found, line)
        self.assertEqual(kind, found.name, line)

    def test_warn(self):
        self.assert_kind("WARN", "WARNING: CPU: 0 PID: 1 at drivers/pci/msi/msi.c:888 __pci_enable_msi_range+0x1/0x2")

    def test_bug_on(self):
        self.assert_kind("BUG", "kernel BUG at mm/slub.c:448!")

    def test_panic(self):
        self.assert_kind("kernel panic", "Kernel panic - not syncing: sysrq triggered crash")

    def test_page_fault(self):
        self.assert_kind("bad memory access", "BUG: unable to handle page fault for address: ffffc90000a3d000")

    def test_general_protection(self):
        self.assert_kind("oops", "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]")

    def test_kfence(self):
        self.assert_kind("KFENCE", "BUG: KFENCE: use-after-free read in test_use_after_free_read+0xb3/0x143")

    def test_ubsan(self):
        self.assert_kind("UBSAN", "UBSAN: array-index-out-of-bounds in drivers/cxib/hw/eq.c:120:9")

    def test_hung_task(self):
        self.assert_kind("hung task", "INFO: task modprobe:233 blocked for more than 241 seconds.")

    def test_soft_lockup(self):
        self.assert_kind("soft lockup", "watchdog: BUG: soft lockup - CPU#1 stuck for 134s! [insmod:201]")

    def test_workqueue_lockup(self):
        self.assert_kind("workqueue lockup", "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 130s!")

    def test_rcu_stall(self):
        self.assert_kind("RCU stall", "rcu: INFO: rcu_preempt self-detected stall on CPU")
        self.assert_kind("RCU stall", "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:")
        self.assert_kind("RCU stall", "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... }")

    def test_rcu_misuse(self):
        self.assert_kind("RCU misuse", "WARNING: suspicious RCU usage")

    def test_sleep_in_atomic_context(self):
        self.assert_kind("sleep in atomic context",
                         "BUG: sleeping function called from invalid context at include/linux/sched/mm.h:321")
        self.assert_kind("scheduling while atomic", "BUG: scheduling while atomic: insmod/244/0x00000002")

    def test_lock_checker(self):
        for line in (
            "WARNING: possible recursive locking detected",
            "WARNING: possible irq lock inversion dependency detected",
            "WARNING: inconsistent lock state",
            "WARNING: bad unlock balance detected!",
            "WARNING: held lock freed!",
            "WARNING: lock held when returning to user space!",
            "WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected",
            "WARNING: kworker/u8:1/40 still has locks held!",
            "[ BUG: Invalid wait context ]",
            "INFO: trying to register non-static key.",
            "BUG: MAX_LOCKDEP_CHAINS too low!",
        ):
            self.assert_kind("lockdep", line)

    def test_dma_api(self):
        self.assert_kind("DMA API misuse", "DMA-API: cxib 0000:01:00.0: device driver frees DMA memory with wrong function"
                         " [device address=0x0000000104a5c000] [size=4096 bytes] [mapped as single] [unmapped as page]")
        self.assert_kind("DMA API misuse", "DMA-API: pci 0000:01:00.0: device driver has pending DMA allocations while "
                         "released from device [count=1]")

    def test_objects(self):
        self.assert_kind("object misuse", "ODEBUG: free active (active state 0) object: ffff8881 object type: timer_list")

    def test_reference_count(self):
        self.assert_kind("reference count", "refcount_t: underflow; use-after-free.")

    def test_slab(self):
        self.assert_kind("slab corruption", "BUG kmalloc-64 (Tainted: G    B      O      ): Right Redzone overwritten")

    def test_page_state(self):
        self.assert_kind("page corruption", "BUG: Bad page state in process insmod  pfn:10a4c")

    def test_leaks(self):
        self.assert_kind("memory leak", "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)")

    def test_printk_caller_ids(self):
        self.assertEqual("WARN", kind_of("[    5.000001][  T233] WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2").name)


class NoReport(unittest.TestCase):
    """Lines that resemble a report but are none."""

    def test_ordinary_lines(self):
        for line in (
            "DMA-API: preallocated 65536 debug entries",
            "DMA-API: debugging enabled by kernel config",
            "ODEBUG: selftest passed",
            "Warning: unable to open an initial console.",
            "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable",
            "traps: python3[412] general protection fault ip:7f2 sp:7ff error:0 in libc.so.6[7f2000+15d000]",
            "test_qp[311]: segfault at 18 ip 00007f3c sp 00007ffd error 4 in libmlx5.so.1",
            "cxib 0000:01:00.0: WARNING is a word that a driver may use",
            "workqueue: round-robin CPU selection forced",
            "kmemleak: Kernel memory leak detector initialized (mem pool available: 15850)",
            "** This means that this is a DEBUG kernel and it is     **",
            "rcu: \tRCU lockdep checking is enabled.",
            "Spectre V2 : Vulnerable",
        ):
            self.assertIsNone(kind_of("[    5.000001] " + line), line)


class Evidence(unittest.TestCase):
    """Which lines belong to a report."""

    def test_oops_is_one_report_with_context(self):
        reports = scan(OOPS)
        self.assertEqual(["bad memory access"], [r.kind for r in reports])
        self.assertTrue(reports[0].fatal)
        self.assertIn("firmware 16.35.3006", reports[0].lines[0])
        self.assertIn("end trace", reports[0].lines[-1])

    def test_kasan_report_ends_at_lower_rule(self):
        report, = scan(KASAN)
        self.assertEqual("KASAN", report.kind)
        self.assertFalse(report.fatal)
        self.assertEqual(3, report.line)
        self.assertIn("====", report.lines[-1])
        self.assertFalse(any("Disabling lock" in line for line in report.lines))

    def test_truncated_report_kept(self):
        report, = scan(LOCKDEP)
        self.assertEqual("lockdep", report.kind)
        self.assertIn("trying to acquire", report.lines[-1])

    def test_burst_of_lines_is_one_report(self):
        report, = scan(LIST_CORRUPTION)
        self.assertEqual("list corruption", report.kind)

    def test_panic_makes_earlier_report_fatal(self):
        report, = scan(LOCKDEP + "    [   33.2] Kernel panic - not syncing: kernel: panic_on_warn set ...")
        self.assertEqual("lockdep", report.kind)
        self.assertTrue(report.fatal)

    def test_distant_reports_counted_separately(self):
        self.assertEqual(["KASAN", "list corruption"], [r.kind for r in scan(KASAN + LIST_CORRUPTION)])

    def test_report_length_limited(self):
        text = LOCKDEP + "\n".join(f"    [   34.0] line {n}" for n in range(200))
        report, = scan(text, after=20)
        self.assertLessEqual(len(report.lines), 25)

    def test_carriage_returns_ignored(self):
        scanner = Scanner()
        scanner.feed("[    1.000000] kernel BUG at lib/x.c:1!\r\n")
        self.assertEqual("kernel BUG at lib/x.c:1!", scanner.reports[0].headline)

    def test_text_names_log_and_line(self):
        text = render(scan(KASAN)[0], "build/lab/run/vm0/console.log")
        self.assertIn("KASAN in the guest's kernel log (build/lab/run/vm0/console.log, line 3)", text)


class Judgement(unittest.TestCase):
    """Reports that a test expects."""

    def test_expected_report_passes(self):
        unexpected, missing = compare(scan(KASAN), ["slab-out-of-bounds in pack_beyond_end"])
        self.assertEqual(([], []), (unexpected, missing))

    def test_expected_report_matches_several_lines(self):
        expected = "(?s)slab-out-of-bounds in pack_beyond_end.*print_report"
        self.assertEqual(([], []), compare(scan(KASAN), [expected]))
        unexpected, missing = compare(scan(KASAN), [expected + ".*a_function_that_did_not_call"])
        self.assertEqual((["KASAN"], 1), ([r.kind for r in unexpected], len(missing)))

    def test_expected_report_missing_named(self):
        unexpected, missing = compare([], ["KASAN: .*use-after-free"])
        self.assertEqual(([], ["KASAN: .*use-after-free"]), (unexpected, missing))

    def test_allowed_report_is_optional(self):
        allowed = ["slab-out-of-bounds in pack_beyond_end"]
        self.assertEqual(([], []), compare(scan(KASAN), [], allowed))
        self.assertEqual(([], []), compare([], [], allowed))
        unexpected, _ = compare(scan(LIST_CORRUPTION), [], allowed)
        self.assertEqual(["list corruption"], [report.kind for report in unexpected])

    def test_unexpected_report_fails(self):
        unexpected, missing = compare(scan(KASAN + LIST_CORRUPTION), ["BUG: KASAN"])
        self.assertEqual((["list corruption"], []), ([r.kind for r in unexpected], missing))

    def test_umem_registered_twice_passes(self):
        for caller in ("ib_umem_get", "ib_umem_odp_map_dma_and_lock", "cxib_odp_map"):
            unexpected, missing = compare(scan(MAPPED_TWICE.replace("CALLER", caller)), [])
            self.assertEqual(([], []), (unexpected, missing), caller)

    def test_umem_registered_beyond_checker_count_passes(self):
        for caller in ("ib_umem_get", "cxib_odp_map"):
            unexpected, missing = compare(scan(MAPPED_OFTEN.replace("CALLER", caller)), [])
            self.assertEqual(([], []), (unexpected, missing), caller)

    def test_nvme_completions_sharing_cache_line_pass(self):
        unexpected, missing = compare(scan(MAPPED_TWICE.replace("CALLER", "nvme_rdma_alloc_qe")), [])
        self.assertEqual(([], []), (unexpected, missing))

    def test_isert_unmapped_messages_pass(self):
        unexpected, _ = compare(scan(NOT_MAPPED.replace("ADDRESS", "0x0000000000000000")), [])
        self.assertEqual([], unexpected)
        unexpected, _ = compare(scan(NOT_MAPPED.replace("ADDRESS", "0x0000000102030405")), [])
        self.assertEqual(["DMA API misuse"], [r.kind for r in unexpected])

    def test_rds_headers_unmapped_in_other_direction_pass(self):
        unexpected, _ = compare(scan(UNMAPPED.replace("CALLER", "rds_ib_conn_path_shutdown")), [])
        self.assertEqual([], unexpected)
        unexpected, _ = compare(scan(UNMAPPED.replace("CALLER", "cxib_buffer_destroy")), [])
        self.assertEqual(["DMA API misuse"], [report.kind for report in unexpected])

    def test_iscsi_flush_of_power_management_passes(self):
        unexpected, _ = compare(scan(FLUSHED.replace("CALLER", "__iscsi_unbind_session")), [])
        self.assertEqual([], unexpected)
        unexpected, _ = compare(scan(FLUSHED.replace("CALLER", "cxib_remove")), [])
        self.assertEqual(["WARN"], [report.kind for report in unexpected])

    def test_races_of_others_pass(self):
        unexpected, _ = compare(scan(RACE.replace("FUNCTION", "rcu_note_context_switch")), [])
        self.assertEqual([], unexpected)
        for function in ("cxib_poll_cq [cxib]", "post_at_once [cxib_kverbs]"):
            unexpected, _ = compare(scan(RACE.replace("FUNCTION", function)), [])
            self.assertEqual(["KCSAN"], [report.kind for report in unexpected], function)

    def test_driver_mapping_twice_fails(self):
        unexpected, _ = compare(scan(MAPPED_TWICE.replace("CALLER", "cxib_buffer_create")), [])
        self.assertEqual(["DMA API misuse"], [r.kind for r in unexpected])

    def test_driver_mapping_often_fails(self):
        for caller in ("cxib_buffer_create", "ib_umem_odp_map_dma_and_lock"):
            unexpected, _ = compare(scan(MAPPED_OFTEN.replace("CALLER", caller)), [])
            self.assertEqual(["DMA API misuse"], [r.kind for r in unexpected], caller)


if __name__ == "__main__":
    unittest.main()
