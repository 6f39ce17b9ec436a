-- title: Network Congestion
-- requires: class NET_*_METRIC
-- skipped: network metrics of switches or NICs with congestion
-- option: ticks_threshold=10000 ticks per ms of waiting from which on a time counts as congested
-- column: Start = time
-- column: End = time
-- column: Duration = time
-- column: Send wait rate = decimal
-- column: GUID = text
-- column: Name = text
-- help: When ports of the network had to wait with sending, in ticks per ms. As an imported trace has them.
WITH
facts AS MATERIALIZED (
	SELECT "set" AS args, max(integer) FILTER (WHERE key = 'value') AS ticks,
		max(coalesce(text, integer)) FILTER (WHERE key IN ('GUID', 'guid', 'globalId')) AS guid
	FROM sonde_arg WHERE key IN ('value', 'GUID', 'guid', 'globalId') GROUP BY "set"
)
SELECT s.start, s.end, s.duration, 1e6 * f.ticks / s.duration AS rate, f.guid, s.name
FROM sonde_slice s JOIN facts f ON f.args = s.args
WHERE s.class GLOB 'NET_*_METRIC' AND s.name LIKE '%wait%' AND s.duration > 0 AND 1e6 * f.ticks / s.duration >= :ticks_threshold
ORDER BY s.start, s.end, s.name
