-- title: Vulkan Range Summary
-- alias: vulkanmarkerssum
-- default: 60
-- requires: class VULKAN_DEBUG_API
-- skipped: Vulkan debug extension data
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
-- help: Time in ranges of VK_EXT_debug_utils on the CPU, by name. As an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key2
FROM group_stats('sonde_slice', 'class, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
WHERE key = 'VULKAN_DEBUG_API'
ORDER BY sum DESC, key2, key
