-- title: PyTorch Memory at the Peak
-- alias: torchmempeak
-- default: 27
-- requires: sonde_torch_allocation
-- skipped: memory snapshots of PyTorch
-- option: stack one row for each stack of calls, innermost first, instead of each line of the program
-- option: rows=-1 at most so many rows
-- column: Share = percent
-- column: Bytes = size
-- column: Blocks = number
-- column: Device = id
-- column: Function = text
-- column: File = text
-- column: Line = id
-- column: Stack = text if stack
-- help: What held memory when PyTorch had allocated most, for each GPU of an imported memory snapshot. A row is the innermost line of the
-- help: program that allocated it: the innermost that belongs neither to PyTorch nor to Python, or else the innermost of all.
-- help: Share (%) is of what was allocated then. What has no line was allocated before the first event, or without a stack.
WITH RECURSIVE
	peak AS MATERIALIZED (
		SELECT m.gpu, max(c.integer) AS bytes, c.time AS at
		FROM sonde_gpu_metric m JOIN sonde_counter c ON c.track = m.track
		WHERE m.source = 3 AND m.metric = 'torch.allocated' GROUP BY m.gpu
	),
	held AS MATERIALIZED (
		SELECT a.gpu, max(p.bytes) AS total, a.frame, CASE WHEN :stack THEN a.stack END AS stack, sum(a.bytes) AS bytes, count(*) AS count
		FROM peak p JOIN sonde_torch_allocation a ON a.gpu = p.gpu
		WHERE (a.start IS NULL OR a.start <= p.at) AND (a."end" IS NULL OR a."end" > p.at)
		GROUP BY a.gpu, 3, 4
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
SELECT 100.0 * h.bytes / nullif(h.total, 0), h.bytes, h.count, g."index", n.name, n.path, n.line, k.text
FROM held h JOIN sonde_gpu g ON g.uid = h.gpu LEFT JOIN names n ON n.id = h.frame LEFT JOIN stacks k ON k.stack = h.stack
ORDER BY g."index", h.bytes DESC, n.path, n.line, n.name, h.stack
LIMIT :rows
