-- title: CUDA Kernel Launch & Exec Time Trace
-- alias: kernexectrace
-- requires: CUPTI_ACTIVITY_KIND_KERNEL
-- skipped: CUDA kernel data
-- option: nvtx-name the name of the innermost NVTX range around the launch stands before the kernel's, RANGE/KERNEL
-- option: base names of kernels without templates and parameters
-- option: mangled names of kernels as the linker writes them
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: API Start = time
-- column: API Dur = time
-- column: Queue Start = time
-- column: Queue Dur = time
-- column: Kernel Start = time
-- column: Kernel Dur = time
-- column: Total Dur = time
-- column: PID = id
-- column: TID = id
-- column: DevId = id
-- column: API Function = text
-- column: GridXYZ = text
-- column: BlockXYZ = text
-- column: Kernel Name = text
-- note: SELECT n || CASE n WHEN 1 THEN ' kernel' ELSE ' kernels' END || ' without a recorded launch; not shown.' FROM (SELECT sum(count) AS n FROM group_stats('cuda_kernel_exec', 'globalTid', 'kernelDuration') WHERE key IS NULL) WHERE n > 0
-- help: Each kernel from the call that launched it to its end. Queue: from the end of the call to the begin of the
-- help: kernel, where that is later. Total: from the begin of the call to the end of the later of both.
SELECT
	apiStart, apiDuration, queueStart, queueDuration, kernelStart, kernelDuration, totalDuration,
	pid, tid, deviceId, apiName, grid, block, CASE WHEN :group THEN fold_numbers(shown) ELSE shown END
FROM cuda_kern_exec_trace(CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END, :nvtx_name)
