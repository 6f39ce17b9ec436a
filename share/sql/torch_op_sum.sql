-- title: PyTorch Operator Summary
-- alias: torchopsum
-- requires: class cpu_op | class user_annotation | sonde_torch_op | range aten::*
-- skipped: PyTorch operators
-- option: shapes one row for each name and the shapes of its inputs
-- option: mem memory that was allocated less what was released, where the trace has it
-- option: flops floating-point operations, of those operators that torch has a formula for
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- option: rows=-1 at most so many rows
-- column: Name = text
-- column: Self CPU = percent
-- column: Self CPU = time
-- column: CPU total = percent
-- column: CPU total = time
-- column: CPU time avg = average
-- column: Self CUDA = time
-- column: Self CUDA = percent
-- column: CUDA total = time
-- column: CUDA time avg = average
-- column: CPU Mem = number if mem
-- column: Self CPU Mem = number if mem
-- column: CUDA Mem = number if mem
-- column: Self CUDA Mem = number if mem
-- column: # of Calls = number
-- column: Input Shapes = text if shapes
-- column: Total FLOPs = number if flops
-- help: What torch.profiler's key_averages().table() shows, from an imported trace: operators, annotations, calls of CUDA, and the work of GPUs.
-- help: Total includes what an operator called and the kernels that started; Self does not. Self CPU (%) and CPU total (%) are shares of all Self CPU;
-- help: Self CUDA (%) of the time of all work on GPUs. That work has rows of its own, and counts for the operator that started it, too.
-- help: Memory is in bytes. Sorted by Self CUDA, then by Self CPU (torch's own default is the order in which names first appear).
SELECT
	name,
	100.0 * selfCpuTime / nullif(sum(selfCpuTime) OVER (), 0),
	selfCpuTime,
	100.0 * cpuTime / nullif(sum(selfCpuTime) OVER (), 0),
	cpuTime,
	1.0 * cpuTime / count,
	selfDeviceTime,
	100.0 * selfDeviceTime / nullif(sum(CASE WHEN onDevice AND NOT isAnnotation THEN selfDeviceTime ELSE 0 END) OVER (), 0),
	deviceTime,
	1.0 * deviceTime / count,
	cpuMemory, selfCpuMemory, deviceMemory, selfDeviceMemory,
	count,
	inputShapes,
	flops
FROM torch_op_stats(CASE WHEN :shapes THEN 'shapes' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END)
ORDER BY selfDeviceTime DESC, selfCpuTime DESC, cpuTime DESC, name, onDevice, inputShapes
LIMIT :rows
