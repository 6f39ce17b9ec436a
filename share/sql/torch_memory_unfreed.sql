-- title: PyTorch Memory Not Freed
-- alias: torchmemunfreed
-- default: 28
-- requires: sonde_torch_allocation
-- skipped: memory snapshots of PyTorch
-- option: stack one row for each stack of calls, innermost first, instead of each line of the program
-- option: rows=-1 at most so many rows
-- column: Share = percent
-- column: Bytes = size
-- column: Blocks = number
-- column: First = time
-- column: Last = time
-- column: Device = id
-- column: Function = text
-- column: File = text
-- column: Line = id
-- column: Stack = text if stack
-- help: What was allocated within the events of an imported memory snapshot of PyTorch, and still was when it was taken: weights, caches, and
-- help: what leaks. A row is the innermost line of the program that allocated it, as in torch_memory_peak. First and Last are the times of
-- help: the first and the last of these allocations: those of a leak go on to the end. Share (%) is of all bytes that were not freed.
WITH RECURSIVE
	held AS MATERIALIZED (
		SELECT a.gpu, a.frame, CASE WHEN :stack THEN a.stack END AS stack, sum(a.bytes) AS bytes, count(*) AS count, min(a.start) AS first,
			max(a.start) AS last
		FROM sonde_torch_allocation a WHERE a.start IS NOT NULL AND a."end" IS NULL
		GROUP BY a.gpu, 2, 3
	),
	names AS MATERIALIZED (
		SELECT f.id, y.name, m.path, nullif(f.offset, 0) AS line
		FROM sonde_frame f LEFT JOIN sonde_module m ON m.uid = f.module
		LEFT JOIN sonde_frame_symbol s ON s.frame = f.id LEFT JOIN sonde_symbol y ON y.id = s.symbol
	),
	nodes AS MATERIALIZED (SELECT id, parent, frame FROM sonde_stack WHERE :stack),
	callers(stack, node, depth) AS (
		SELECT DISTINCT stack, stack, 0 FROM held WHERE :stack AND stack IS NOT NULL
		UNION ALL
		SELECT c.stack, n.parent, c.depth + 1 FROM callers c JOIN nodes n ON n.id = c.node WHERE n.parent IS NOT NULL AND c.depth < 63
	),
	stacks AS MATERIALIZED (
		SELECT stack, group_concat(text, ' < ') AS text FROM (
			SELECT c.stack, coalesce(f.name, '?') || coalesce(' (' || f.path || coalesce(':' || f.line, '') || ')', '') AS text
			FROM callers c JOIN nodes n ON n.id = c.node JOIN names f ON f.id = n.frame ORDER BY c.stack, c.depth
		) GROUP BY stack
	)
SELECT 100.0 * h.bytes / nullif(sum(h.bytes) OVER (PARTITION BY h.gpu), 0), h.bytes, h.count, h.first, h.last, g."index", n.name, n.path, n.line,
	k.text
FROM held h JOIN sonde_gpu g ON g.uid = h.gpu LEFT JOIN names n ON n.id = h.frame LEFT JOIN stacks k ON k.stack = h.stack
ORDER BY g."index", h.bytes DESC, n.path, n.line, n.name, h.stack
LIMIT :rows
