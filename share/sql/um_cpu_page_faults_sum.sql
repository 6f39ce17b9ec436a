-- title: Unified Memory CPU Page Faults Summary
-- alias: umcpupagefaults
-- default: 83
-- requires: CUDA_UM_CPU_PAGE_FAULT_EVENTS
-- skipped: CUDA Unified Memory CPU page faults data
-- column: CPU Page Faults = number
-- column: CPU Instruction Address = text
-- help: Page faults of the CPUs on unified memory, by the instruction that had them.
WITH faults AS MATERIALIZED (
	SELECT CpuInstruction AS id, count(*) AS number FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS GROUP BY CpuInstruction
)
SELECT f.number, s.value
FROM faults f LEFT JOIN StringIds s ON s.id = f.id
ORDER BY f.number DESC, s.value
