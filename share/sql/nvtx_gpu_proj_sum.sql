-- title: NVTX GPU Projection Summary
-- alias: nvtxgpuprojsum
-- requires: NVTX_EVENTS
-- skipped: NV Tools Extension (NVTX) data with GPU work
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Range = text
-- column: Style = text
-- column: Total Proj Time = time
-- column: Total Range Time = time
-- column: Range Instances = number
-- column: Proj Avg = average
-- column: Proj Med = average
-- column: Proj Min = time
-- column: Proj Max = time
-- column: Proj StdDev = average
-- column: Total GPU Ops = number
-- column: Avg GPU Ops = decimal
-- column: Avg Range Lvl = decimal
-- column: Avg Num Child = decimal
-- note: SELECT count || CASE count WHEN 1 THEN ' range' ELSE ' ranges' END || ' never ended; not counted.' FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1')
-- help: NVTX ranges by name, projected onto the GPUs: from the begin of the first to the end of the last GPU work
-- help: whose call was made in the range, on its thread. Ranges that end on another thread and ranges without GPU work are left out.
SELECT
	coalesce(domainName, '') || ':' || coalesce(name, '') AS range, style, projTotal, rangeTotal, count,
	avg, med, min, max, stddev, gpuOps, 1.0 * gpuOps / count, 1.0 * levels / count, 1.0 * children / count
FROM nvtx_projection_stats(CASE WHEN :group THEN 'name#' ELSE 'name' END)
ORDER BY projTotal DESC, range, style
