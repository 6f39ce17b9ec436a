-- title: DX11 PIX Range Summary
-- alias: dx11pixsum
-- default: 70
-- requires: class D3D11_PIX_DEBUG_API
-- skipped: Direct3D 11 debug ranges, which do not apply on Linux
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
-- help: Time in PIX ranges of Direct3D 11 by name. Windows only; shown where an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
SELECT
	100.0 * sum / nullif(sum(sum) OVER (), 0),
	sum, count, avg, med, min, max, stddev, key2
FROM group_stats('sonde_slice', 'class, name' || CASE WHEN :group THEN '#' ELSE '' END, 'duration')
WHERE key = 'D3D11_PIX_DEBUG_API'
ORDER BY sum DESC, key2, key
