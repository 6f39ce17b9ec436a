-- title: MPI Event Trace
-- requires: class MPI_*_EVENTS
-- skipped: MPI event data
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Start = time
-- column: End = time
-- column: Duration = time
-- column: Event = text
-- column: Pid = id
-- column: Tid = id
-- column: Tag = id
-- column: Rank = id
-- column: PeerRank = id
-- column: RootRank = id
-- column: Size = size
-- column: CollSendSize = size
-- column: CollRecvSize = size
-- help: Every call of MPI in order of start. As an imported trace has them. Size: of a message between two ranks; CollSendSize
-- help: and CollRecvSize: of what a rank gave to, and got from, a collective operation.
WITH
ranks AS MATERIALIZED (
	SELECT process, min(rank) AS rank
	FROM (
		SELECT max(a.integer) FILTER (WHERE a.key = 'globalTid') >> 24 AS process,
			max(a.integer) FILTER (WHERE a.key = 'rank') AS rank
		FROM (SELECT DISTINCT key, number FROM sonde_meta) m JOIN sonde_arg a ON a."set" = m.number
		WHERE m.key = 'nsys.MPI_RANKS' GROUP BY a."set"
	)
	GROUP BY process
),
facts AS MATERIALIZED (
	SELECT "set" AS args,
		max(integer) FILTER (WHERE key = 'tag') AS tag,
		max(integer) FILTER (WHERE key = 'remoteRank') AS peer,
		max(integer) FILTER (WHERE key = 'rootRank') AS root,
		max(integer) FILTER (WHERE key = 'size') AS size,
		max(integer) FILTER (WHERE key = 'recvSize') AS received
	FROM sonde_arg WHERE key IN ('tag', 'remoteRank', 'rootRank', 'size', 'recvSize') GROUP BY "set"
),
places AS MATERIALIZED (
	SELECT t.id AS track, p.pid, h.tid, h.global_tid >> 24 AS process
	FROM sonde_track t LEFT JOIN (SELECT uid, pid, min(rowid) FROM sonde_process GROUP BY uid) p ON p.uid = t.process
		LEFT JOIN threads h ON h.uid = t.thread
	WHERE t.kind = 5
)
SELECT
	s.start, CASE WHEN s.flags & 1 THEN NULL ELSE s.end END, s.duration, CASE WHEN :group THEN fold_numbers(s.name) ELSE s.name END,
	t.pid, t.tid, f.tag, k.rank, f.peer, f.root, CASE s.class WHEN 'MPI_P2P_EVENTS' THEN f.size END,
	CASE s.class WHEN 'MPI_COLLECTIVES_EVENTS' THEN f.size END, f.received
FROM sonde_slice s LEFT JOIN facts f ON f.args = s.args LEFT JOIN places t ON t.track = s.track LEFT JOIN ranks k ON k.process = t.process
WHERE s.class GLOB 'MPI_*_EVENTS'
ORDER BY s.start, s.end, t.tid
