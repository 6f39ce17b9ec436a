-- title: NVTX Range Kernel Summary
-- alias: nvtxkernsum
-- requires: CUPTI_ACTIVITY_KIND_KERNEL
-- skipped: CUDA kernel data
-- option: base names of kernels without templates and parameters
-- option: mangled names of kernels as the linker writes them
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: NVTX Range = text
-- column: Style = text
-- column: PID = id
-- column: TID = id
-- column: NVTX Inst = number
-- column: Kern Inst = number
-- column: Total Time = time
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Kernel Name = text
-- help: Kernels by the NVTX ranges their launches were in, and by name. A kernel counts for every range around its launch;
-- help: kernels outside of all ranges have no range. NVTX Inst: ranges that have such a kernel.
SELECT
	CASE WHEN style IS NULL THEN NULL ELSE coalesce(domainName, '') || ':' || coalesce(rangeName, '') END AS range,
	style, pid, tid, ranges, count, sum, avg, med, min, max, stddev, coalesce(name, '[Unknown]') AS kernel
FROM nvtx_kernel_stats(CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END)
ORDER BY sum DESC, range, style, pid, tid, kernel
