"""What the tests of exports share: reports written as text, and what stands in them."""
import collections
import re
import subprocess

from harness import *

VALUE = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


def parse(text):
    """{table: [(track, {column: value})]} of a report's text."""
    tables = collections.defaultdict(list)
    for line in text.splitlines():
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        row = {}
        for key, value in VALUE.findall(words[2] if len(words) > 2 else ""):
            if value.startswith('"'):
                row[key] = value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
            else:
                row[key] = float(value) if re.fullmatch(r"-?\d+\.\d+", value) else \
                    int(value) if re.fullmatch(r"-?\d+", value) else value
        tables[words[0]].append((int(words[1]), row))
    return tables


def golden(name):
    with open(os.path.join(SRC, "tests", "golden", name + ".txt")) as f:
        return f.read()


def make(name, text):
    """(path, tables) of a report made from a text."""
    source = os.path.join(WORK, name + ".txt")
    with open(source, "w") as f:
        f.write(text)
    subprocess.run([program("make_report"), source, report_path(name)], check=True)
    return report_path(name), parse(text)


def export(report, output, *options):
    path = os.path.join(WORK, output)
    run = subprocess.run([SONDE, "export", "-q", report, "-o", path, *options], capture_output=True, timeout=60)
    if run.returncode != 0 or run.stderr:
        raise RuntimeError(f"sonde export failed: {run.returncode} {run.stderr!r}")
    return path


def tracks_of(tables):
    return {row["id"]: row for _, row in tables["track"]}


def kernel_names(tables):
    """Launch id: (name, launch)."""
    functions = {row["id"]: row["name"] for _, row in tables["cuda_function"]}
    return {row["id"]: (functions[row["function"]], row) for _, row in tables["cuda_launch"]}


def damaged_copies(report, count):
    """Copies of a report with a byte changed each, all over the file."""
    with open(report, "rb") as f:
        data = f.read()
    for i in range(count):
        at = len(data) * (2 * i + 1) // (2 * count)
        path = os.path.join(WORK, f"damaged{i}.sonde")
        with open(path, "wb") as f:
            f.write(data[:at] + bytes([data[at] ^ (0x5A + i) & 0xFF]) + data[at + 1:])
        yield path


def survives_damage(name, report, kind, reads):
    """No crash, an exit status of 0 or 1, and whatever was written can be read."""
    wrong = []
    for i, path in enumerate(damaged_copies(report, 40)):
        output = os.path.join(WORK, f"{name}-{i}")
        run = subprocess.run([SONDE, "export", "-q", "-f", "-t", kind, "-o", output, path], capture_output=True, timeout=60)
        if run.returncode not in (0, 1) or (run.returncode == 1 and not run.stderr):
            wrong.append((i, run.returncode, run.stderr[-200:]))
        elif os.path.exists(output):
            try:
                reads(output)
            except Exception as error:  # whatever a reader says against it
                wrong.append((i, repr(error)))
    check(f"{name}: damaged reports", wrong, [])
