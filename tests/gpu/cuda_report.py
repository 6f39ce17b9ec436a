"""What a report says of CUDA, from its own tables; joined here, so that the tests do not rest on the joins of the query code."""
import collections
import re

import harness

Kernel = collections.namedtuple("Kernel", "name grid block static dynamic cluster type stream")


def value(text):
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        return text


def rows(path, table, columns, where=""):
    """Dictionaries of the columns."""
    names = ", ".join(f'"{column}"' for column in columns)
    found = harness.sql(path, f"select {names}, 0 from sonde_{table} {where}")
    return [dict(zip(columns, map(value, row))) for row in found]


def number(path, statement):
    found = harness.sql(path, statement)
    return value(found[0][0]) or 0


def count(path, table, where=""):
    return number(path, f"select count(*), 0 from sonde_{table} {where}")


def grouped(path, table, columns, where=""):
    """{(values of the columns): rows that have them}."""
    names = ", ".join(f'"{column}"' for column in columns)
    numbers = ", ".join(str(i + 1) for i in range(len(columns)))
    found = harness.sql(path, f"select {names}, count(*) from sonde_{table} {where} group by {numbers}")
    return {tuple(map(value, row[:-1])): int(row[-1]) for row in found}


def stream_of_track(path):
    """{track: (process, CUPTI's id of the stream)}."""
    streams = {s["uid"]: (s["process"], s["id"]) for s in rows(path, "cuda_stream", ("uid", "process", "id"))}
    return {t["id"]: streams.get(t["domain"]) for t in rows(path, "track", ("id", "domain"))}


def functions(path):
    return {f["id"]: f for f in rows(path, "cuda_function", ("id", "name", "short_name", "mangled"))}


LAUNCH = ("id", "function", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "static_shared", "dynamic_shared",
          "cluster_x", "launch_type", "registers", "priority")


def launches(path):
    return {launch["id"]: launch for launch in rows(path, "cuda_launch", LAUNCH)}


def grid(launch):
    return launch["grid_x"], launch["grid_y"], launch["grid_z"]


def block(launch):
    return launch["block_x"], launch["block_y"], launch["block_z"]


def kernels(path, where="", name="short_name"):
    """{Kernel: how many}."""
    names, ways, streams = functions(path), launches(path), stream_of_track(path)
    result = collections.Counter()
    for (launch, track), times in grouped(path, "gpu_kernel", ("launch", "track"), where).items():
        way, place = ways[launch], streams.get(track)
        result[Kernel(names[way["function"]][name], grid(way), block(way), way["static_shared"], way["dynamic_shared"], way["cluster_x"],
                      way["launch_type"], place and place[1])] += times
    return result


def kernel_counts(path, where="", name="short_name"):
    """{name: how many}."""
    result = collections.Counter()
    for kernel, times in kernels(path, where, name).items():
        result[kernel.name] += times
    return dict(result)


def durations(path, name="name"):
    """{(name, grid): [ns, in the order of their beginning]}."""
    names, ways = functions(path), launches(path)
    result = collections.defaultdict(list)
    for start, end, launch in harness.sql(path, 'select start, "end", launch from sonde_gpu_kernel order by 1'):
        way = ways[int(launch)]
        result[(names[way["function"]][name], grid(way))].append(int(end) - int(start))
    return result


def plain_name(call):
    """cudaLaunchKernel_v7000 -> cudaLaunchKernel."""
    return re.sub(r"(_ptsz|_ptds)?(_v\d+)?$", "", call)


def calls(path):
    """{(name, result): how many}."""
    result = collections.Counter()
    for (name, code), times in grouped(path, "cuda_api", ("name", "result")).items():
        result[(plain_name(name), code)] += times
    return dict(result)


def copies(path):
    """{(kind, bytes): how many}, but for migrations of unified memory."""
    return grouped(path, "gpu_copy", ("kind", "bytes"), "where kind not in (11, 12, 13)")


def losses(path):
    return sum(harness.losses(path).values())


def diagnostics(path, least=2):
    return [row["text"] for row in rows(path, "diagnostic", ("text", "severity")) if (row["severity"] or 0) >= least]


def clock(path):
    return rows(path, "cuda_clock", ("process", "method", "error", "early", "late", "kernels", "before", "cupti", "driver", "path"))
