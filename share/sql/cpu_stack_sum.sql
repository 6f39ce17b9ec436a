-- title: CPU Stack Summary
-- skipped: stacks of that kind
-- option: folded one row per stack, its functions joined by ';' from the outermost on, as flame graphs need it
-- option: min=1 leave out rows with less than this percentage; 0: all
-- option: osrt time in calls of the OS runtime, by who called them
-- option: offcpu time spent waiting, by where a thread left the CPU
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Time = time
-- column: Samples = number
-- column: Self = percent if !folded
-- column: Self Time = time if !folded
-- column: Stack = text
-- note: SELECT text FROM (SELECT 1 AS place, 'Sampled: ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.event') || coalesce(' at ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.frequency') || ' Hz', ' every ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.period') || ' ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.unit'), '') || coalesce(', stacks by ' || (SELECT value FROM sonde_meta WHERE key = 'sampling.backtrace'), '') || '.' AS text WHERE NOT :osrt AND NOT :offcpu UNION ALL SELECT 2, sum(count) || ' samples or switches were lost: the kernel''s buffer was full.' FROM sonde_loss WHERE reason = 9 AND NOT :osrt UNION ALL SELECT 3, 'Stacks below ' || :min || ' % are not shown: cpu_stack_sum:min=0 shows all.' WHERE :min > 0) ORDER BY place
-- help: Who called what, from the outermost function on; each line has the time of what it called in it,
-- help: Self is what it took itself. What took most comes first. Below [truncated] are stacks without their
-- help: outermost callers.
SELECT
	100.0 * part / whole, time, count, 100.0 * coalesce(self_time, self_count) / whole, self_time,
	CASE WHEN :folded THEN name ELSE replace(hex(zeroblob(depth)), '00', '  ') || name END
FROM (
	SELECT *, CASE WHEN :folded THEN self_time ELSE total_time END AS time,
		CASE WHEN :folded THEN self_count ELSE total_count END AS count,
		CASE WHEN :folded THEN coalesce(self_time, self_count) ELSE coalesce(total_time, total_count) END AS part,
		nullif(sum(coalesce(self_time, self_count)) OVER (), 0) AS whole, s.rowid AS place
	FROM stack_stats(CASE WHEN :osrt THEN 'osrt' WHEN :offcpu THEN 'offcpu' ELSE 'samples' END,
		CASE WHEN :folded THEN 'folded' ELSE 'tree' END || CASE WHEN :group THEN '#' ELSE '' END) s
)
WHERE 100.0 * part >= :min * whole
ORDER BY place
