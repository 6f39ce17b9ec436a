-- title: PyTorch Module Summary
-- alias: torchmodulesum
-- requires: class python_function
-- skipped: calls of PyTorch modules (profile(with_stack=True) records them)
-- option: mem memory that was allocated less what was released, where the trace has it
-- option: depth=-1 leave out modules within more than so many others
-- option: rows=-1 at most so many rows
-- column: CUDA total = percent
-- column: CUDA total = time
-- column: Self CUDA = time
-- column: Bwd CUDA = time
-- column: CPU total = time
-- column: Self CPU = time
-- column: Bwd CPU = time
-- column: CPU Mem = number if mem
-- column: Self CPU Mem = number if mem
-- column: CUDA Mem = number if mem
-- column: Self CUDA Mem = number if mem
-- column: Calls = number
-- column: Module = text
-- help: Time and memory by the modules of PyTorch that were being called, from an imported trace with Python's functions (with_stack=True).
-- help: Total includes the modules within; Self does not. CUDA is the GPU work of the operators called there and of their backward operators;
-- help: Bwd is the backward part of it. CPU is the time from begin to end of the calls, forward alone; Bwd CPU is that of backward operators.
-- help: The row [outside of modules] is all other GPU work, such as that of the optimizer. Memory is in bytes. Sorted by CUDA total, then by CPU total.
SELECT
	100.0 * deviceTime / nullif(allDeviceTime, 0),
	deviceTime, selfDeviceTime, backwardDeviceTime,
	cpuTime, selfCpuTime, backwardCpuTime,
	cpuMemory, selfCpuMemory, deviceMemory, selfDeviceMemory,
	calls,
	coalesce(module, '[outside of modules]')
FROM (SELECT *, sum(selfDeviceTime) OVER () AS allDeviceTime FROM torch_module_stats)
WHERE :depth < 0 OR depth <= :depth
ORDER BY deviceTime DESC, cpuTime DESC, module
LIMIT :rows
