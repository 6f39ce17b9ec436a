-- title: CUDA GPU Kernel/Grid/Block Summary
-- alias: gpukerngbsum
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
-- column: GridXYZ = text
-- column: BlockXYZ = text
-- column: Name = text
-- help: Time kernels took on the GPUs by name, grid and block. Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev,
	printf('%4d %4d %4d', l.grid_x, l.grid_y, l.grid_z), printf('%4d %4d %4d', l.block_x, l.block_y, l.block_z),
	CASE WHEN key4 IS NULL THEN '' ELSE coalesce(key3, '') || ':' || key4 || '/' END || coalesce(key, '[Unknown]') AS name
FROM group_stats('cuda_gpu_ops',
	CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END || ', shape' ||
	CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'duration', 'kind = 1')
LEFT JOIN (SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z, min(rowid) FROM sonde_cuda_launch GROUP BY id) l ON l.id = key2
ORDER BY sum DESC, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, name
