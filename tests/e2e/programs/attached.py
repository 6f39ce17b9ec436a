"""Threads of Python's that hash, wait for one another, talk through a socket and are born and end all the time; each knows what has to
come out. Says "ready"; with the end of stdin it ends, and the last line is "wrong N of M"."""
import hashlib
import queue
import socket
import sys
import threading
import time
import zlib

ending = threading.Event()
wrong, done = [], []
DATA = bytes(range(256)) * 2000
DIGEST, SUM = hashlib.sha256(DATA).hexdigest(), zlib.crc32(DATA)


def again(work):
    """Until the end; that of one turn is right where it is true."""
    def loop():
        turns = 0
        while not ending.is_set():
            try:
                good = work()
            except Exception as error:  # whatever it is
                good = print(f"{work.__name__}: {error!r}", flush=True)
            turns += 1
            if not good:
                wrong.append(work.__name__)
        done.append(turns)
    return loop


def hashes():
    return hashlib.sha256(DATA).hexdigest() == DIGEST and zlib.crc32(zlib.decompress(zlib.compress(DATA, 1))) == SUM


def objects():
    rows = [{"n": i, "text": str(i), "self": []} for i in range(2000)]
    for row in rows:
        row["self"].append(row)  # for the collector
    return sum(len(row["text"]) for row in rows) == 10 + 2 * 90 + 3 * 900 + 4 * 1000


def births():
    got = queue.Queue()
    threads = [threading.Thread(target=lambda n=n: got.put(n * n)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(got.get() for _ in range(4)) == [0, 1, 4, 9]


def sleeps():
    began = time.monotonic()
    time.sleep(0.02)
    return time.monotonic() - began >= 0.02


def waits():
    """With a limit that is never reached, and one that always is."""
    empty, condition = queue.Queue(), threading.Condition()
    with condition:
        timer = threading.Timer(0.005, lambda: empty.put(1))
        timer.start()
        return condition.wait(0.01) is False and empty.get(timeout=30) == 1


ours, theirs = socket.socketpair()


def echo():
    while data := theirs.recv(4096):
        theirs.sendall(data[::-1])


def talks():
    ours.sendall(b"0123456789" * 100)
    got = b""
    while len(got) < 1000:
        got += ours.recv(1000 - len(got))
    time.sleep(0.001)
    return got == b"9876543210" * 100


workers = [threading.Thread(target=again(work)) for work in (hashes, objects, births, sleeps, waits, talks)]
threading.Thread(target=echo, daemon=True).start()
for worker in workers:
    worker.start()
print("ready", flush=True)
sys.stdin.read()
ending.set()
for worker in workers:
    worker.join()
print(*sorted(set(wrong)), flush=True)
print(f"wrong {len(wrong)} of {sum(done)}")
