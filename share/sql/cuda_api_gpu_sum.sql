-- title: CUDA Summary (API/Kernels/MemOps)
-- alias: apigpusum
-- requires: sonde_cuda_api | sonde_gpu_kernel | sonde_gpu_copy | sonde_gpu_set | sonde_gpu_graph
-- skipped: CUDA trace data
-- option: nvtx-name the name of the innermost NVTX range around the launch stands before the kernel's, RANGE/KERNEL
-- option: base names of kernels without templates and parameters
-- option: mangled names of kernels as the linker writes them
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Category = text
-- column: Operation = text
-- help: Time of calls of the CUDA runtime and driver, and of kernels, copies and sets on the GPUs, by name.
-- help: Time (%) is the share of the sum of all rows.
SELECT 100.0 * sum / nullif(sum(sum) OVER (), 0), *
FROM (
	SELECT sum, count, avg, med, min, max, stddev, 'CUDA_API' AS category, key AS name
	FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
	UNION ALL
	SELECT sum, count, avg, med, min, max, stddev, 'CUDA_KERNEL' AS category,
		CASE WHEN key3 IS NULL THEN '' ELSE coalesce(key2, '') || ':' || key3 || '/' END || coalesce(key, '[Unknown]') AS name
	FROM group_stats('cuda_gpu_ops',
		CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END ||
		CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'duration', 'kind = 1')
	UNION ALL
	SELECT sum, count, avg, med, min, max, stddev, CASE key WHEN 4 THEN 'CUDA_GRAPH' ELSE 'MEMORY_OPER' END,
		cuda_op_label(key, key2)
	FROM group_stats('cuda_gpu_ops', 'kind, copyKind', 'duration', 'kind >= 2 and kind <= 4')
)
ORDER BY sum DESC, category, name
