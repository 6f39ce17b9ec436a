-- title: CUDA API Trace
-- alias: cudaapitrace
-- requires: CUPTI_ACTIVITY_KIND_RUNTIME
-- skipped: CUDA trace data
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Start = time
-- column: Duration = time
-- column: Name = text
-- column: Result = id
-- column: CorrID = id
-- column: Pid = id
-- column: Tid = id
-- column: T-Pri = id
-- column: Thread Name = text
-- note: SELECT count || CASE count WHEN 1 THEN ' call' ELSE ' calls' END || ' had not returned at the end: Duration is empty.' FROM group_stats('CUPTI_ACTIVITY_KIND_RUNTIME', '', 'start', 'open = 1')
-- help: Every call of the CUDA runtime and driver in order of start.
WITH names AS MATERIALIZED (
	SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId
)
SELECT
	c.start, c.apiDuration, CASE WHEN :group THEN fold_numbers(c.apiName) ELSE c.apiName END, c.returnValue, c.correlationId,
	c.globalTid / 0x1000000 % 0x1000000, c.globalTid % 0x1000000, NULL, n.value
FROM CUPTI_ACTIVITY_KIND_RUNTIME c LEFT JOIN names n ON n.globalTid = c.globalTid
ORDER BY c.start, c.end DESC
