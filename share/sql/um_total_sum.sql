-- title: Unified Memory Totals Summary
-- alias: unifiedmemorytotals
-- default: 82
-- requires: sonde_gpu_copy | sonde_gpu_fault
-- skipped: CUDA Unified Memory CPU page faults data
-- column: Total HtoD Migration Size = size
-- column: Total DtoH Migration Size = size
-- column: Total CPU Page Faults = number
-- column: Total GPU PageFaults = number
-- column: Minimum Virtual Address = text
-- column: Maximum Virtual Address = text
-- help: All migrations of unified memory and page faults, and the addresses they were between.
-- help: Faults are recorded with --cuda-um-cpu-page-faults and --cuda-um-gpu-page-faults.
WITH events(address, up, down, cpu, gpu) AS (
	SELECT address, CASE kind WHEN 11 THEN bytes END, CASE kind WHEN 12 THEN bytes END, NULL, NULL
	FROM sonde_gpu_copy WHERE kind IN (11, 12)
	UNION ALL
	SELECT address, NULL, NULL, CASE kind WHEN 3 THEN coalesce(count, 1) END, CASE kind WHEN 4 THEN coalesce(count, 1) END
	FROM sonde_gpu_fault WHERE kind IN (3, 4)
)
SELECT sum(up), sum(down), sum(cpu), sum(gpu), printf('0x%X', min(address)), printf('0x%X', max(address))
FROM events
HAVING count(*) > 0
