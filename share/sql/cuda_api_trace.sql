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
SELECT start, duration, CASE WHEN :group THEN fold_numbers(name) ELSE name END, returnValue, correlationId, pid, tid, NULL, threadName
FROM cuda_api_trace
