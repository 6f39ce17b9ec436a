-- title: NVTX Push/Pop Range Trace
-- alias: nvtxpptrace
-- requires: NVTX_EVENTS
-- skipped: NV Tools Extension (NVTX) data
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Start = time
-- column: End = time
-- column: Duration = time
-- column: DurChild = time
-- column: DurNonChild = time
-- column: Name = text
-- column: PID = id
-- column: TID = id
-- column: Lvl = id
-- column: NumChild = number
-- column: RangeId = id
-- column: ParentId = id
-- column: RangeStack = text
-- column: NameTree = text
-- note: SELECT count || CASE count WHEN 1 THEN ' range' ELSE ' ranges' END || ' never ended: End and Duration are empty.' FROM group_stats('NVTX_EVENTS', '', 'start', 'open = 1 and eventType = 59')
-- help: Every NVTX push/pop range in order of start, with its position among the ranges around it.
-- help: DurChild is the time in ranges directly inside, RangeStack the ids from the outermost range in.
SELECT
	start, end, duration, durChild, duration - durChild,
	coalesce(domainName, '') || ':' || coalesce(CASE WHEN :group THEN fold_numbers(name) ELSE name END, ''),
	pid, tid, level, numChild, rangeId, parentId, rangeStack,
	replace(hex(zeroblob(level)), '00', '--') || coalesce(domainName, '') || ':' || coalesce(CASE WHEN :group THEN fold_numbers(name) ELSE name END, '')
FROM nvtx_pushpop_tree
