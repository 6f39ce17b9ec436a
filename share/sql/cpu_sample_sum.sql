-- title: CPU Sample Summary
-- default: 30
-- requires: COMPOSITE_EVENTS
-- skipped: CPU samples
-- option: module one row per file of code instead of one per function
-- option: thread each thread separately
-- option: rows=30 show at most this many rows; 0: all
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Self = percent
-- column: Self Time = time
-- column: Self Samples = number
-- column: Total = percent
-- column: Total Time = time
-- column: Samples = number
-- column: Function = text if !module
-- column: Module = text
-- column: PID = id if thread
-- column: TID = id if thread
-- column: Thread = text if thread
-- note: SELECT text FROM (SELECT 1 AS place, 'Sampled: ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.event') || coalesce(' at ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.frequency') || ' Hz', ' every ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.period') || ' ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.unit'), '') || coalesce(', stacks by ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.backtrace'), '') || '.' AS text UNION ALL SELECT 2, sum(count) || ' samples or switches were lost: the kernel''s buffer was full.' FROM sonde_loss WHERE reason = 9 UNION ALL SELECT 3, (SELECT total_count || CASE total_count WHEN 1 THEN ' sample lacks its outermost callers: its stack was cut.' ELSE ' samples lack their outermost callers: their stacks were cut.' END FROM sample_stats('samples') WHERE function = '[truncated]') UNION ALL SELECT 4, (count(*) - :rows) || ' more rows are not shown: cpu_sample_sum:rows=0 shows all.' FROM sample_stats('samples', CASE WHEN :module THEN 'module' WHEN :group THEN 'function#' ELSE 'function' END || CASE WHEN :thread THEN ', thread' ELSE '' END) WHERE coalesce(function, module) != '[truncated]' HAVING :rows > 0 AND count(*) > :rows) ORDER BY place
-- help: Where the CPU time went. Self: the function itself was executing. Total: it or something it called,
-- help: directly or not; a function that calls itself counts once. Percentages are of all samples.
-- help: Code without a name is shown as FILE+0xOFFSET.
SELECT
	100.0 * coalesce(self_time, self_count) / whole, self_time, self_count,
	100.0 * coalesce(total_time, total_count) / whole, total_time, total_count,
	function, coalesce(module, CASE WHEN :module THEN function END), p.pid, t.tid, t.name
FROM (
	SELECT *, nullif(sum(coalesce(self_time, self_count)) OVER (), 0) AS whole
	FROM sample_stats('samples', CASE WHEN :module THEN 'module' WHEN :group THEN 'function#' ELSE 'function' END ||
		CASE WHEN :thread THEN ', thread' ELSE '' END)
	WHERE coalesce(function, module) != '[truncated]'
	ORDER BY coalesce(self_time, self_count) DESC, coalesce(total_time, total_count) DESC, function, module, thread
	LIMIT CASE WHEN :rows > 0 THEN :rows ELSE -1 END
) s LEFT JOIN (SELECT uid, tid, name, min(rowid) FROM sonde_thread GROUP BY uid) t ON t.uid = s.thread
	LEFT JOIN (SELECT uid, pid, min(rowid) FROM sonde_process GROUP BY uid) p ON p.uid = s.process
ORDER BY coalesce(self_time, self_count) DESC, coalesce(total_time, total_count) DESC, function, module, thread
