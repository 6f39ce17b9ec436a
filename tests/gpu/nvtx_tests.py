"""Real users of NVTX, and the CPU side of a training."""
import os
import subprocess
import time

import harness
from suite import HERE, find_files, limit, python_has, python_program, report, skip


def build(source, output, *flags):
    run = subprocess.run(["gcc", "-O1", "-o", output, os.path.join(HERE, "programs", source), *flags],
                         capture_output=True, text=True)
    return run.stderr.strip()[-300:] if run.returncode else None


def recorded(name, command, env=None):
    run, path = harness.profile(name, command, env=env, timeout=limit(240))
    if run.returncode != 0:
        return None, f"exit status {run.returncode}: {run.stderr[-400:]}"
    return path, None


def compare(name, path, want):
    """`want` ranges must be there with these counts; others may be there too."""
    have = harness.range_counts(path)
    wrong = {key: (have.get(key, 0), count) for key, count in want.items() if have.get(key, 0) != count}
    report(name, f"(found, wanted): {wrong}" if wrong else None)


def test_version_2():
    given = os.environ.get("SONDE_NVTX2_LIBRARY")
    libraries = [os.path.abspath(given)] if given else find_files("libnvToolsExt.so*")
    if not libraries:
        return skip("NVTX 2 library", "no libnvToolsExt.so on this machine; SONDE_NVTX2_LIBRARY names one elsewhere")
    folder, program = os.path.dirname(libraries[0]), os.path.join(harness.WORK, "nvtx2")
    problem = build("nvtx2.c", program, libraries[0], f"-Wl,-rpath,{folder}")
    if problem:
        return report("NVTX 2 library", problem)
    path, problem = recorded("nvtx2", [program])
    if problem:
        return report("NVTX 2 library", problem)
    return compare(f"NVTX 2 library ({os.path.basename(libraries[0])})", path, {"v2 pushed": 10})


def test_version_3():
    headers = find_files("nvtx3/nvToolsExt.h")
    if not headers:
        return skip("NVTX 3 in shared objects", "no nvtx3 headers")
    include = os.path.dirname(os.path.dirname(headers[0]))
    work = harness.WORK
    for unit in ("first", "second"):
        problem = build("nvtx3_unit.c", f"{work}/lib{unit}.so", "-shared", "-fPIC", f"-DUNIT={unit}", f"-I{include}", "-ldl")
        if problem:
            return report("NVTX 3 in shared objects", problem)
    problem = build("nvtx3_main.c", f"{work}/nvtx3", f"-L{work}", "-lfirst", "-lsecond", f"-Wl,-rpath,{work}")
    if problem:
        return report("NVTX 3 in shared objects", problem)
    path, problem = recorded("nvtx3", [f"{work}/nvtx3"])
    if problem:
        return report("NVTX 3 in shared objects", problem)
    compare("NVTX 3 in shared objects", path, {"unit first": 3, "unit second": 4, "registered in first": 3, "registered in second": 4})
    domains = harness.sql(path, "select distinct text from NVTX_EVENTS where eventType = 75")
    return report("one domain for one name", None if domains == [["shared domain"]] else f"{domains}")


def test_python_package():
    if not python_has("nvtx"):
        return skip("Python package nvtx", "not installed here")
    path, problem = recorded("python-nvtx", python_program("python_nvtx.py", need="nvtx"))
    if problem:
        return report("Python package nvtx", problem)
    return compare("Python package nvtx", path, {"decorated": 3, "context": 1, "pushed": 1})


def test_torch():
    if not python_has("torch"):
        return skip("torch.cuda.nvtx", "no PyTorch")
    path, problem = recorded("torch", python_program("torch_nvtx.py", need="torch"))
    if problem:
        return report("torch.cuda.nvtx", problem)
    want = {f"step {i}": 1 for i in range(5)}
    want.update({"forward": 5, "backward": 5})
    compare("torch.cuda.nvtx", path, want)
    marks = harness.sql(path, "select count(*) from NVTX_EVENTS where eventType = 34 and text = 'stepped'")
    report("torch.cuda.nvtx: marks", None if marks == [["5"]] else f"{marks}")
    whole = harness.sql(path, "select count(*) from NVTX_EVENTS where eventType = 60 and text = 'whole' and \"end\" is not null")
    report("torch.cuda.nvtx: start/end", None if whole == [["1"]] else f"{whole}")
    workers = harness.sql(path, "select count(*), count(distinct globalTid) from NVTX_EVENTS where text = 'load item'")
    return report("forked DataLoader workers", None if workers == [["8", "2"]] else f"{workers}")


def test_nccl():
    if not python_has("torch"):
        return skip("NCCL payloads", "no PyTorch")
    path, problem = recorded("nccl", python_program("nccl_nvtx.py", need="torch"))
    if problem:
        return report("NCCL payloads", problem)
    tables = {row[0] for row in harness.sql(path, "select name from sqlite_master")}
    if "NVTX_PAYLOAD_SCHEMAS" not in tables:
        return report("NCCL payloads", f"no schemas; tables: {sorted(tables)}")
    calls = harness.sql(path, "select coalesce(text, s.value), count(*), count(binaryData) from NVTX_EVENTS"
                              " left join StringIds s on s.id = textId where eventType = 59 group by 1")
    print("  NCCL ranges (name, count, with payload):", calls)
    with_payload = sum(int(row[2]) for row in calls if "ncclAllReduce" in row[0])
    return report("NCCL payloads", None if with_payload >= 3 else f"{calls}")


def test_cpu_side():
    """Training with loader workers under the defaults: same result, whole and named stacks, ready at once."""
    if not python_has("torch"):
        return skip("CPU side of a training", "no PyTorch")
    command = python_program("torch_train.py", "8", need="torch")
    bare = subprocess.run(command, capture_output=True, text=True, timeout=limit(240))
    path = harness.report_path("train")
    began = time.monotonic()
    run = subprocess.run([harness.SONDE, "profile", "-o", path, *command], capture_output=True, text=True, timeout=limit(240))
    took = time.monotonic() - began
    if run.returncode != 0:
        return report("CPU side of a training", f"exit status {run.returncode}: {run.stderr[-400:]}")
    report("training: same result", None if run.stdout.startswith(bare.stdout) else f"{run.stdout} instead of {bare.stdout}")
    print(f"  bare: {bare.stderr.strip().splitlines()[-1]}; recorded: {run.stderr.strip().splitlines()[0]}; "
          f"{took:.1f} s in all; report of {os.path.getsize(path) / 1e6:.2f} MB")
    last = float(harness.sql(path, 'select max("end") / 1e9 from sonde_process')[0][0])
    print(f"  ready {took - last:.2f} s after the last process")
    report("training: ready within 3 s", None if took - last < 3 else f"{took - last:.2f} s")
    samples, threads = map(int, harness.sql(path, "select count(*), count(distinct globalTid) from COMPOSITE_EVENTS")[0])
    report("training: samples of several threads", None if samples > 1000 and threads > 2 else f"{samples} of {threads}")
    cut = int(harness.sql(path, "select coalesce(sum(total_count), 0) from sample_stats('samples') where function = '[truncated]'")[0][0])
    named = harness.sql(path, "select coalesce(sum(self_count), 0) from sample_stats('samples') where function not like '%0x%'")
    print(f"  {samples} samples, {cut} with a stack that was cut, {named[0][0]} in functions with a name")
    report("training: stacks are whole", None if cut < samples / 20 else f"{cut} of {samples} cut")
    torch_calls = harness.sql(path, "select count(*) from sample_stats('samples') where module like '%libtorch%' and function like 'at::%'")
    report("training: functions of libtorch are named", None if int(torch_calls[0][0]) > 10 else f"{torch_calls}")
    waits = harness.sql(path, "select count(*) from OSRT_API")
    report("training: OS runtime calls", None if int(waits[0][0]) > 100 else f"{waits}")
    for row in harness.stats(path, "cpu_sample_sum")[:5] + harness.stats(path, "osrt_sum")[:3]:
        print("  ", row)
    return report("training: no errors", None if not harness.sql(path, "select text from sonde_diagnostic where severity = 3")
                  else f"{harness.sql(path, 'select text from sonde_diagnostic where severity = 3')}")


TESTS = {
    "nvtx2": test_version_2, "nvtx3": test_version_3, "python_nvtx": test_python_package, "torch_nvtx": test_torch, "nccl": test_nccl,
    "training": test_cpu_side,
}
