-- title: Thread State Summary
-- alias: threadstatesum
-- requires: SCHED_EVENTS
-- skipped: context switch data
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Min = time
-- column: Max = time
-- column: PID = id
-- column: TID = id
-- column: Thread = text
-- column: State = text
-- column: Blocked In = text
-- note: SELECT 'When threads were woken was not recorded: time blocked and time waiting for a CPU are not split.' FROM sonde_meta WHERE key = 'sched.wakeups' AND number = 0
-- help: What each thread did: ran, waited for a CPU (Runnable after it was woken, Preempted after it
-- help: was taken off one), or was blocked, and in what: the OS runtime call that covers the moment, else
-- help: the system call. Not split: blocked, then runnable; when it was woken is not known.
-- help: Time (%) is the share of the thread's own time. Threads that ran longest come first.
SELECT
	100.0 * time / nullif(total, 0), time, count, 1.0 * time / count, min, max, pid, tid, threadName, state,
	reason
FROM thread_state_stats
ORDER BY sum(CASE state WHEN 'Running' THEN time ELSE 0 END) OVER (PARTITION BY threadUid) DESC, threadUid, time DESC, state, reason
