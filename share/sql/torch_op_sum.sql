-- title: PyTorch Operator Summary
-- alias: torchopsum
-- requires: class cpu_op | class user_annotation | sonde_torch_op | range aten::*
-- skipped: PyTorch operators
-- option: shapes one row for each name and the shapes of its inputs
-- option: mem memory that was allocated less what was released, where the trace has it
-- option: flops floating-point operations, of those operators that torch has a formula for
-- option: tflops also operations by formulas of Sonde, where torch has none, and TFLOP/s of both in the GPU time of the operator
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- option: stack=0 one row for each name and the innermost so many functions of Python around it (with_stack=True)
-- option: modules one row for each name and the modules that were being called (with_stack=True)
-- option: top-level leave out what was called by another operator, as top_level_events_only
-- option: sort= sorted by a key of torch's sort_by: cuda_time_total, self_cpu_time_total, count ...
-- option: rows=-1 show at most this many rows
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
-- column: Source Location = text if stack
-- column: Module = text if modules
-- column: Total FLOPs = number if flops
-- column: Sonde FLOPs = number if tflops
-- column: TFLOP/s = decimal if tflops
-- help: What torch.profiler's key_averages().table() shows, from an imported trace: operators, annotations, calls of CUDA, and the work of GPUs.
-- help: Total includes what an operator called and the kernels that started; Self does not. Self CPU (%) and CPU total (%) are shares of all Self CPU;
-- help: Self CUDA (%) of the time of all work on GPUs. That work has rows of its own, and counts for the operator that started it, too.
-- help: Memory is in bytes. Sorted by Self CUDA, then by Self CPU (torch's own default is the order in which names first appear).
-- help: Backward operators have the Python functions and the modules of their forward operator; GPU work those of the operator that started it.
-- note: SELECT 'GPU time without an operator: ' || format_time(coalesce(sum(deviceTime) FILTER (WHERE op IS NULL), 0)) || ' of ' || format_time(sum(deviceTime)) || printf(' (%.1f%%)', 100.0 * coalesce(sum(deviceTime) FILTER (WHERE op IS NULL), 0) / sum(deviceTime)) FROM torch_op_stats('kernel') WHERE kind <> 'sync' HAVING sum(deviceTime) > 0
SELECT
	name,
	100.0 * selfCpuTime / nullif(allCpuTime, 0),
	selfCpuTime,
	100.0 * cpuTime / nullif(allCpuTime, 0),
	cpuTime,
	1.0 * cpuTime / count,
	selfDeviceTime,
	100.0 * selfDeviceTime / nullif(allDeviceTime, 0),
	deviceTime,
	1.0 * deviceTime / count,
	cpuMemory, selfCpuMemory, deviceMemory, selfDeviceMemory,
	count,
	inputShapes,
	replace(stack, char(10), '; '),
	module,
	flops,
	ownFlops,
	flopRate / 1e12
FROM (
	SELECT *, sum(selfCpuTime) OVER () AS allCpuTime,
		sum(CASE WHEN onDevice AND NOT isAnnotation THEN selfDeviceTime ELSE 0 END) OVER () AS allDeviceTime
	FROM torch_op_stats(
		CASE WHEN :shapes THEN 'name,shapes' ELSE 'name' END ||
		CASE WHEN :stack > 0 THEN printf(',stack=%d', :stack) ELSE '' END ||
		CASE WHEN :modules THEN ',module' ELSE '' END ||
		CASE WHEN :group THEN '#' ELSE '' END, :sort)
)
WHERE NOT (:top_level AND isNested)
ORDER BY sortKey DESC, CASE WHEN sortKey IS NOT NULL THEN first END,
	selfDeviceTime DESC, selfCpuTime DESC, cpuTime DESC, name, onDevice, inputShapes, stack, module
LIMIT :rows
