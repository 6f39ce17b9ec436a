-- title: CUDA API Summary
-- alias: cudaapisum
-- default: 21
-- requires: CUPTI_ACTIVITY_KIND_RUNTIME
-- skipped: CUDA trace data
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Num Calls = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Name = text
-- note: SELECT count || CASE count WHEN 1 THEN ' call' ELSE ' calls' END || ' had not returned at the end; not counted.' FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', '', 'start', 'open = 1')
-- help: Time spent in calls of the CUDA runtime and driver by name.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key
FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', 'name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
ORDER BY sum DESC, key
