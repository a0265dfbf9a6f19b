"""Prints how many times per second this disk syncs: 4 KB appended to FILE, then `fdatasync`, by one thread.

    probe.py FILE [SECONDS]
"""

import json
import os
import sys
import time

path, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 2
page, count = b"x" * 4096, 0
descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
try:
    start = time.monotonic()
    while (took := time.monotonic() - start) < seconds:
        os.write(descriptor, page)
        os.fdatasync(descriptor)
        count += 1
finally:
    os.unlink(path)
print(json.dumps({"mode": "probe", "syncs": count, "seconds": took, "syncsPerSecond": count / took}))
