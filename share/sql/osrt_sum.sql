-- title: OS Runtime Summary
-- alias: osrtsum
-- default: 20
-- requires: OSRT_API
-- skipped: OS Runtime trace data
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
-- note: SELECT count || CASE count WHEN 1 THEN ' call' ELSE ' calls' END || ' had not returned at the end; not counted.' FROM group_stats('OSRT_API', '', 'start', 'open = 1')
-- help: Time spent in functions of the OS runtime (locks, files, sockets, sleeping, processes) by name.
-- help: Calls shorter than --osrt-threshold and locks that were free are not recorded.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key
FROM group_stats('OSRT_API', 'name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
ORDER BY sum DESC, key
