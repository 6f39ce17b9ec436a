-- title: MPI Event Summary
-- requires: class MPI_*_EVENTS
-- skipped: MPI event data
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Source = text
-- column: Name = text
-- help: Time spent in calls of MPI by kind and name. As an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev,
	CASE key WHEN 'MPI_P2P_EVENTS' THEN 'p2p' WHEN 'MPI_COLLECTIVES_EVENTS' THEN 'collectives'
		WHEN 'MPI_START_WAIT_EVENTS' THEN 'start_wait' ELSE 'other' END AS source,
	key2
FROM group_stats('sonde_slice', 'class, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
WHERE key GLOB 'MPI_*_EVENTS'
ORDER BY sum DESC, source, key2
