-- title: CUDA GPU Kernel Summary
-- alias: gpukernsum
-- default: 22
-- requires: CUPTI_ACTIVITY_KIND_KERNEL
-- skipped: CUDA kernel data
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
-- column: Name = text
-- help: Time kernels took on the GPUs by name. Time (%) is the share of the sum of all rows.
-- help: With nvtx-name, nodes of a graph launched outside of all ranges have the range they were captured in.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev,
	CASE WHEN key3 IS NULL THEN '' ELSE coalesce(key2, '') || ':' || key3 || '/' END || coalesce(key, '[Unknown]') AS name
FROM group_stats('cuda_gpu_ops',
	CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END ||
	CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'duration', 'kind = 1')
ORDER BY sum DESC, name
