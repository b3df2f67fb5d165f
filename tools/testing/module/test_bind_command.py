# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests scripts/cxib-bind: it shows the driver of each HCA, and binds an HCA to cxib and back.

The in-tree driver has bound two HCAs, and cxib.ko is loaded.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import unittest

import guest
from control import until
from guest import MELLANOX, driver_of, find_devices
from machine import LONG, Guest

BIND = Guest("bind-command", driver="mlx5", builds=("tools/testing/module/build --kernel KERNEL",))
GUESTS = [
    BIND.with_tests("BindCommand.test_hca_given_to_cxib_and_back", "BindCommand.test_boot_rule_binds_hca_to_cxib",
                    "Settings.test_settings_applied_whenever_hca_is_bound"),
    BIND.but("bind-command-all", level=LONG).with_tests("BindCommand", "Settings"),
    BIND.but("bind-command-refused", cxemu="--capability rc=0", level=LONG).with_tests("Refusal"),
]
SCRIPTS = pathlib.Path(__file__).parents[3] / "scripts"
COMMAND = SCRIPTS / "cxib-bind"
DEVICE_RULES = SCRIPTS / "75-cxib.rules"
CONF = pathlib.Path("/etc/cxib.conf")
PROGRAMS = pathlib.Path("/usr/local/sbin")
RULES = pathlib.Path("/etc/udev/rules.d")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


def install(test: unittest.TestCase, file: pathlib.Path, directory: pathlib.Path) -> None:
    """Installs a file as the package does, until the end of the test."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, directory)
    test.addCleanup((directory / file.name).unlink)


def start_udev(test: unittest.TestCase) -> None:
    """udev runs until the end of the test: later it would rename the devices of other tests."""
    daemon = subprocess.Popen(["/usr/lib/systemd/systemd-udevd"], stderr=subprocess.DEVNULL)
    test.addCleanup(daemon.wait)
    test.addCleanup(daemon.terminate)
    until(lambda: subprocess.run(["udevadm", "control", "--ping"], check=False).returncode == 0, "udev is ready")


def udev_properties(hca: pathlib.Path) -> dict[str, str]:
    """udev's properties of the RDMA device of an HCA."""
    path = next((hca / "infiniband").iterdir())
    shown = subprocess.run(["udevadm", "info", "--query=property", "--path", path], check=True, capture_output=True, text=True)
    return dict(line.split("=", 1) for line in shown.stdout.splitlines())


class BindCommandTest(unittest.TestCase):
    """A test with cxib.ko loaded. At its end the first HCA is returned to the in-tree driver."""

    @classmethod
    def setUpClass(cls) -> None:
        guest.load()

    @classmethod
    def tearDownClass(cls) -> None:
        guest.unload()

    def setUp(self) -> None:
        self.hca, self.other = find_devices(MELLANOX)
        install(self, COMMAND, PROGRAMS)
        self.addCleanup(run, "back", self.hca.name, "--boot", "--force")

    def succeed(self, *words: str) -> str:
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refuse(self, *words: str, status: int = 1) -> str:
        done = run(*words)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stderr


class BindCommand(BindCommandTest):
    def test_list_shows_hcas_and_drivers(self) -> None:
        lines = self.succeed().splitlines()
        self.assertEqual(len(lines), 3)
        name = next((self.hca / "infiniband").iterdir()).name
        self.assertRegex(lines[1], rf"{self.hca.name} +0x1017 +mlx5_core +- +{name}$")

    def test_hca_given_to_cxib_and_back(self) -> None:
        self.succeed("cxib", self.hca.name)
        self.assertEqual((driver_of(self.hca), driver_of(self.other)), ("cxib", "mlx5_core"))
        self.assertRegex(self.succeed(), rf"{self.hca.name} +0x1017 +cxib +- +cxib\d")
        self.succeed("back", self.hca.name)
        self.assertEqual(driver_of(self.hca), "mlx5_core")

    def test_hca_of_cxib_given_again_succeeds(self) -> None:
        self.succeed("cxib", self.hca.name)
        self.succeed("cxib", self.hca.name)
        self.assertEqual(driver_of(self.hca), "cxib")

    def test_boot_option_writes_rule(self) -> None:
        self.succeed("cxib", self.hca.name, "--boot")
        rules = list(RULES.glob("70-cxib-*"))
        self.assertEqual(len(rules), 1)
        self.assertIn(f'KERNEL=="{self.hca.name}"', rules[0].read_text())
        self.succeed("back", self.hca.name, "--boot")
        self.assertEqual(list(RULES.glob("70-cxib-*")), [])

    def test_boot_rule_binds_hca_to_cxib(self) -> None:
        """The test removes the HCA and plugs it in again, which udev handles as at boot."""
        self.succeed("cxib", self.hca.name, "--boot")
        guest.write_attribute(self.hca / "remove", "1")
        start_udev(self)
        guest.write_attribute(pathlib.Path("/sys/bus/pci/rescan"), "1")
        until(lambda: driver_of(self.hca) == "cxib", "udev has followed the rule")
        self.assertEqual(driver_of(self.other), "mlx5_core")

    def test_udev_knows_infiniband_hca_as_with_kernel_driver(self) -> None:
        """rdma-core's rules decide by driver name what systemd loads at boot (ib_ipoib, ib_umad)."""
        install(self, DEVICE_RULES, RULES)
        start_udev(self)
        self.succeed("cxib", self.hca.name)
        subprocess.run(["udevadm", "trigger", "--action=add", "--subsystem-match=infiniband"], check=True)
        subprocess.run(["udevadm", "settle", "--timeout=900"], check=True)
        ours, theirs = udev_properties(self.hca), udev_properties(self.other)
        self.assertEqual(ours.get("ID_RDMA_INFINIBAND"), "1")
        self.assertNotIn("ID_RDMA_ROCE", ours)
        self.assertEqual(set(ours["SYSTEMD_WANTS"].split()),
                         set(theirs["SYSTEMD_WANTS"].split()) - {"rdma-load-modules@roce.service"})

    def test_back_all_returns_all_hcas(self) -> None:
        self.addCleanup(run, "back", "all", "--boot", "--force")
        self.succeed("cxib", self.hca.name)
        self.succeed("cxib", self.other.name, "--boot")
        self.succeed("back", "all", "--boot")
        self.assertEqual((driver_of(self.hca), driver_of(self.other)), ("mlx5_core", "mlx5_core"))
        self.assertEqual(list(RULES.glob("70-cxib-*")), [])

    def test_back_all_with_hca_in_use_returns_others(self) -> None:
        self.succeed("cxib", self.hca.name)
        self.succeed("cxib", self.other.name)
        self.addCleanup(run, "back", "all", "--force")
        node = next((self.hca / "infiniband_verbs").iterdir()).name
        with contextlib.closing(open(f"/dev/infiniband/{node}", "rb")):
            self.assertIn(f"{self.hca.name} is in use", self.refuse("back", "all"))
        self.assertEqual((driver_of(self.hca), driver_of(self.other)), ("cxib", "mlx5_core"))

    def test_back_all_removes_rule_of_missing_hca(self) -> None:
        RULES.mkdir(parents=True, exist_ok=True)
        rule = RULES / "70-cxib-0000-fe-00-0.rules"
        rule.write_text('ACTION=="add", SUBSYSTEM=="pci", KERNEL=="0000:fe:00.0", ATTR{driver_override}="cxib"\n')
        self.assertIn("0000:fe:00.0: is not there", self.succeed("back", "all", "--boot"))
        self.assertFalse(rule.exists())

    def test_hca_in_use_refused(self) -> None:
        with contextlib.closing(open("/dev/infiniband/uverbs0", "rb")):
            self.assertRegex(self.refuse("cxib", self.hca.name), r"is in use: process \d+")
        self.assertEqual(driver_of(self.hca), "mlx5_core")

    def test_hca_with_interface_up_refused(self) -> None:
        """Without a subnet manager the interface has no carrier."""
        subprocess.run(["modprobe", "ib_ipoib"], check=True)
        self.addCleanup(subprocess.run, ["modprobe", "-r", "ib_ipoib"], check=True)
        interface = next((self.hca / "net").iterdir()).name
        subprocess.run(["ip", "link", "set", interface, "up"], check=True)
        self.assertIn(f"is in use: interface {interface}", self.refuse("cxib", self.hca.name))
        subprocess.run(["ip", "link", "set", interface, "down"], check=True)
        self.succeed("cxib", self.hca.name)

    def test_hca_in_use_returned_at_next_boot(self) -> None:
        self.succeed("cxib", self.hca.name, "--boot")
        node = next((self.hca / "infiniband_verbs").iterdir()).name
        with contextlib.closing(open(f"/dev/infiniband/{node}", "rb")):
            self.assertIn("at the next boot the kernel's driver gets it", self.refuse("back", self.hca.name, "--boot"))
        self.assertEqual((driver_of(self.hca), list(RULES.glob("70-cxib-*"))), ("cxib", []))
        guest.write_attribute(self.hca / "driver/unbind", self.hca.name)
        guest.write_attribute(pathlib.Path("/sys/bus/pci/drivers_probe"), self.hca.name)
        self.assertEqual(driver_of(self.hca), "mlx5_core")

    def test_hca_reserved_for_other_driver_kept(self) -> None:
        """As driverctl does for a virtual machine."""
        override = self.other / "driver_override"
        override.write_text("vfio-pci")
        self.addCleanup(override.write_text, "\n")
        self.assertIn("mlx5_core has it, reserved for vfio-pci", self.succeed("back", self.other.name, "--boot"))
        self.assertIn(f"{self.other.name} is reserved for vfio-pci", self.refuse("cxib", self.other.name, "--boot"))
        self.assertEqual((override.read_text().strip(), list(RULES.glob("70-cxib-*"))), ("vfio-pci", []))

    def test_boot_rule_that_cannot_be_written_changes_nothing(self) -> None:
        RULES.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", RULES], check=True)
        self.addCleanup(subprocess.run, ["umount", RULES], check=True)
        self.assertIn("mlx5_core", self.refuse("cxib", self.hca.name, "--boot"))
        self.assertEqual(driver_of(self.hca), "mlx5_core")

    def test_boot_rule_that_cannot_be_removed_is_a_failure(self) -> None:
        self.succeed("cxib", self.hca.name, "--boot")
        subprocess.run(["mount", "--bind", RULES, RULES], check=True)
        self.addCleanup(subprocess.run, ["umount", RULES], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", RULES], check=True)
        for words in ("back", "all", "--boot"), ("back", self.hca.name, "--boot"):
            self.assertIn(f"cannot be removed; {self.hca.name} keeps its driver, cxib", self.refuse(*words))
        self.assertEqual(driver_of(self.hca), "cxib")

    def test_commands_at_a_time_agree(self) -> None:
        children = [subprocess.Popen([COMMAND, command, self.hca.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for command in ("cxib", "back", "cxib", "back")]
        for child in children:
            self.assertEqual(child.wait(120), 0, child.communicate())

    def test_reservation_that_force_takes_is_named(self) -> None:
        override = self.other / "driver_override"
        override.write_text("vfio-pci")
        self.addCleanup(override.write_text, "\n")
        self.assertIn("it was reserved for vfio-pci", self.succeed("cxib", self.other.name, "--force"))
        self.succeed("back", self.other.name)

    def test_boot_rule_runs_installed_command_only(self) -> None:
        (PROGRAMS / COMMAND.name).rename(PROGRAMS / "away")
        self.addCleanup((PROGRAMS / "away").rename, PROGRAMS / COMMAND.name)
        self.assertIn("--boot needs cxib-bind in", self.refuse("cxib", self.hca.name, "--boot"))
        self.assertEqual(driver_of(self.hca), "mlx5_core")

    def test_address_without_domain_accepted(self) -> None:
        self.succeed("cxib", self.hca.name.removeprefix("0000:"))
        self.assertEqual(driver_of(self.hca), "cxib")

    def test_other_device_refused(self) -> None:
        for command in "cxib", "back":
            self.assertIn("there is no PCI device", self.refuse(command, "0000:ff:00.0"))
            self.assertIn("is no ConnectX", self.refuse(command, "0000:00:00.0"))
            for word in "", ".", "*", "../x", "0000:01:00.0;id":
                self.assertIn(f"DEVICE is '{word}', must be a PCI address", self.refuse(command, word, status=2))

    def test_other_user_refused(self) -> None:
        for words in ("cxib", self.hca.name), ("back", "all", "--boot"):
            done = subprocess.run([COMMAND, *words], user=65534, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, "cxib-bind: only root can change the driver of an HCA\n"))


class Settings(BindCommandTest):
    """Tests /etc/cxib.conf, which cxib-settings applies when udev runs it."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(lambda: CONF.unlink(missing_ok=True))

    def value(self, name: str) -> str | int:
        """Value of a devlink parameter of the HCA."""
        shown = json.loads(subprocess.run(["devlink", "-j", "dev", "param", "show"], check=True, capture_output=True).stdout)
        return next(param["values"][0]["value"] for param in shown["param"][f"pci/{self.hca.name}"] if param["name"] == name)

    def moderation(self) -> str:
        """The RDMA core's setting for new CQs of the HCA: adaptive-moderation on or off."""
        name = next((self.hca / "infiniband").iterdir()).name
        return subprocess.run(["rdma", "-d", "dev", "show", name], check=True, capture_output=True, text=True).stdout

    def test_settings_applied_whenever_hca_is_bound(self) -> None:
        install(self, DEVICE_RULES, RULES)
        install(self, SCRIPTS / "cxib-settings", PROGRAMS)
        CONF.write_text(f"# for all\n* cq_quantum_us 70\n* cq_softirq_context softirq\n"
                        f"{self.hca.name} cq_softirq_context thread\n{self.other.name} cq_quantum_us 80\n"
                        "* adaptive_moderation off\n* grace_period 0\n")
        start_udev(self)
        for _ in range(2):
            self.succeed("cxib", self.hca.name)
            until(lambda: self.value("cq_quantum_us") == 70 and self.value("cq_softirq_context") == "thread",
                  "udev has applied the settings")
            until(lambda: "adaptive-moderation off" in self.moderation(), "udev has set moderation")
            self.succeed("back", self.hca.name)

    def test_wrong_lines_named_and_others_applied(self) -> None:
        self.succeed("cxib", self.hca.name)
        CONF.write_text("* cq_quantum_us 9999\n* cq_busy_poll_us 30 us\n\n* cq_process_context unbound\n* no_such 1\n")
        done = subprocess.run([SCRIPTS / "cxib-settings"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"{self.hca.name}: line 1 of {CONF}, cq_quantum_us: .*out of range \[10, 2000\]")
        self.assertRegex(done.stderr, rf"{self.hca.name}: line 2 of {CONF}, cq_busy_poll_us: a line is DEVICE SETTING VALUE")
        self.assertRegex(done.stderr, rf"{self.hca.name}: line 5 of {CONF}, no_such: ")
        self.assertEqual(self.value("cq_process_context"), "unbound")


class Refusal(BindCommandTest):
    """Tests HCAs that lack a feature."""

    def test_missing_capability_keeps_driver_and_names_reason(self) -> None:
        self.assertRegex(self.refuse("cxib", self.hca.name),
                         rf"cxib does not take {self.hca.name}, mlx5_core has it again: "
                         r"capability rc: 0 out of range \[1, 1\]: ULPs need RC")
        self.assertEqual(driver_of(self.hca), "mlx5_core")
        self.assertEqual((self.hca / "driver_override").read_text().strip(), "(null)")
