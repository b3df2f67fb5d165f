#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in the guest: serves iPXE its scripts over IPoIB and checks how far it comes.

iPXE requests "opened" when its port is open and answers pings. Then it requests "large", a script after 64 KiB of
comments, closes the port, opens it again, and requests "reopened".

A script must not send before iflinkwait has seen the port join the broadcast group. Otherwise, if the port is still
active, ipoib_transmit() rings the doorbell of a QP in reset with destination LID 0, and the QP stays in error until the
port is closed.
"""

import http.server
import subprocess
import sys
import threading

ADDRESS, PEER, PORT = "10.77.0.1", "10.77.0.2", 8000
PATIENCE = 1000  # seconds until iPXE counts as hung
SERVER = f"http://{ADDRESS}:{PORT}"
LARGE = 64 * 1024  # bytes in lines, because iPXE copies each line to its stack
COMMENT = f"# {'x' * 61}\n"

AFTER_OPENED = f"""#!ipxe
chain {SERVER}/large
"""
AFTER_LARGE = f"""#!ipxe
{COMMENT * (LARGE // len(COMMENT))}:again
ifclose net0
ifopen net0 && iflinkwait --timeout 30000 net0 && chain {SERVER}/reopened ||
goto again
"""
AFTER_REOPENED = """#!ipxe
ifclose net0
poweroff
"""
SCRIPTS = {"/opened": AFTER_OPENED, "/large": AFTER_LARGE, "/reopened": AFTER_REOPENED}

seen: set[str] = set()
finished = threading.Event()


def answers_ping() -> bool:
    return subprocess.run(["ping", "-c", "3", "-W", "60", PEER], check=False).returncode == 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # pylint: disable=invalid-name
        script = SCRIPTS.get(self.path)
        if script is None or (self.path == "/opened" and not answers_ping()):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(script)))
        self.end_headers()
        self.wfile.write(script.encode())
        seen.add(self.path)
        if self.path == "/reopened":
            finished.set()


def interface() -> str:
    """The first IPoIB interface."""
    subprocess.run(["modprobe", "ib_ipoib"], check=True)
    links = subprocess.run(["ip", "-o", "link"], check=True, capture_output=True, text=True).stdout.splitlines()
    return next(line.split(":")[1].strip().split("@")[0] for line in links if "link/infiniband" in line)


def main() -> int:
    device = interface()
    subprocess.run(["ip", "address", "add", f"{ADDRESS}/24", "dev", device], check=True)
    subprocess.run(["ip", "link", "set", device, "up"], check=True)
    server = http.server.ThreadingHTTPServer((ADDRESS, PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = finished.wait(PATIENCE)
    server.shutdown()
    print(f"iPXE has loaded: {', '.join(path for path in SCRIPTS if path in seen) or 'nothing'}")
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
