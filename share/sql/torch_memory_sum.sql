-- title: PyTorch Memory Summary
-- alias: torchmemsum
-- default: 26
-- requires: sonde_torch_memory | sonde_torch_segment
-- skipped: memory snapshots of PyTorch
-- column: Device = id
-- column: Peak Allocated = size
-- column: Peak Allocated At = time
-- column: Peak Reserved = size
-- column: Peak Reserved At = time
-- column: Allocated at End = size
-- column: Reserved at End = size
-- column: Inactive at End = size
-- column: Fragmentation = percent
-- column: Allocations = number
-- column: Frees = number
-- column: OOMs = number
-- help: Memory of PyTorch's caching allocator, a row for each GPU of an imported memory snapshot. Allocated counts what the program asked for,
-- help: reserved what the allocator took from CUDA. Peaks are those of the events in the snapshot, and the first moment counts.
-- help: Inactive is the part of the segments that no block in use has at the end; Fragmentation (%) is its share of what is reserved then.
WITH
	curves AS MATERIALIZED (SELECT track, gpu, metric FROM sonde_gpu_metric WHERE source = 3),
	peaks AS MATERIALIZED (
		SELECT v.gpu, v.metric, max(c.integer) AS bytes, c.time AS at
		FROM curves v JOIN sonde_counter c ON c.track = v.track GROUP BY v.track
	),
	ends AS MATERIALIZED (
		SELECT v.gpu, v.metric, c.integer AS bytes, max(c.time)
		FROM curves v JOIN sonde_counter c ON c.track = v.track GROUP BY v.track
	),
	events AS MATERIALIZED (
		SELECT t.domain AS gpu, e.action, count(*) AS count
		FROM sonde_torch_memory e JOIN sonde_track t ON t.id = e.track GROUP BY t.domain, e.action
	),
	segments AS MATERIALIZED (
		SELECT gpu, sum(bytes) AS bytes, sum(bytes - active) AS inactive FROM sonde_torch_segment GROUP BY gpu
	)
SELECT
	g."index", allocated.bytes, allocated.at, reserved.bytes, reserved.at, allocated_end.bytes, reserved_end.bytes,
	coalesce(s.inactive, 0), 100.0 * s.inactive / nullif(s.bytes, 0),
	(SELECT coalesce(sum(count), 0) FROM events e WHERE e.gpu = g.uid AND e.action = 'alloc'),
	(SELECT coalesce(max(count), 0) FROM events e WHERE e.gpu = g.uid AND e.action IN ('free_requested', 'free_completed')),
	(SELECT coalesce(sum(count), 0) FROM events e WHERE e.gpu = g.uid AND e.action = 'oom')
FROM sonde_gpu g
JOIN peaks allocated ON allocated.gpu = g.uid AND allocated.metric = 'torch.allocated'
JOIN peaks reserved ON reserved.gpu = g.uid AND reserved.metric = 'torch.reserved'
JOIN ends allocated_end ON allocated_end.gpu = g.uid AND allocated_end.metric = 'torch.allocated'
JOIN ends reserved_end ON reserved_end.gpu = g.uid AND reserved_end.metric = 'torch.reserved'
LEFT JOIN segments s ON s.gpu = g.uid
ORDER BY g."index"
