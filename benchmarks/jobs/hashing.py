"""Hashes in as many threads as it may have, which the interpreter's lock does not hold up: it shows the free cores."""

import hashlib
import os
from threading import Thread


def work() -> None:
    block = bytes(1 << 20)
    for _ in range(1000):
        hashlib.sha256(block)


threads = [Thread(target=work) for _ in range(int(os.environ.get("BENCHMARK_THREADS", "1")))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
