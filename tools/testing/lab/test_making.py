# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which guests boot, and what a snapshot depends on."""

import os
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

from labrun import making

CPUINFO = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some Processor
cpu MHz\t\t: {mhz}
flags\t\t: fpu tsc{flags}

processor\t: 1
"""


def options(**changes):
    """Options of a default guest, with changes."""
    usual = {"boot": False, "reboots": 0, "qemu": "", "append": "", "hcas": 2, "iommu": False, "kernel": "stock"}
    return types.SimpleNamespace(**usual | changes)


class Decision(unittest.TestCase):
    """A guest boots if the test depends on booting, or if its virtual machine has unusual devices."""

    def refusal(self, environment=None, accelerator="tcg", **changes):
        return making.refusal(options(**changes), environment or {}, accelerator)

    def test_usual_guest_is_resumed(self):
        self.assertIsNone(self.refusal())

    def test_further_kernel_arguments_resumed(self):
        self.assertIsNone(self.refusal(append="dma_debug=off kunit.enable=1"))

    def test_boot_requested_boots(self):
        self.assertIn("asked for", self.refusal(boot=True))
        self.assertIn("asked for", self.refusal({"CXIB_LAB_BOOT": "1"}))

    def test_empty_setting_ignored(self):
        self.assertIsNone(self.refusal({"CXIB_LAB_BOOT": "", "LAB_GUEST_TREE": ""}))

    def test_rebooting_guest_boots(self):
        self.assertIn("again", self.refusal(reboots=1))

    def test_kernel_outside_image_boots(self):
        self.assertIn("without its kernel", self.refusal(kernel="rt"))
        self.assertIsNone(self.refusal(kernel="debug"))

    def test_real_processor_boots(self):
        self.assertIn("processor", self.refusal(accelerator="kvm"))

    def test_further_devices_or_other_clock_boots(self):
        for each in ("-device pci-testdev", "-icount shift=0"):
            self.assertIn("arguments for QEMU", self.refusal(qemu=each))

    def test_other_init_boots(self):
        for each in ("lab.layer=/dev/vda", "quiet rdinit=/bin/busybox -- sleep 1", "init=/bin/sh"):
            self.assertIn("another start", self.refusal(append=each))

    def test_own_tree_boots(self):
        for name in ("LAB_GUEST_TREE", "LAB_GUEST_BOOT", "LAB_GUEST_RELEASE"):
            self.assertIn("tree", self.refusal({name: "something"}))


class Key(unittest.TestCase):
    """Two guests share a snapshot exactly if everything before the snapshot is equal."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = Path(temporary.name)
        for name in ("var/lib/dpkg/status", "boot/vmlinuz-1", "boot/vmlinuz-2", "lib/modules/1/modules.dep",
                     "lib/modules/2/modules.dep", "qemu"):
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        self.contents = mock.Mock()
        self.contents.return_value.digest.return_value = "contents"
        self.patches = [mock.patch.object(making.guest_program, "provide"),
                        mock.patch.object(making.initramfs, "Contents", self.contents),
                        mock.patch.object(making.shutil, "which", lambda _name: str(self.tree / "qemu")),
                        mock.patch.object(making.clock, "counter_khz", lambda: 1000)]
        for patch in self.patches:
            patch.start()
            self.addCleanup(patch.stop)

    def key(self, release="1", releases=("1",), machine=None, **changes):
        usual = {"processor": "amd64", "accelerator": "tcg", "cpus": 2, "memory": 2048, "iommu": False, "reboots": 0, "nodes": 1}
        maker = making.Maker(options(**changes), usual | (machine or {}), self.tree, releases, release, Path("/init"),
                             Path("/cache"))
        return maker.key

    def touch(self, name):
        """Changes the time of a file of the lab tree."""
        os.utime(self.tree / name, (1, 1))

    def test_equal_guests_share_key(self):
        self.assertEqual(self.key(), self.key())

    def test_up_to_four_hcas_share_key(self):
        self.assertEqual(self.key(hcas=0), self.key(hcas=4))
        self.assertNotEqual(self.key(hcas=4), self.key(hcas=5))

    def test_other_machine_changes_key(self):
        keys = {self.key(), self.key(machine={"cpus": 4}), self.key(machine={"memory": 3072}),
                self.key(machine={"nodes": 2}), self.key(machine={"iommu": True})}
        self.assertEqual(len(keys), 5)

    def test_other_kernel_or_arguments_change_key(self):
        keys = {self.key(releases=("1", "2")), self.key("2", releases=("1", "2")),
                self.key(releases=("1", "2"), append="x=y")}
        self.assertEqual(len(keys), 3)

    def test_clock_frequency_keeps_key(self):
        before = self.key()
        with mock.patch.object(making.clock, "counter_khz", lambda: 1001):
            self.assertEqual(self.key(), before)

    def test_remade_input_changes_key(self):
        keys = [self.key()]
        for name in ("boot/vmlinuz-1", "lib/modules/1/modules.dep", "var/lib/dpkg/status", "qemu"):
            self.touch(name)
            keys.append(self.key())
        self.contents.return_value.digest.return_value = "others"
        keys.append(self.key())
        self.assertEqual(len(set(keys)), len(keys))

    def test_later_kernel_changes_image(self):
        self.assertNotEqual(making.image_name(self.tree, ["1"]), making.image_name(self.tree, ["1", "2"]))

    def test_processor_type_changes_key_and_speed_does_not(self):
        first = making.processor(CPUINFO.format(mhz=1000, flags=""))
        self.assertEqual(first, making.processor(CPUINFO.format(mhz=2000, flags="")))
        self.assertNotEqual(first, making.processor(CPUINFO.format(mhz=1000, flags=" avx")))


if __name__ == "__main__":
    unittest.main()
