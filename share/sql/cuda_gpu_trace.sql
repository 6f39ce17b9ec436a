-- title: CUDA GPU Trace
-- alias: gputrace
-- skipped: CUDA trace data
-- option: nvtx-name the name of the innermost NVTX range around the launch stands before the kernel's, RANGE/KERNEL
-- option: base names of kernels without templates and parameters
-- option: mangled names of kernels as the linker writes them
-- option: group numbers in names are folded as shown: layer_12_ffn is layer_#_ffn
-- column: Start = time
-- column: Duration = time
-- column: CorrId = id
-- column: GrdX = id
-- column: GrdY = id
-- column: GrdZ = id
-- column: BlkX = id
-- column: BlkY = id
-- column: BlkZ = id
-- column: Reg/Trd = id
-- column: StcSMem = size
-- column: DymSMem = size
-- column: Bytes = size
-- column: Throughput = rate
-- column: SrcMemKd = text
-- column: DstMemKd = text
-- column: Device = text
-- column: Ctx = id
-- column: GreenCtx = id
-- column: Strm = id
-- column: Name = text
-- help: Every kernel, copy and set in order of start. Graphs that were recorded as a whole are one row each.
WITH devices AS MATERIALIZED (
	SELECT d.process, d.id, g.name FROM sonde_cuda_device d JOIN sonde_gpu g ON g.uid = d.gpu
)
SELECT
	o.start, o.duration, o.correlationId, o.gridX, o.gridY, o.gridZ, o.blockX, o.blockY, o.blockZ,
	o.registersPerThread, o.staticSharedMemory, o.dynamicSharedMemory,
	o.bytes, o.bytes * 1e9 / nullif(o.duration, 0), cuda_memory_label(o.srcKind), cuda_memory_label(o.dstKind),
	coalesce(d.name || ' ', '') || '(' || o.deviceId || ')', o.contextId, nullif(o.greenContextId, 0), o.streamId,
	CASE WHEN o.kind = 1 THEN
		CASE WHEN :nvtx_name AND o.nvtxName IS NOT NULL THEN coalesce(o.nvtxDomain, '') || ':' || CASE WHEN :group THEN fold_numbers(o.nvtxName) ELSE o.nvtxName END || '/' ELSE '' END ||
		coalesce(CASE WHEN :group THEN fold_numbers(CASE WHEN :base THEN o.base WHEN :mangled THEN o.mangled ELSE o.name END)
			WHEN :base THEN o.base WHEN :mangled THEN o.mangled ELSE o.name END, '[Unknown]')
	ELSE cuda_op_label(o.kind, o.copyKind) END AS shown
FROM cuda_gpu_ops o LEFT JOIN devices d ON d.process = o.processUid AND d.id = o.deviceId
WHERE o.kind <= 4
ORDER BY o.start, o.end, o.kind, o.streamId, shown
