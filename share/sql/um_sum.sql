-- title: Unified Memory Analysis Summary
-- alias: unifiedmemory
-- default: 81
-- requires: sonde_gpu_copy | sonde_gpu_fault
-- skipped: CUDA Unified Memory CPU page faults data
-- option: rows=10 show at most this many rows; 0: all
-- column: Virtual Address = text
-- column: HtoD Migration Size = size
-- column: DtoH Migration Size = size
-- column: CPU Page Faults = number
-- column: GPU Page Faults = number
-- column: Migration Throughput = rate
-- help: Migrations of unified memory and page faults by address, the largest migrations first.
-- help: Faults are recorded with --cuda-um-cpu-page-faults and --cuda-um-gpu-page-faults.
WITH events(address, up, down, time, cpu, gpu) AS (
	SELECT address, CASE kind WHEN 11 THEN bytes END, CASE kind WHEN 12 THEN bytes END, end - start, NULL, NULL
	FROM sonde_gpu_copy WHERE kind IN (11, 12)
	UNION ALL
	SELECT address, NULL, NULL, NULL, CASE kind WHEN 3 THEN coalesce(count, 1) END, CASE kind WHEN 4 THEN coalesce(count, 1) END
	FROM sonde_gpu_fault WHERE kind IN (3, 4)
)
SELECT
	printf('0x%X', address), sum(up), sum(down), sum(cpu), sum(gpu),
	(coalesce(sum(up), 0) + coalesce(sum(down), 0)) * 1e9 / nullif(sum(time), 0)
FROM events
WHERE address IS NOT NULL
GROUP BY address
ORDER BY coalesce(sum(up), 0) + coalesce(sum(down), 0) DESC, coalesce(sum(cpu), 0) + coalesce(sum(gpu), 0) DESC, address
LIMIT CASE WHEN :rows > 0 THEN :rows ELSE -1 END
