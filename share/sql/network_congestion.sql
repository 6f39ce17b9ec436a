-- title: Network Congestion
-- requires: class NET_*_METRIC
-- skipped: network metrics of switches or NICs with congestion
-- option: ticks_threshold=10000 ticks per ms of waiting that count as congestion
-- column: Start = time
-- column: End = time
-- column: Duration = time
-- column: Send wait rate = decimal
-- column: GUID = text
-- column: Name = text
-- help: When ports of the network had to wait with sending, in ticks per ms. As an imported trace has them.
WITH
told AS MATERIALIZED (
	SELECT m.key AS source, a."set" AS id, max(a.integer) FILTER (WHERE a.key = 'metricsListId') AS list,
		max(a.integer) FILTER (WHERE a.key = 'metricsIdx') AS place, max(a.integer) FILTER (WHERE a.key = 'nicId') AS nic,
		max(a.integer) FILTER (WHERE a.key = 'globalId') AS port, max(a.text) FILTER (WHERE a.key = 'name') AS name,
		max(coalesce(a.text, a.integer)) FILTER (WHERE a.key = 'GUID') AS guid
	FROM (SELECT DISTINCT key, number FROM sonde_meta) m JOIN sonde_arg a ON a."set" = m.number
	WHERE m.key IN ('nsys.TARGET_INFO_NETWORK_METRICS', 'nsys.TARGET_INFO_NIC_INFO', 'nsys.NIC_ID_MAP') GROUP BY m.key, a."set"
),
nics AS MATERIALIZED (
	SELECT p.port, min(i.guid) AS guid, min(i.name) AS name
	FROM told p
		JOIN (SELECT nic, min(guid) AS guid, min(name) AS name FROM told WHERE source = 'nsys.TARGET_INFO_NIC_INFO' GROUP BY nic) i ON i.nic = p.nic
	WHERE p.source = 'nsys.NIC_ID_MAP' GROUP BY p.port
),
waits AS MATERIALIZED (
	SELECT DISTINCT list, place FROM told WHERE source = 'nsys.TARGET_INFO_NETWORK_METRICS' AND name LIKE '%send%wait%'
),
facts AS MATERIALIZED (
	SELECT "set" AS args, max(integer) FILTER (WHERE key = 'value') AS ticks,
		max(integer) FILTER (WHERE key = 'globalId') AS port, max(integer) FILTER (WHERE key = 'metricsListId') AS list,
		max(integer) FILTER (WHERE key = 'metricsIdx') AS place
	FROM sonde_arg WHERE key IN ('value', 'globalId', 'metricsListId', 'metricsIdx') GROUP BY "set"
)
SELECT s.start, s.end, s.duration, 1e6 * f.ticks / s.duration, coalesce(n.guid, f.port), n.name
FROM sonde_slice s JOIN facts f ON f.args = s.args JOIN waits w ON w.list = f.list AND w.place = f.place
	LEFT JOIN nics n ON n.port = f.port
WHERE s.class GLOB 'NET_*_METRIC' AND s.duration > 0 AND 1e6 * f.ticks / s.duration >= :ticks_threshold
ORDER BY s.start, s.end, n.name
