-- title: File Access Summary
-- default: 40
-- requires: OSRT_FILE_ACCESS_EVENTS
-- skipped: file accesses (record with --osrt-file-access=true)
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Opens = number
-- column: Reads = number
-- column: Bytes Read = number
-- column: Writes = number
-- column: Bytes Written = number
-- column: MB/s = number
-- column: Path = text
-- help: What was read from and written to each file, over all its openings. Total Time is that of all calls on the
-- help: file; MB/s is what was read and written, in millions of bytes, by the time that the reads and writes took.
-- help: Opens counts openings during the recording.
WITH
	calls AS MATERIALIZED (
		SELECT key AS file, key2 AS type, count, sum AS time
		FROM group_stats('OSRT_FILE_ACCESS_EVENTS', 'fileAccessId, eventType', 'duration')
	),
	volumes AS MATERIALIZED (
		SELECT key AS file, key2 AS type, sum AS bytes
		FROM group_stats('OSRT_FILE_ACCESS_EVENTS', 'fileAccessId, eventType', 'bytesProcessed', 'bytesProcessed > 0')
	),
	files AS MATERIALIZED (SELECT id, path, opened IS NOT NULL AS opened FROM sonde_file),
	-- One list instead of a second join, for which SQLite makes no index: tens of thousands of files took a minute.
	sums AS (
		SELECT file, type, count, time, NULL AS bytes FROM calls
		UNION ALL SELECT file, type, NULL, NULL, bytes FROM volumes
	),
	by_file AS MATERIALIZED (
		SELECT file, sum(time) AS time, sum(count) FILTER (WHERE type = 3) AS reads,
			sum(count) FILTER (WHERE type = 4) AS writes, sum(time) FILTER (WHERE type IN (3, 4)) AS moving,
			sum(bytes) FILTER (WHERE type = 3) AS bytes_read, sum(bytes) FILTER (WHERE type = 4) AS bytes_written
		FROM sums GROUP BY file
	),
	by_path AS (
		SELECT CASE WHEN :group THEN fold_numbers(f.path) ELSE f.path END AS path, sum(f.opened) AS opens, total(c.time) AS time, total(c.reads) AS reads,
			total(c.writes) AS writes, total(c.moving) AS moving, total(c.bytes_read) AS bytes_read,
			total(c.bytes_written) AS bytes_written
		FROM files f JOIN by_file c ON c.file = f.id
		GROUP BY 1
	)
SELECT
	100.0 * time / nullif(sum(time) OVER (), 0), CAST(time AS INTEGER), opens, CAST(reads AS INTEGER),
	CAST(bytes_read AS INTEGER), CAST(writes AS INTEGER), CAST(bytes_written AS INTEGER),
	round(1000.0 * (bytes_read + bytes_written) / nullif(moving, 0), 1), path
FROM by_path
ORDER BY time DESC, path
