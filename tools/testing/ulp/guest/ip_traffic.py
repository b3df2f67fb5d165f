#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One end of an IP connection between two hosts, as a program that can run in any namespace.

ip_traffic.py answer ADDRESS PORT
    accepts a TCP connection and returns the data that it receives, with their digest
ip_traffic.py send ADDRESS PORT LENGTH
    connects and sends random bytes; fails if the returned data are wrong
ip_traffic.py join ADDRESS GROUP PORT COUNT
    joins a multicast group and waits for COUNT different, correct messages
ip_traffic.py multicast ADDRESS GROUP PORT COUNT
    sends these messages repeatedly
"""

import hashlib
import os
import socket
import struct
import sys
import time

PATIENCE = 240  # seconds; ends only a program that has already failed
INTERVAL = 0.5


def read_all(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as file:
        return file.read()


def answer(address: str, port: str) -> None:
    with socket.create_server((address, int(port))) as listener:
        listener.settimeout(PATIENCE)
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(PATIENCE)
            data = read_all(connection)
            connection.sendall(hashlib.sha256(data).digest() + data)


def send(address: str, port: str, length: str) -> None:
    data = os.urandom(int(length))
    digest = hashlib.sha256(data).digest()
    with socket.create_connection((address, int(port)), PATIENCE) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answered = read_all(connection)
    if answered[: len(digest)] != digest:
        sys.exit(f"other bytes have arrived than were sent: their digest is {answered[:len(digest)].hex()}")
    if answered[len(digest) :] != data:
        sys.exit("other bytes have come back than were sent")
    print(f"{length} bytes, and the same again, are right")


def message(number: int) -> bytes:
    return struct.pack(">I", number) + bytes([number % 256]) * 1500


def join(address: str, group: str, port: str, count: str) -> None:
    missing = {message(number) for number in range(int(count))}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((group, int(port)))
        membership = socket.inet_aton(group) + socket.inet_aton(address)
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        receiver.settimeout(PATIENCE)
        while missing:
            missing.discard(receiver.recv(4096))
    print(f"{count} messages are right")


def multicast(address: str, group: str, port: str, count: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        while True:
            for number in range(int(count)):
                sender.sendto(message(number), (group, int(port)))
            time.sleep(INTERVAL)


if __name__ == "__main__":
    {function.__name__: function for function in (answer, send, join, multicast)}[sys.argv[1]](*sys.argv[2:])
