-- title: Vulkan GPU Range Summary
-- alias: vulkangpumarkersum
-- default: 61
-- requires: class VULKAN_WORKLOAD
-- skipped: Vulkan GPU debug extension data
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Range = text
-- help: Time of Vulkan work and its ranges on the GPU, by name. As an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key2
FROM group_stats('sonde_slice', 'class, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
WHERE key = 'VULKAN_WORKLOAD'
ORDER BY sum DESC, key2, key
