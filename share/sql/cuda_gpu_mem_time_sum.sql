-- title: CUDA GPU MemOps Summary (by Time)
-- alias: gpumemtimesum
-- default: 23
-- requires: sonde_gpu_copy | sonde_gpu_set
-- skipped: GPU memory data
-- column: Time = percent
-- column: Total Time = time
-- column: Count = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Operation = text
-- help: Time copies and sets of memory took by kind. Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, cuda_op_label(key, key2) AS label
FROM group_stats('cuda_gpu_ops', 'kind, copyKind', 'duration', 'kind >= 2 and kind <= 3')
ORDER BY sum DESC, label
