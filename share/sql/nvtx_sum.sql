-- title: NVTX Range Summary
-- alias: nvtxsum
-- default: 10
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
-- column: Style = text
-- column: Range = text
-- note: SELECT count || CASE count WHEN 1 THEN ' range' ELSE ' ranges' END || ' never ended; not counted.' FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1')
-- help: Time spent in NVTX ranges by name, push/pop and start/end ranges separately.
-- help: Time (%) is the share of the sum of all rows. A range is named DOMAIN:NAME.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev,
	CASE key WHEN 59 THEN 'PushPop' ELSE 'StartEnd' END,
	coalesce(key2, '') || ':' || coalesce(key3, '')
FROM group_stats('NVTX_EVENTS', 'eventType, domainName, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
ORDER BY sum DESC, key, key2, key3
