"""Hashes in two threads, which the interpreter's lock does not hold up: it shows how many cores are free."""

import hashlib
from threading import Thread


def work() -> None:
    block = bytes(1 << 20)
    for _ in range(1000):
        hashlib.sha256(block)


threads = [Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
