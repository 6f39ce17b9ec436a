/* Names without rollup, of the chips from 7.0 to 12.x together: a chip has most of them. */
#include "kernel/metrics/throughput.h"

#include <string.h>

#include "base/macros.h"

/* clang-format off */
static const char *const compute[] = {
	"sm__inst_executed", "sm__issue_active", "sm__mio_inst_issued",
	"sm__inst_executed_pipe_cbu_pred_on_any", "sm__pipe_tensor_cycles_active",
	"sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_xu", "sm__pipe_alu_cycles_active",
	"sm__pipe_fma_cycles_active", "sm__pipe_fmaheavy_cycles_active",
	"sm__pipe_shared_cycles_active", "sm__inst_executed_pipe_uniform",
	"sm__pipe_tensor_op_dmma_cycles_active",
	"sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active",
	"sm__instruction_throughput_internal_activity", "sm__inst_executed_pipe_adu",
	"sm__inst_executed_pipe_lsu", "sm__mio_pq_read_cycles_active",
	"sm__mio_pq_write_cycles_active", "sm__mio2rf_writeback_active",
	"idc__request_cycles_active", "sm__inst_executed_pipe_tex", "sm__inst_executed_pipe_ipa",
	"sm__pipe_tma_cycles_active", "sm__memory_throughput_internal_activity",
	"sm__inst_executed_pipe_fp16", "sm__pipe_tensor_cycles_active_v2",
	"sm__pipe_tc_cycles_active", "sm__mem_tensor_cycles_active",
	"sm__pipe_aluheavy_cycles_active", NULL,
};

static const char *const memory[] = {
	"l1tex__data_bank_reads", "l1tex__data_bank_writes", "l1tex__data_pipe_lsu_wavefronts",
	"l1tex__data_pipe_tex_wavefronts", "l1tex__f_wavefronts",
	"lts__d_atomic_input_cycles_active", "lts__d_sectors", "lts__t_sectors",
	"lts__t_tag_requests", "lts__d_decomp_input_sectors",
	"gpu__compute_memory_access_throughput_internal_activity", "l1tex__lsuin_requests",
	"l1tex__texin_sm2tex_req_cycles_active", "l1tex__lsu_writeback_active",
	"l1tex__tex_writeback_active", "l1tex__m_l1tex2xbar_req_cycles_active",
	"l1tex__m_xbar2l1tex_read_sectors", "lts__lts2xbar_cycles_active",
	"lts__xbar2lts_cycles_active", "lts__d_sectors_fill_device", "lts__d_sectors_fill_sysmem",
	"l1tex__tmain_requests", "l1tex__m_xbar2l1tex_read_sectors_mem_dshared",
	"dram__cycles_active", "fbpa__dram_sectors",
	"gpu__compute_memory_request_throughput_internal_activity",
	"syslts__d_atomic_input_cycles_active", "syslts__d_sectors", "syslts__t_sectors",
	"syslts__t_tag_requests", "syslts__syslts2xbar_cycles_active",
	"syslts__xbar2syslts_cycles_active", "syslts__d_sectors_fill_sysmem", NULL,
};
/* clang-format on */

const char *const *throughput_parts(const char *base, size_t len)
{
	static const struct {
		const char *name;
		const char *const *parts;
	} known[] = { { "sm__throughput", compute }, { "gpu__compute_memory_throughput", memory } };

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (strlen(known[i].name) == len && memcmp(known[i].name, base, len) == 0)
			return known[i].parts;
	return NULL;
}
