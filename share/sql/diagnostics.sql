-- title: Diagnostics
-- default: 1000
-- skipped: diagnostics
-- column: Time = time
-- column: Severity = text
-- column: Source = text
-- column: PID = id
-- column: Message = text
-- help: Messages of the agents, the recorder and the reader about this recording:
-- help: what could not be traced, events that were lost, ranges without an end.
SELECT time, CASE severity WHEN 1 THEN 'Info' WHEN 2 THEN 'Warning' WHEN 3 THEN 'Error' ELSE 'Unknown' END,
	source, pid, text
FROM (
	WITH processes AS (SELECT uid, pid, min(rowid) FROM sonde_process GROUP BY uid)
	SELECT d.time AS time, d.severity AS severity,
		CASE d.source WHEN 1 THEN 'agent' WHEN 2 THEN 'recorder' ELSE 'reader' END AS source,
		p.pid AS pid, d.text AS text
	FROM sonde_diagnostic d LEFT JOIN processes p ON p.uid = d.process
	UNION ALL
	SELECT max(l.time), CASE WHEN l.reason IN (4, 5, 13) THEN 1 ELSE 2 END, 'recorder', p.pid,
		sum(l.count) || CASE WHEN l.reason = 13 THEN ' stack' WHEN l.reason IN (11, 12) THEN ' GPU sample' ELSE ' event' END ||
		CASE sum(l.count) WHEN 1 THEN '' ELSE 's' END || CASE l.reason
			WHEN 1 THEN ' lost: the buffers were full. Record less: -t, --osrt-threshold'
			WHEN 2 THEN ' lost: the thread was inside the agent already, by a signal. Emit less in signal handlers'
			WHEN 3 THEN ' lost: more threads at once than there is room for. Raise ''ulimit -v'' and ''-f'', or start fewer at a time'
			WHEN 4 THEN ' not shown: a pop without a push, or whose push came before the window'
			WHEN 5 THEN ' not shown: an end of a range that was not started, or before the window'
			WHEN 6 THEN ' lost: records that could not be read. Please report this'
			WHEN 7 THEN ' lost: pops and ends whose push or start was lost. What keeps those keeps these'
			WHEN 8 THEN ' lost: the disk or ''ulimit -f'' left the report no room. Free some, or use -o'
			WHEN 9 THEN ' (samples or switches) lost: the kernel''s buffer was full. Lower --sampling-frequency'
			WHEN 10 THEN ' lost: CUPTI had no buffer for them. Record less of CUDA'
			WHEN 11 THEN ' lost: not read or written in time. Lower --gpu-metrics-frequency'
			WHEN 12 THEN ' (context switches) lost: not read or written in time. Leave out --gpuctxsw'
			WHEN 13 THEN ' shortened or left out: the buffers were nearly full. Their calls are there. Raise --osrt-backtrace-threshold'
			WHEN 14 THEN ' without a name or other details: the buffers were full. Record less: -t, --osrt-threshold'
			ELSE ' lost: reason ' || l.reason END
	FROM sonde_loss l LEFT JOIN processes p ON p.uid = l.process
	GROUP BY l.process, l.reason
	UNION ALL
	SELECT o.max, 1, 'recorder', p.pid, o.count || CASE o.count WHEN 1 THEN ' range' ELSE ' ranges' END ||
		' never ended; not counted in summaries'
	FROM group_stats('NVTX_EVENTS', 'processUid', 'start', 'open = 1') o
		LEFT JOIN processes p ON p.uid = o.key
	UNION ALL
	SELECT NULL, 2, 'reader', NULL, text FROM temp.sonde_note
)
ORDER BY time IS NULL, time
