"""A viewer's server and a client that may read from it."""
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import time

from harness import SONDE


class Viewer:
    def __init__(self, *reports, options=(), admit=True, stdin=subprocess.DEVNULL, env=None):
        self.process = subprocess.Popen([SONDE, "view", "--no-open", "--port", "0", *options, *reports], stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.url = self.process.stdout.readline().strip()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", self.url)
        if not found:
            raise RuntimeError(f"no address: {self.url!r} {self.process.stderr.read()!r}")
        self.port, self.token = int(found[1]), found[2]
        self.key = None
        if admit:
            _, self.key = self.exchange(self.token)

    def exchange(self, token):
        """Status, and the key where there is one."""
        status, _, body = self.get("/api/key", headers={"Sonde-Token": token})
        return status, json.loads(body).get("key")

    def get(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {**({"Sonde-Key": self.key} if self.key else {}), **(headers or {})}
        try:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for key, value in headers.items():
                connection.putheader(key, value)
            connection.endheaders(body)
            try:
                answer = connection.getresponse()
            except http.client.HTTPException as error:
                raise RuntimeError(f"{path[:200]}: {error!r}; the server's status is {self.process.poll()}") from error
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, path):
        status, _, body = self.get(path)
        value = json.loads(body)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {value}")
        return value

    def rows(self, report=0, seconds=60):
        """When all have been made."""
        end = time.monotonic() + seconds
        while (answer := self.json(f"/api/rows?report={report}"))["pending"] and time.monotonic() < end:
            time.sleep(0.02)
        return answer["rows"]

    def refusal(self, path):
        """(status, whether the answer is one sentence of JSON)"""
        status, _, body = self.get(path)
        try:
            value = json.loads(body)
        except ValueError:
            return status, False
        return status, list(value) == ["error"] and bool(value["error"])

    def tiles(self, report, level, pairs, plots=()):
        wanted = ",".join(f"{row}:{index}" for row, index in pairs)
        status, _, body = self.get(f"/api/tiles?report={report}&level={level}&tiles={wanted}")
        if status != 200:
            raise RuntimeError(f"tiles: {status} {body!r}")
        return parse_tiles(body, plots)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(30)
        finally:
            if self.process.poll() is None:
                self.process.kill()


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, kind, count):
        size = struct.calcsize(kind) * count
        values = struct.unpack_from(f"<{count}{kind}", self.data, self.at)
        self.at += (size + 3) & ~3
        return values


def parse_tiles(body, plots=()):
    """{(row, index): [lane, ...]}; a lane is (listed events, {bucket: what is there})."""
    found, cursor = {}, Cursor(body)
    while cursor.at < len(body):
        row, lanes = cursor.take("I", 2)
        index = int(cursor.take("d", 1)[0])
        found[row, index] = []
        for _ in range(lanes):
            listed, buckets = cursor.take("I", 2)
            events = list(zip(*[cursor.take(kind, listed) for kind in "ddIII"]))
            numbers, shares, classes = [cursor.take(kind, buckets) for kind in "HBB"]
            rest = [cursor.take("f" if row in plots else "I", buckets) for _ in range(3)]
            found[row, index].append((events, {number: (shares[i], classes[i], rest[0][i], rest[1][i], rest[2][i])
                                               for i, number in enumerate(numbers)}))
    return found
