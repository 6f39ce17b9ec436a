-- title: NVTX GPU Projection Trace
-- alias: nvtxgpuproj, nvtxgpuprojtrace
-- requires: NVTX_EVENTS
-- skipped: NV Tools Extension (NVTX) data with GPU work
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Name = text
-- column: Projected Start = time
-- column: Projected Duration = time
-- column: Orig Start = time
-- column: Orig Duration = time
-- column: Style = text
-- column: PID = id
-- column: TID = id
-- column: NumGPUOps = number
-- column: Lvl = id
-- column: NumChild = number
-- column: RangeId = id
-- column: ParentId = id
-- column: RangeStack = text
-- note: SELECT count || CASE count WHEN 1 THEN ' range' ELSE ' ranges' END || ' never ended; not shown.' FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1')
-- help: NVTX ranges projected onto the GPUs, in order of their GPU work: from the begin of the first to the end of the last
-- help: whose call was made in the range, on its thread. Ranges that end on another thread and ranges without GPU work are left out.
SELECT
	coalesce(domainName, '') || ':' || coalesce(CASE WHEN :group THEN fold_numbers(name) ELSE name END, ''), projStart, projDuration, start, duration, style, pid, tid,
	gpuOps, level, numChild, rangeId, parentId, rangeStack
FROM nvtx_projection
WHERE gpuOps > 0
ORDER BY projStart, rangeId
