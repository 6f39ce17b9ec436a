"""Reports of `sonde kernel` with a value planted for every metric that the sections name, so that what is shown of them is known in advance."""
import os
import re
import zlib

METRIC = re.compile(r"(?<![\w:.])(?:[a-z0-9]+__[a-z0-9_]+(?:\.[a-z0-9_]+)*)")
CHIP = 90
LAUNCH = {
    "launch__registers_per_thread": 40, "launch__shared_mem_per_block_static": 4096, "launch__shared_mem_per_block_dynamic": 0, "launch__barrier_count": 1,
    "launch__sm_count": 132, "device__attribute_clock_rate": 1980000, "device__attribute_memory_clock_rate": 3201000,
}
# What the memory throughput is the largest of: its own rollup of some of its counters.
PARTS = {f"{name}.avg.pct_of_peak_sustained_elapsed": value for name, value in (("l1tex__data_bank_reads", 88.5), ("lts__t_tag_requests", 20.5), ("dram__cycles_active", 61.25), ("l1tex__lsuin_requests", 3.0))}
OPCODES = {"FFMA": 5000, "LDG": 1200, "STG": 600, "BRA": 40}
# Instructions of the first kernel: place, text, line, executions, samples, of which waiting for memory.
CODE = [(0, "LDC R1, c[0x0][0x28]", 3, 64, 2, 0), (16, "LDG.E R2, desc[UR4][R4.64]", 4, 64, 900, 850), (32, "FMUL R5, R2, 2", 4, 64, 30, 0), (48, "STG.E desc[UR4][R4.64], R5", 5, 60, 120, 7), (64, "EXIT", 6, 64, 0, 0)]
SOURCE = "__global__ void scale(float *data, int n)\n{\n  int i = threadIdx.x;\n  float v = data[i] * 2;\n  if (i < n) data[i] = v;\n}\n"
FUNCTION = "_Z5scalePfi"
# NVTX ranges around the first launch: domain, name, level.
RANGES = [("", "step 3", 0), ("", "<forward>", 1), ("io", "loading", -1)]
SAMPLES = [3.0, 40.0, 80.0, 60.0, 5.0]
SAMPLED = "pmsampling:TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed"
# Taken as they are by the rules and roofs: sizes that a GPU can have.
SIZES = {
    "gpu__time_duration.sum": 2_500_000, "gpc__cycles_elapsed.max": 4_900_000, "gpc__cycles_elapsed.avg.per_second": 1.95e9, "dram__cycles_elapsed.avg.per_second": 3.1e9,
    "sm__cycles_elapsed.avg.per_second": 1.9e9, "smsp__cycles_elapsed.avg.per_second": 1.9e9, "lts__cycles_elapsed.avg.per_second": 1.8e9, "l1tex__cycles_elapsed.avg.per_second": 1.9e9,
    "dram__bytes.sum.per_second": 2.4e12, "dram__bytes.sum.peak_sustained": 1504.0,
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": 41.25, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 88.5,
    "l1tex__m_xbar2l1tex_read_bytes.sum.pct_of_peak_sustained_elapsed": 85.0, "dram__bytes_read.sum.pct_of_peak_sustained_elapsed": 12.0,
}


def fits(text):
    """Whether a row's "@9.0-10.3" has compute capability 9.0."""
    def number(part):
        return int(part.replace(".", "")) if part else None
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low, high = (number(first) or 0, number(last) or 999) if dash else (number(part), number(part))
        if low <= CHIP <= high:
            return True
    return False


def metrics_of(folder):
    """All counters that sections show for 9.0, without those that are sampled."""
    found = set()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            text = re.sub(r"\n\s*\|", " |", f.read())
        for line in text.splitlines():
            chip = re.match(r"@(\S+) ", line)
            if "=" not in line or (chip and not fits(chip[1])) or re.match(r"(title|about|sets|order|cc|group|columns) =", line):
                continue
            found |= set(METRIC.findall(line.split("=", 1)[1]))
    own = ("launch__", "device__", "nvlink__", "numa__", "c2clink__", "profiler__", "derived__", "sass__", "sm__maximum", "smsp__maximum", "smsp__pcsamp")
    return sorted(name for name in found if not name.startswith(own))


def value_of(name):
    if name in SIZES:
        return SIZES[name]
    number = zlib.crc32(name.encode())
    if "pct" in name or "rate" in name:
        return number % 9000 / 100
    if ".ratio" in name:
        return number % 3000 / 100
    return number % 5_000_000


def kernel_lines(result, values):
    lines = [f'kernel_metric 0 result={result} kind=1 name="{name}" {"integer" if isinstance(value, int) else "real"}={value}' for name, value in values.items()]
    lines += [f'kernel_metric 0 result={result} kind=1 name="sass__inst_executed_per_opcode" integer={sum(OPCODES.values())}']
    lines += [f'kernel_metric 0 result={result} kind=1 name="sass__inst_executed_per_opcode" integer={count} instance={i} label="{name}"' for i, (name, count) in enumerate(OPCODES.items())]
    lines += [f'kernel_metric 0 result={result} kind=1 name="{SAMPLED}" real={sum(SAMPLES) / len(SAMPLES)}']
    lines += [f'kernel_metric 0 result={result} kind=1 name="{SAMPLED}" real={value} instance={i} offset={i * 2000}' for i, value in enumerate(SAMPLES)]
    return lines


def range_lines():
    return [f'kernel_metric 0 result=1 kind={5 if level < 0 else 4} {f"name={chr(34)}{domain}{chr(34)} " if domain else ""}text="{name}" instance={max(level, 0)} integer=1000' for domain, name, level in RANGES]


def source_lines():
    lines = range_lines() + [f'kernel_metric 0 result=1 kind=1 name="profiler__source_error" text="{"a long reason, " * 20}"'] + ["kernel_code 0 id=1 process=1 crc=7 size=100", f"kernel_file 0 name=\"/src/scale.cu\" text=x'{SOURCE.encode().hex()}'"]
    for pc, sass, line, executed, samples, waiting in CODE:
        lines.append(f'kernel_instruction 0 code=1 function="{FUNCTION}" pc={pc} sass="{sass}" file="/src/scale.cu" line={line}')
        for metric, value in (("inst_executed", executed), ("thread_inst_executed", 16 * executed), ("smsp__pcsamp_sample_count", samples), ("smsp__pcsamp_warps_issue_stalled_long_scoreboard", waiting)):
            if value:
                lines.append(f'kernel_source 0 result=1 code=1 function="{FUNCTION}" pc={pc} metric="{metric}" value={value}')
    return lines


ERROR = "ERR_NVGPUCTRPERM: the driver lets only administrators count"


def report(sections, scale=1.0, names=("void scale<float>(float*, int)", "reduce(int const*, int*)"), only=None, error=False, warm=None):
    """The report's text and, for each kernel, its values by metric. `only`: metrics whose names it matches; `warm`: the part of each counter that it has with warm caches."""
    lines = ['meta 0 key="duration_ns" value="1000" number=1000', 'process 0 uid=1 pid=1000 name="counted" start=0',
             'gpu 0 uid=1 index=0 name="NVIDIA H200" chip="GH100" major=9 minor=0 sm_count=132', 'cuda_device 0 process=1 id=0 gpu=1 sm_count=132']
    truth = []
    for i, name in enumerate(names):
        counted = {metric: value_of(metric) for metric in metrics_of(sections) if not only or re.search(only, metric)}
        factor = scale * (1 + i)
        values = {metric: int(value * factor) if isinstance(value, int) else round(value * (scale if "pct" in metric else factor), 6) for metric, value in counted.items()}
        if warm:
            values.update({f"{metric}.warm": int(value * warm) if isinstance(value, int) else round(value * warm, 6) for metric, value in values.items()})
        values.update(LAUNCH)
        if not only:
            values.update(PARTS)
        escaped = name.replace("\\", "\\\\").replace('"', '\\x22')
        lines.append(f'kernel_result 0 id={i + 1} number={i} process=1 device=0 context=1 stream=7 name="{escaped}" grid_x={1000 * (i + 1)} grid_y=2 grid_z=1 block_x=256 block_y=1 block_z=1 major=9 minor=0')
        lines += kernel_lines(i + 1, values)
        truth.append(values)
    if not only:
        lines += source_lines()
    if error:
        lines.append(f'kernel_result 0 id=9 number=9 process=1 device=0 name="refused()" grid_x=1 grid_y=1 grid_z=1 block_x=32 block_y=1 block_z=1 major=9 minor=0')
        lines.append(f'kernel_metric 0 result=9 kind=1 name="profiler__error" text="{ERROR}"')
    return "\n".join(lines) + "\n", truth


# Launches of a program: kernel, its range, its operator's range or none, duration, compute and memory throughput, bytes read, instructions.
STEPS = [
    ("mm(float*)", "step 0", "aten::mm, seq = 1, op_id = 3", 100_000, 80.0, 20.0, 1000, 500), ("relu(float*)", "step 0", "aten::relu, seq = 2", 10_000, 5.0, 90.0, 4000, 50),
    ("mm(float*)", "step 0", "aten::mm, seq = 3, op_id = 9", 102_000, 81.0, 21.0, 1010, 500), ("mm(float*)", "step 1", "aten::mm, seq = 4", 98_000, 79.0, 19.0, 990, 500),
    ("mm(float*)", "step 1", "aten::mm, seq = 5", 160_000, 50.0, 20.0, 1000, 500), ("relu(float*)", "step 1", "aten::relu, seq = 6", 12_000, 6.0, 88.0, 4100, 50),
    ("copy(char*)", "step 1", None, 7_000, 1.0, 60.0, 9000, 10), ("mm(float*)", "step 1", "aten::mm, seq = 7", 101_000, 80.5, 20.5, 1005, 500), ("alone()", None, None, 3_000, 1.0, 1.0, 10, 1),
]
STEP_METRICS = ("gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum", "smsp__inst_executed.sum")


def steps(count=None):
    """A report of these launches; with a count of so many, over and over, each a little longer than the one before it."""
    lines = ['meta 0 key="duration_ns" value="1000" number=1000', 'process 0 uid=1 pid=1000 name="counted" start=0',
             'gpu 0 uid=1 index=0 name="NVIDIA H200" chip="GH100" major=9 minor=0 sm_count=132', 'cuda_device 0 process=1 id=0 gpu=1 sm_count=132']
    for i in range(count or len(STEPS)):
        name, outer, inner, duration, *rest = STEPS[i % len(STEPS)]
        lines.append(f'kernel_result 0 id={i + 1} number={i} process=1 device=0 context=1 stream=7 name="{name}" grid_x=64 grid_y=1 grid_z=1 block_x=128 block_y=1 block_z=1 major=9 minor=0')
        lines += [f'kernel_metric 0 result={i + 1} kind=1 name="{metric}" {"integer" if isinstance(value, int) else "real"}={value}' for metric, value in zip(STEP_METRICS, (duration + (i if count else 0), *rest))]
        for level, text in enumerate(filter(None, (outer, inner))):
            lines.append(f'kernel_metric 0 result={i + 1} kind=4 text="{text}" instance={level} integer=1000')
    return "\n".join(lines) + "\n"


# Sections, a rule and words of a user's own: what stands in files of a folder and of one below it.
OWN_FILES = {
    "Mine.section": "title = Mine </script><b>\nabout = What I look at.\norder = 1\n\n[rows]\nRead Twice = 2 * dram__bytes_read.sum [byte]\n\n[bars Both Ways]\nRead = dram__bytes_read.sum [byte]\nWritten = dram__bytes_write.sum [byte]\n",
    "MyRule.rule": "title = My Rule\nsection = Mine\nabout = For the test.\n\n[inform My Rule]\nwhen = dram__bytes_read.sum > 0\ntext = It reads {dram__bytes_read.sum|0} bytes.\n",
    "mywords.txt": "kind = pipe\n\nmypipe = A pipe of my own.\n",
    "below/Deeper.section": "title = Deeper\nabout = In a folder below.\norder = 2\n\n[rows]\nWaves = launch__waves_per_multiprocessor\nDuration = gpu__time_duration.sum [ns]\n",
}


def own_folder(path):
    """Writes them."""
    for name, text in OWN_FILES.items():
        os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
        with open(os.path.join(path, name), "w", encoding="utf-8") as f:
            f.write(text)
    return path
