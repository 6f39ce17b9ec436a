-- title: CUDA GPU MemOps Summary (by Size)
-- alias: gpumemsizesum
-- default: 24
-- requires: sonde_gpu_copy | sonde_gpu_set
-- skipped: GPU memory data
-- column: Total = size
-- column: Count = number
-- column: Avg = size
-- column: Med = size
-- column: Min = size
-- column: Max = size
-- column: StdDev = size
-- column: Operation = text
-- help: How much memory was copied and set by kind. 1 MB is a million bytes.
SELECT sum, count, avg, med, min, max, stddev, cuda_op_label(key, key2) AS label
FROM group_stats('cuda_gpu_ops', 'kind, copyKind', 'bytes', 'kind >= 2 and kind <= 3')
ORDER BY sum DESC, label
