-- title: Vulkan API Trace
-- requires: class VULKAN_API
-- skipped: Vulkan API data
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Start = time
-- column: Duration = time
-- column: Name = text
-- column: Event Class = id
-- column: Context = id
-- column: CorrID = id
-- column: Pid = id
-- column: Tid = id
-- column: T-Pri = id
-- column: Thread Name = text
-- help: Every call of Vulkan in order of start. As an imported trace has them.
WITH
facts AS MATERIALIZED (
	SELECT "set" AS args,
		max(integer) FILTER (WHERE key = 'eventClass') AS class,
		max(integer) FILTER (WHERE key = 'contextId') AS context,
		max(integer) FILTER (WHERE key = 'correlationId') AS correlation
	FROM sonde_arg WHERE key IN ('eventClass', 'contextId', 'correlationId') GROUP BY "set"
),
threads AS MATERIALIZED (
	SELECT t.id AS track, p.pid, h.tid, h.name
	FROM sonde_track t LEFT JOIN (SELECT uid, pid, min(rowid) FROM sonde_process GROUP BY uid) p ON p.uid = t.process
		LEFT JOIN (SELECT uid, tid, name, min(rowid) FROM sonde_thread GROUP BY uid) h ON h.uid = t.thread
	WHERE t.kind = 5
)
SELECT
	s.start, s.duration, CASE WHEN :group THEN fold_numbers(s.name) ELSE s.name END, f.class, f.context, f.correlation,
	t.pid, t.tid, NULL, t.name
FROM sonde_slice s LEFT JOIN facts f ON f.args = s.args LEFT JOIN threads t ON t.track = s.track
WHERE s.class = 'VULKAN_API'
ORDER BY s.start, s.end DESC
