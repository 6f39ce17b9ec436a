-- title: NVTX Push/Pop Range Summary
-- alias: nvtxppsum
-- requires: NVTX_EVENTS
-- skipped: NV Tools Extension (NVTX) data
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
-- note: SELECT count || CASE count WHEN 1 THEN ' range' ELSE ' ranges' END || ' never ended; not counted.' FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1 and eventType = 59')
-- help: Time spent in NVTX push/pop ranges by name.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev,
	coalesce(key, '') || ':' || coalesce(key2, '')
FROM group_stats('NVTX_EVENTS', 'domainName, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration', 'eventType = 59')
ORDER BY sum DESC, key, key2
