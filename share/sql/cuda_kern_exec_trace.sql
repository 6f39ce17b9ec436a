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
	globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000, deviceId, apiName,
	printf('%4d %4d %4d', gridX, gridY, gridZ), printf('%4d %4d %4d', blockX, blockY, blockZ),
	CASE WHEN :nvtx_name AND nvtxName IS NOT NULL THEN coalesce(nvtxDomain, '') || ':' || CASE WHEN :group THEN fold_numbers(nvtxName) ELSE nvtxName END || '/' ELSE '' END ||
	coalesce(CASE WHEN :group THEN fold_numbers(CASE WHEN :base THEN base WHEN :mangled THEN mangled ELSE name END)
		WHEN :base THEN base WHEN :mangled THEN mangled ELSE name END, '[Unknown]') AS shown
FROM cuda_kernel_exec
WHERE apiStart IS NOT NULL
ORDER BY apiStart, kernelStart, shown
