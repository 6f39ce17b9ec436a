-- title: CUDA GPU Trace
-- alias: gputrace
-- requires: sonde_gpu_kernel | sonde_gpu_copy | sonde_gpu_set | sonde_gpu_graph
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
SELECT
	start, duration, correlationId, gridX, gridY, gridZ, blockX, blockY, blockZ,
	registersPerThread, staticSharedMemory, dynamicSharedMemory,
	bytes, throughput, srcMemory, dstMemory, device, contextId, greenContextId, streamId, CASE WHEN :group THEN fold_numbers(shown) ELSE shown END
FROM cuda_gpu_trace(CASE WHEN :base THEN 'base' WHEN :mangled THEN 'mangled' ELSE 'name' END, :nvtx_name)
