-- title: Scheduling Summary
-- alias: schedsum
-- requires: SCHED_EVENTS
-- skipped: context switch data
-- column: CPU Time = time
-- column: Runs = number
-- column: Voluntary = number
-- column: Forced = number
-- column: Migrations = number
-- column: Queue Wait = time
-- column: Avg Wait = average
-- column: Max Wait = time
-- column: Not Split = time
-- column: PID = id
-- column: TID = id
-- column: Thread or Core = text
-- note: SELECT 'When threads were woken was not recorded: Queue Wait counts preemptions only, the rest is in Not Split.' FROM sonde_meta WHERE key = 'sched.wakeups' AND number = 0
-- help: Threads, those that ran longest first, then cores. Voluntary: it blocked; Forced: it was taken off its CPU and could have continued.
-- help: Migrations: runs on another core than the one before; of a core: runs of threads that came to it.
-- help: Queue Wait: time a thread could have run and had no CPU. Not Split: time between two runs in which
-- help: it was blocked and then waited for a CPU; when it was woken is not known.
SELECT
	busy, runs, voluntary, forced, migrations,
	CASE WHEN waits > 0 OR notSplit = 0 THEN waitTime END,
	CASE WHEN waits > 0 THEN 1.0 * waitTime / waits END,
	CASE WHEN waits > 0 THEN waitMax END,
	CASE kind WHEN 'thread' THEN notSplit END,
	pid, tid,
	CASE kind WHEN 'core' THEN 'core ' || cpu ELSE coalesce(threadName, '') END
FROM sched_stats
ORDER BY kind DESC, CASE kind WHEN 'core' THEN cpu ELSE 0 END, busy DESC, threadUid
