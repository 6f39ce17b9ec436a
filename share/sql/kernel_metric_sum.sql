-- title: Kernel Metrics Summary
-- default: 25
-- requires: sonde_kernel_result
-- skipped: hardware counters of kernels
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: SM (%) = decimal
-- column: Memory (%) = decimal
-- column: DRAM (%) = decimal
-- column: Occupancy (%) = decimal
-- column: Reg/Trd = id
-- column: Name = text
-- help: Kernels whose hardware counters were read, by name: how long they took, how much of the peak throughput of the
-- help: multiprocessors, of memory and of DRAM they reached, the warps that were active of those that could be, and the
-- help: registers of a thread. Averages of all instances; all other metrics are in sonde_kernel_metric.
WITH
	wanted AS MATERIALIZED (
		SELECT m.result, m.name, coalesce(m.real, m.integer) * CASE m.unit
			WHEN 'us' THEN 1e3 WHEN 'usecond' THEN 1e3 WHEN 'ms' THEN 1e6 WHEN 'msecond' THEN 1e6 WHEN 's' THEN 1e9
			WHEN 'second' THEN 1e9 ELSE 1 END AS value
		FROM sonde_kernel_metric m
		WHERE m.kind = 1 AND m.instance IS NULL AND m.name IN ('gpu__time_duration.sum', 'Duration',
			'sm__throughput.avg.pct_of_peak_sustained_elapsed', 'Compute (SM) Throughput',
			'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed', 'Memory Throughput',
			'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed', 'dram__throughput.avg.pct_of_peak_sustained_elapsed',
			'DRAM Throughput', 'sm__warps_active.avg.pct_of_peak_sustained_active', 'Achieved Occupancy',
			'launch__registers_per_thread', 'Registers Per Thread') AND (m.name <> 'Memory Throughput' OR m.unit = '%')
	),
	by_result AS (
		SELECT result,
			max(value) FILTER (WHERE name IN ('gpu__time_duration.sum', 'Duration')) AS time,
			max(value) FILTER (WHERE name LIKE 'sm\_\_throughput%' ESCAPE '\' OR name LIKE 'Compute%') AS sm,
			max(value) FILTER (WHERE name LIKE 'gpu\_\_compute%' ESCAPE '\' OR name LIKE 'Memory%') AS memory,
			max(value) FILTER (WHERE name LIKE '%dram%') AS dram,
			max(value) FILTER (WHERE name LIKE 'sm\_\_warps%' ESCAPE '\' OR name LIKE 'Achieved%') AS occupancy,
			max(value) FILTER (WHERE name LIKE 'launch%' OR name LIKE 'Registers%') AS registers
		FROM wanted GROUP BY result
	),
	by_name AS (
		SELECT coalesce(r.name, '[Unknown]') AS name, total(b.time) AS time, count(*) AS count, avg(b.time) AS mean, avg(b.sm) AS sm,
			avg(b.memory) AS memory, avg(b.dram) AS dram, avg(b.occupancy) AS occupancy, max(b.registers) AS registers
		FROM sonde_kernel_result r LEFT JOIN by_result b ON b.result = r.id GROUP BY 1
	)
SELECT
	100.0 * time / nullif(sum(time) OVER (), 0), CAST(time AS INTEGER), count, mean, sm, memory, dram, occupancy,
	CAST(registers AS INTEGER), name
FROM by_name
ORDER BY time DESC, name
