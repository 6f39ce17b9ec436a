-- title: DX12 GPU Command List PIX Ranges Summary
-- alias: dx12gpumarkersum
-- default: 71
-- requires: class DX12_WORKLOAD
-- skipped: Direct3D 12 GPU debug ranges, which do not apply on Linux
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Med = average
-- column: Min = time
-- column: Max = time
-- column: StdDev = average
-- column: Range = text
-- help: Time of Direct3D 12 work and its ranges on the GPU, by name. Windows only; shown where an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key2
FROM group_stats('sonde_slice', 'class, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
WHERE key = 'DX12_WORKLOAD'
ORDER BY sum DESC, key2, key
