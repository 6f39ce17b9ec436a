-- title: CUDA Kernel Launch & Exec Time Summary
-- alias: kernexecsum
-- requires: CUPTI_ACTIVITY_KIND_KERNEL
-- skipped: CUDA kernel data
-- option: nvtx-name the name of the innermost NVTX range around the launch stands before the kernel's, RANGE/KERNEL
-- option: base names of kernels without templates and parameters
-- option: mangled names of kernels as the linker writes them
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: PID = id
-- column: TID = id
-- column: DevId = id
-- column: Count = number
-- column: QCount = number
-- column: TAvg = average
-- column: TMed = average
-- column: TMin = time
-- column: TMax = time
-- column: TStdDev = average
-- column: AAvg = average
-- column: AMed = average
-- column: AMin = time
-- column: AMax = time
-- column: AStdDev = average
-- column: QAvg = average
-- column: QMed = average
-- column: QMin = time
-- column: QMax = time
-- column: QStdDev = average
-- column: KAvg = average
-- column: KMed = average
-- column: KMin = time
-- column: KMax = time
-- column: KStdDev = average
-- column: API Name = text
-- column: Kernel Name = text
-- note: SELECT n || CASE n WHEN 1 THEN ' kernel' ELSE ' kernels' END || ' without a recorded launch; not counted.' FROM (SELECT sum(count) AS n FROM group_stats('cuda_kernel_exec', 'globalTid', 'kernelDuration') WHERE key IS NULL) WHERE n > 0
-- help: Kernels by thread, device, call and name. T: from the begin of the call to the end of the later of call and kernel.
-- help: A: the call. Q: from the end of the call to the begin of the kernel, where that is later (QCount of them). K: the kernel.
WITH
t AS MATERIALIZED (
	SELECT * FROM group_stats('cuda_kernel_exec', 'globalTid, deviceId, apiName, ' || CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END || CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'totalDuration')
),
a AS MATERIALIZED (
	SELECT * FROM group_stats('cuda_kernel_exec', 'globalTid, deviceId, apiName, ' || CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END || CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'apiDuration')
),
q AS MATERIALIZED (
	SELECT * FROM group_stats('cuda_kernel_exec', 'globalTid, deviceId, apiName, ' || CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END || CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'queueDuration')
),
k AS MATERIALIZED (
	SELECT * FROM group_stats('cuda_kernel_exec', 'globalTid, deviceId, apiName, ' || CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END || CASE WHEN :group THEN '#' ELSE '' END || CASE WHEN :nvtx_name THEN ', nvtxDomain, nvtxName' || CASE WHEN :group THEN '#' ELSE '' END ELSE '' END, 'kernelDuration')
)
SELECT
	t.key >> 24 & 0xffffff, t.key & 0xffffff, t.key2, t.count, coalesce(q.count, 0),
	t.avg, t.med, t.min, t.max, t.stddev, a.avg, a.med, a.min, a.max, a.stddev,
	q.avg, q.med, q.min, q.max, q.stddev, k.avg, k.med, k.min, k.max, k.stddev,
	t.key3, CASE WHEN t.key6 IS NULL THEN '' ELSE coalesce(t.key5, '') || ':' || t.key6 || '/' END || coalesce(t.key4, '[Unknown]') AS name
FROM t
JOIN a ON a.key = t.key AND a.key2 = t.key2 AND a.key3 IS t.key3 AND a.key4 IS t.key4 AND a.key5 IS t.key5 AND a.key6 IS t.key6
JOIN k ON k.key = t.key AND k.key2 = t.key2 AND k.key3 IS t.key3 AND k.key4 IS t.key4 AND k.key5 IS t.key5 AND k.key6 IS t.key6
LEFT JOIN q ON q.key = t.key AND q.key2 = t.key2 AND q.key3 IS t.key3 AND q.key4 IS t.key4 AND q.key5 IS t.key5 AND q.key6 IS t.key6
WHERE t.key IS NOT NULL
ORDER BY t.sum DESC, t.key, t.key2, t.key3, name
