-- title: MPI Message Size Summary
-- requires: class MPI_*_EVENTS
-- skipped: MPI message sizes
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Total Message Volume = size
-- column: Instances = number
-- column: Avg = size
-- column: Med = size
-- column: Min = size
-- column: Max = size
-- column: StdDev = size
-- column: Source = text
-- column: Name = text
-- help: How much was sent and received by calls of MPI: between two ranks (p2p), and given to and got from
-- help: collective operations (coll_send, coll_recv). As an imported trace has them. 1 MB is a million bytes.
WITH
sizes AS MATERIALIZED (SELECT "set" AS args, key, integer AS size FROM sonde_arg WHERE key IN ('size', 'recvSize')),
messages AS (
	SELECT CASE WHEN :group THEN fold_numbers(s.name) ELSE s.name END AS name,
		CASE WHEN s.class = 'MPI_P2P_EVENTS' THEN 'p2p' WHEN z.key = 'size' THEN 'coll_send' ELSE 'coll_recv' END AS source,
		z.size AS value
	FROM sonde_slice s JOIN sizes z ON z.args = s.args
	WHERE s.class IN ('MPI_P2P_EVENTS', 'MPI_COLLECTIVES_EVENTS') AND z.size IS NOT NULL
)
SELECT total(value) AS sum, count(*), avg(value), median(value), min(value), max(value), stddev(value), source, name
FROM messages
GROUP BY source, name
ORDER BY sum DESC, source, name
