-- title: PyTorch Operator to Kernel Summary
-- alias: torchkernsum
-- requires: class cpu_op | class user_annotation | sonde_torch_op | range aten::*
-- skipped: PyTorch operators with work on a GPU
-- option: group numbers in names are folded: layer_12_ffn and layer_7_ffn are both layer_#_ffn
-- option: rows=-1 show at most this many rows
-- column: Time = percent
-- column: Total Time = time
-- column: Instances = number
-- column: Avg = average
-- column: Operator = text
-- column: Kernel = text
-- help: Kernels, copies and sets by the operator whose call started them. Time (%) is the share of the sum of all rows.
-- help: Work that names no operator has none here.
SELECT
	100.0 * deviceTime / nullif(sum(deviceTime) OVER (), 0),
	deviceTime, count, 1.0 * deviceTime / count, op, coalesce(name, '[Unknown]')
FROM torch_op_stats('kernel' || CASE WHEN :group THEN '#' ELSE '' END)
ORDER BY deviceTime DESC, op, name
LIMIT :rows
