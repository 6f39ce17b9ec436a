"""Operators of PyTorch with their kernels, recorded by Sonde and by torch.profiler in turn in one process, and by attaching."""
import collections
import json
import os
import re
import shutil

import cuda_report
import harness
from control_tests import Running, attach
from framework_tests import demangler, packed
from suite import holds, note, plain, python_program, record, same

ROUNDS, STEPS = 4, 5
TRAIN_ON = "1200"  # steps of some 11 ms: long enough to be attached to twice
MARK = "measured"
OPEN = 1
# Operators that torch's own table leaves out.
HIDDEN = {"profiler::_record_function_enter", "profiler::_record_function_enter_new", "profiler::_record_function_exit",
          "aten::is_leaf", "aten::output_nr", "aten::_version"}

ENGINE = "autograd::engine::evaluate_function: "
BACKWARD = 1  # scope

Operator = collections.namedtuple("Operator", "name thread sequence forward start end shapes")
# What torch.profiler saw: [Operator], {(operator, kernel): count}, {(name, shapes): count} of its table.
Window = collections.namedtuple("Window", "operators kernels table")


def sizes(shapes):
    """As torch's table has them: a list of tensors is empty."""
    return json.dumps([[] if any(isinstance(size, list) for size in one) else one for one in shapes or []])


def kernel_key(name):
    """Copies and sets are named otherwise by everybody."""
    found = re.match(r"\[?(?:CUDA )?(mem(?:cpy|set))", name, re.IGNORECASE)
    return found.group(1).lower() if found else packed(name)


def operators_of_trace(events):
    result = []
    for event in events:
        if event.get("cat") in ("cpu_op", "user_annotation") and event["name"] not in HIDDEN:
            args = event["args"]
            result.append(Operator(event["name"], event["tid"], args.get("Sequence number", -1), args.get("Fwd thread id", 0), event["ts"],
                                   event["ts"] + event["dur"], sizes(args.get("Input Dims"))))
    return result


def kernels_of_trace(events):
    """{(name of the operator that started it, name): count} of kernels, copies and sets."""
    names = {event["args"].get("External id"): event["name"] for event in events if event.get("cat") == "cpu_op"}
    return collections.Counter((names.get(event["args"].get("External id"), ""), kernel_key(event["name"]))
                               for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))


def table_of_torch(rows, names):
    """Of the table's rows those of these names: it has calls of CUDA, too."""
    result = collections.Counter()
    for name, shapes, count in rows:
        if name in names:
            result[(name, sizes(shapes))] += count
    return result


def windows_of(operators):
    """[[Operator]] within each range `measured`, that range among them."""
    marks = sorted((op for op in operators if op.name == MARK), key=lambda op: op.start)
    return [[op for op in operators if op.start >= mark.start and op.end <= mark.end] for mark in marks]


def profiled(folder):
    """[Window], one of each file."""
    result = []
    for number in range(ROUNDS):
        with open(os.path.join(folder, f"{number}.json"), encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        with open(os.path.join(folder, f"{number}.table.json"), encoding="utf-8") as f:
            rows = json.load(f)
        operators = windows_of(operators_of_trace(events))[0]
        result.append(Window(operators, kernels_of_trace(events), table_of_torch(rows, {op.name for op in operators})))
    return result


def with_engine(operators, scopes):
    """torch.profiler gives what autograd's engine runs the numbers of the backward operator that begins next in it; torch itself does not."""
    result, following = list(operators), {}
    for i in reversed(range(len(result))):
        op, after = result[i], following.get(result[i].thread)
        following[op.thread] = i
        if op.name.startswith(ENGINE) and after is not None and scopes[after] == BACKWARD:
            result[i] = op._replace(sequence=result[after].sequence, forward=result[after].forward)
    return result


def operators_of_report(path):
    rows = harness.sql(path, """select o.name, t.thread, coalesce(o.sequence, -1), coalesce(o.forward, 0), o.start, o.end, o.shapes,
                                       coalesce(o.scope, 0)
                                from sonde_torch_op o left join sonde_track t on t.id = o.track order by o.start, o.end desc""")
    operators = [Operator(row[0], *(int(value or 0) for value in row[1:6]), sizes(json.loads(row[6] or "[]"))) for row in rows]
    return [op for op in with_engine(operators, [int(row[7]) for row in rows]) if op.name not in HIDDEN]


def kernels_of_report(path):
    """As kernels_of_trace(), of the whole report."""
    demangle = demangler()
    names = {f["name"]: demangle(f["mangled"]) if demangle and f["mangled"] else f["name"] for f in cuda_report.functions(path).values()}
    result = collections.Counter()
    for row in harness.stats(path, "torch_kernel_sum"):
        result[(row["Operator"], kernel_key(names.get(row["Kernel"], row["Kernel"])))] += int(row["Instances"])
    return result


def table_of_report(path):
    result = collections.Counter()
    for name, shapes, count in harness.sql(path, """select name, inputShapes, count from torch_op_stats('name,shapes')
                                                    where kind in ('op', 'annotation')"""):
        result[(name, sizes(json.loads(shapes or "[]")))] += int(count)
    return result


def main_thread(operators):
    return next((op.thread for op in operators if op.name == MARK), None)


def names_and_threads(operators):
    """{(name, whether it is on the thread of the training): count}."""
    main = main_thread(operators)
    return collections.Counter((op.name, op.thread == main) for op in operators)


def by_shapes(operators):
    return collections.Counter((op.name, op.shapes) for op in operators)


def by_sequence(operators):
    """{(name, sequence number from the first one of the window, forward thread): count}: numbers count up from window to window."""
    main = main_thread(operators)
    numbered = [op for op in operators if op.sequence >= 0 and (op.forward or op.thread == main)]
    first = min((op.sequence for op in numbered), default=0)
    return collections.Counter((op.name, op.sequence - first, op.forward) for op in numbered)


def backward_pairs(operators):
    """{(backward operator, the last forward operator begun before it with its sequence number, or None): count}."""
    main, forward = main_thread(operators), {}
    result = collections.Counter()
    for op in sorted(operators, key=lambda op: op.start):
        if op.sequence < 0:
            continue
        if op.forward:
            result[(op.name, forward.get(op.sequence))] += 1
        elif main is None or op.thread == main:
            forward[op.sequence] = op.name
    return result


VIEWS = {"names, counts, threads": names_and_threads, "shapes": by_shapes, "sequence numbers, forward threads": by_sequence,
         "backward and forward": backward_pairs}


def compare_windows(ours, theirs, context):
    """Each view of the first window that differs, or else of the last one."""
    same("torch ops: windows", len(ours), len(theirs), context)
    pairs = list(zip(ours, theirs))
    for name, view in VIEWS.items():
        seen = [(number, view(mine), view(other)) for number, (mine, other) in enumerate(pairs)]
        number, mine, other = next((one for one in seen if one[1] != one[2]), seen[-1] if seen else (0, None, {}))
        same(f"torch ops: {name}", mine, other, f"in window {number} {context}")


def check_backward(what, operators):
    """None may be without its forward operator."""
    pairs = backward_pairs(operators)
    strays = {pair: times for pair, times in pairs.items() if pair[1] is None}
    holds(f"{what}: backward operators have the sequence numbers of forward ones", pairs and not strays, strays or "there are none")
    holds(f"{what}: aten::addmm is the forward operator of AddmmBackward0", pairs[("AddmmBackward0", "aten::addmm")] > 0, dict(pairs.most_common(8)))


def check_told(what, path):
    told = cuda_report.diagnostics(path, 0)
    odd = [text for text in told if "PyTorch" in text]
    same(f"{what}: nothing is said of operators, as of a layout that is not known", odd, [])
    same(f"{what}: no operator was left open", cuda_report.count(path, "torch_op", f"where flags & {OPEN}"), 0)
    same(f"{what}: nothing lost", harness.events_lost(path), {}, told)


def compare(path, theirs):
    """The whole report against the windows of torch.profiler."""
    ours = windows_of(operators_of_report(path))
    note(f"operators a step: Sonde {[len(window) / STEPS for window in ours]}, torch.profiler {[len(window.operators) / STEPS for window in theirs]}")
    compare_windows(ours, [window.operators for window in theirs], cuda_report.diagnostics(path))
    check_backward("torch ops", ours[-1] if ours else [])
    same("torch ops: torch's own table, by shapes", table_of_report(path), sum((window.table for window in theirs), collections.Counter()))
    same("torch ops: kernels by operator", kernels_of_report(path), sum((window.kernels for window in theirs), collections.Counter()))
    check_told("torch ops", path)


def test_operators():
    """A deterministic training of a transformer, recorded by torch.profiler and by Sonde in turn."""
    folder = os.path.join(harness.WORK, "torch_operators")
    os.makedirs(folder, exist_ok=True)
    command = python_program("torch_operators.py", str(ROUNDS), str(STEPS), folder, need="torch")
    alone = [json.loads(line) for line in plain(command, seconds=120).stdout.splitlines() if line.startswith("{")]
    recorded = record("torch_ops", command, ("--pytorch=ops,shapes", "-c", "cudaProfilerApi", "--capture-range-end=repeat"), seconds=150, hint=False)
    theirs = profiled(folder)
    shutil.rmtree(folder)
    same("torch ops: losses to the last bit", recorded.told("losses"), alone)
    compare(recorded.path, theirs)


def check_attached(what, path):
    """Recorded from some moment on: what is there must fit together."""
    operators = operators_of_report(path)
    names = collections.Counter(op.name for op in operators)
    holds(f"{what}: operators", names["aten::addmm"] > 20 and names["AddmmBackward0"] > 20, (dict(names.most_common(8)), cuda_report.diagnostics(path, 0)))
    # A step that was under way has backward operators alone.
    begun = next((op.start for op in operators if op.name.startswith("Optimizer.zero_grad")), 0)
    check_backward(what, [op for op in operators if op.start >= begun])
    kernels = kernels_of_report(path)
    owned = sum(times for (operator, _), times in kernels.items() if operator)
    total = sum(kernels.values())
    note(f"{what}: {len(operators)} operators, {owned} of {total} kernels, copies and sets have one")
    holds(f"{what}: kernels have operators", owned > 50 and total - owned <= 40, dict(kernels.most_common(8)))
    odd = [text for text in cuda_report.diagnostics(path, 0) if "PyTorch" in text]
    same(f"{what}: nothing is said of operators, as of a layout that is not known", odd, [])


def test_attach():
    """A training that is attached to twice: both reports have operators and their kernels, its losses are those of an undisturbed one."""
    command = python_program("torch_train_on.py", TRAIN_ON, need="torch")
    alone = Running(command, hint=False)
    alone.end()
    running = Running(command, hint=False)
    for turn in ("first", "second"):
        path = attach(f"attach-ops-{turn}", running.process.pid, options=("--pytorch=ops",))
        check_attached(f"attach with operators, {turn}", path)
    holds("attach with operators: the program was still there", running.process.poll() is None, "it had ended")
    same("attach with operators: the program's end", running.end(), 0)
    same("attach with operators: the same losses", running.told[-1]["losses"], alone.told[-1]["losses"])


TESTS = {"torch_ops": test_operators, "torch_ops_attach": test_attach}
