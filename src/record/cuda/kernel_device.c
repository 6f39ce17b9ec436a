/* What is known of the device that a kernel ran on: attributes that the driver told, and where it sits in the machine. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "record/cuda/internal.h"
#include "record/cuda/kernel_rows.h"
#include "record/kernel_choice.h"

#define UNIT_NONE ""

/* Numbers of CUdevice_attribute, names of ncu. */
static const char *const attribute_names[] = {
	[1] = "max_threads_per_block",
	[2] = "max_block_dim_x",
	[3] = "max_block_dim_y",
	[4] = "max_block_dim_z",
	[5] = "max_grid_dim_x",
	[6] = "max_grid_dim_y",
	[7] = "max_grid_dim_z",
	[8] = "max_shared_memory_per_block",
	[9] = "total_constant_memory",
	[10] = "warp_size",
	[11] = "max_pitch",
	[12] = "max_registers_per_block",
	[13] = "clock_rate",
	[14] = "texture_alignment",
	[15] = "gpu_overlap",
	[16] = "multiprocessor_count",
	[17] = "kernel_exec_timeout",
	[18] = "integrated",
	[19] = "can_map_host_memory",
	[20] = "compute_mode",
	[21] = "maximum_texture1d_width",
	[22] = "maximum_texture2d_width",
	[23] = "maximum_texture2d_height",
	[24] = "maximum_texture3d_width",
	[25] = "maximum_texture3d_height",
	[26] = "maximum_texture3d_depth",
	[27] = "maximum_texture2d_layered_width",
	[28] = "maximum_texture2d_layered_height",
	[29] = "maximum_texture2d_layered_layers",
	[30] = "surface_alignment",
	[31] = "concurrent_kernels",
	[32] = "ecc_enabled",
	[33] = "pci_bus_id",
	[34] = "pci_device_id",
	[35] = "tcc_driver",
	[36] = "memory_clock_rate",
	[37] = "global_memory_bus_width",
	[38] = "l2_cache_size",
	[39] = "max_threads_per_multiprocessor",
	[40] = "async_engine_count",
	[41] = "unified_addressing",
	[42] = "maximum_texture1d_layered_width",
	[43] = "maximum_texture1d_layered_layers",
	[44] = "can_tex2d_gather",
	[45] = "maximum_texture2d_gather_width",
	[46] = "maximum_texture2d_gather_height",
	[47] = "maximum_texture3d_width_alternate",
	[48] = "maximum_texture3d_height_alternate",
	[49] = "maximum_texture3d_depth_alternate",
	[50] = "pci_domain_id",
	[51] = "texture_pitch_alignment",
	[52] = "maximum_texturecubemap_width",
	[53] = "maximum_texturecubemap_layered_width",
	[54] = "maximum_texturecubemap_layered_layers",
	[55] = "maximum_surface1d_width",
	[56] = "maximum_surface2d_width",
	[57] = "maximum_surface2d_height",
	[58] = "maximum_surface3d_width",
	[59] = "maximum_surface3d_height",
	[60] = "maximum_surface3d_depth",
	[61] = "maximum_surface1d_layered_width",
	[62] = "maximum_surface1d_layered_layers",
	[63] = "maximum_surface2d_layered_width",
	[64] = "maximum_surface2d_layered_height",
	[65] = "maximum_surface2d_layered_layers",
	[66] = "maximum_surfacecubemap_width",
	[67] = "maximum_surfacecubemap_layered_width",
	[68] = "maximum_surfacecubemap_layered_layers",
	[69] = "maximum_texture1d_linear_width",
	[70] = "maximum_texture2d_linear_width",
	[71] = "maximum_texture2d_linear_height",
	[72] = "maximum_texture2d_linear_pitch",
	[73] = "maximum_texture2d_mipmapped_width",
	[74] = "maximum_texture2d_mipmapped_height",
	[75] = "compute_capability_major",
	[76] = "compute_capability_minor",
	[77] = "maximum_texture1d_mipmapped_width",
	[78] = "stream_priorities_supported",
	[79] = "global_l1_cache_supported",
	[80] = "local_l1_cache_supported",
	[81] = "max_shared_memory_per_multiprocessor",
	[82] = "max_registers_per_multiprocessor",
	[83] = "managed_memory",
	[84] = "multi_gpu_board",
	[85] = "multi_gpu_board_group_id",
	[86] = "host_native_atomic_supported",
	[87] = "single_to_double_precision_perf_ratio",
	[88] = "pageable_memory_access",
	[89] = "concurrent_managed_access",
	[90] = "compute_preemption_supported",
	[91] = "can_use_host_pointer_for_registered_mem",
	[92] = "can_use_stream_mem_ops_v1",
	[93] = "can_use_64_bit_stream_mem_ops_v1",
	[94] = "can_use_stream_wait_value_nor_v1",
	[95] = "cooperative_launch",
	[96] = "cooperative_multi_device_launch",
	[97] = "max_shared_memory_per_block_optin",
	[98] = "can_flush_remote_writes",
	[99] = "host_register_supported",
	[100] = "pageable_memory_access_uses_host_page_tables",
	[101] = "direct_managed_mem_access_from_host",
	[102] = "virtual_address_management_supported",
	[103] = "handle_type_posix_file_descriptor_supported",
	[104] = "handle_type_win32_handle_supported",
	[105] = "handle_type_win32_kmt_handle_supported",
	[106] = "max_blocks_per_multiprocessor",
	[107] = "generic_compression_supported",
	[108] = "max_persisting_l2_cache_size",
	[109] = "max_access_policy_window_size",
	[110] = "gpu_direct_rdma_with_cuda_vmm_supported",
	[111] = "reserved_shared_memory_per_block",
	[112] = "sparse_cuda_array_supported",
	[115] = "memory_pools_supported",
	[116] = "gpu_direct_rdma_supported",
	[117] = "gpu_direct_rdma_flush_writes_options",
	[118] = "gpu_direct_rdma_writes_ordering",
	[119] = "mempool_supported_handle_types",
	[120] = "cluster_launch",
	[121] = "deferred_mapping_cuda_array_supported",
	[122] = "can_use_64_bit_stream_mem_ops",
	[123] = "can_use_stream_wait_value_nor",
	[124] = "dma_buf_supported",
	[125] = "ipc_event_supported",
	[126] = "mem_sync_domain_count",
	[127] = "tensor_map_access_supported",
	[128] = "handle_type_fabric_supported",
	[129] = "unified_function_pointers",
	[130] = "numa_config",
	[132] = "multicast_supported",
	[133] = "mps_enabled",
	[134] = "host_numa_id",
	[139] = "gpu_pci_device_id",
	[140] = "gpu_pci_sub_system_id",
};
#define ATTRIBUTE_COUNT COUNT_OF(attribute_names)

enum { ATTRIBUTE_BUS = 33, ATTRIBUTE_SLOT = 34, ATTRIBUTE_DOMAIN = 50 };

static struct kernel_row_of compose_device_row(uint64_t result)
{
	return (struct kernel_row_of){ result, KERNEL_METRIC_DEVICE, KERNEL_NO_INSTANCE };
}

static bool read_device_line(const char *folder, const char *name, char *ret, size_t size)
{
	char path[256];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	ok = file && fgets(ret, (int)size, file);
	if (file)
		fclose(file);
	if (ok)
		ret[strcspn(ret, "\n")] = '\0';
	return ok && *ret;
}

/* CPUs and memory that are nearest: ncu has one of each for every device. */
static void numa_rows(struct session *s, uint64_t result, const char *folder)
{
	struct kernel_row_of whole = compose_device_row(result), first = whole;
	char text[256];
	long node;

	first.instance = 0;
	if (read_device_line(folder, "local_cpulist", text, sizeof(text))) {
		kernel_metric_row(s, whole, "numa__cpu_affinity", UNIT_NONE, 1);
		kernel_text_row(s, first, "numa__cpu_affinity", text, strlen(text));
	}
	if (!read_device_line(folder, "numa_node", text, sizeof(text)))
		return;
	/* -1: the machine has one node. */
	node = strtol(text, NULL, 10);
	kernel_metric_row(s, whole, "numa__id_cpu", UNIT_NONE, 1);
	kernel_metric_row(s, first, "numa__id_cpu", UNIT_NONE, node < 0 ? 0 : (double)node);
	kernel_metric_row(s, whole, "numa__id_memory", UNIT_NONE, 1);
	kernel_metric_row(s, first, "numa__id_memory", UNIT_NONE, node < 0 ? 0 : (double)node);
}

/* PCIe: rates of its generations, in millions of transfers a second. */
static void link_rows(struct session *s, uint64_t result, const char *folder)
{
	static const double rates[] = { 2500, 5000, 8000, 16000, 32000, 64000 };
	char text[256];
	double rate;

	if (read_device_line(folder, "device", text, sizeof(text)))
		kernel_metric_row(s, compose_device_row(result), "device__attribute_gpu_pci_ext_device_id", UNIT_NONE,
				  (double)strtoul(text, NULL, 16));
	if (read_device_line(folder, "revision", text, sizeof(text)))
		kernel_metric_row(s, compose_device_row(result), "device__attribute_gpu_pci_revision_id", UNIT_NONE,
				  (double)strtoul(text, NULL, 16));
	if (read_device_line(folder, "max_link_width", text, sizeof(text)))
		kernel_metric_row(s, compose_device_row(result), "device__attribute_gpu_pci_ext_gpu_link_width", UNIT_NONE,
				  strtod(text, NULL));
	if (!read_device_line(folder, "max_link_speed", text, sizeof(text)))
		return;
	rate = strtod(text, NULL) * 1000;
	kernel_metric_row(s, compose_device_row(result), "device__attribute_gpu_pci_ext_gpu_link_rate", UNIT_NONE, rate);
	for (unsigned i = 0; i < COUNT_OF(rates); i++)
		if (rates[i] == rate)
			kernel_metric_row(s, compose_device_row(result), "device__attribute_gpu_pci_ext_gpu_gen", UNIT_NONE, i);
}

static struct kernel_row_of link_row(uint64_t result, uint32_t number)
{
	struct kernel_row_of of = compose_device_row(result);

	of.instance = number;
	return of;
}

static bool same_place(const unsigned *a, const unsigned *b)
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* What one link can do: an instance for each that is active. */
static void each_link(struct session *s, uint64_t result, const struct kernel_gpu_links *g)
{
	uint32_t active = 0;

	for (uint32_t i = 0; i < g->link_count; i++) {
		const struct kernel_link *l = &g->links[i];

		if (!l->is_active)
			continue;
		kernel_metric_row(s, link_row(result, active), "nvlink__source_ports", UNIT_NONE, i);
		kernel_metric_row(s, link_row(result, active), "nvlink__peer_access", UNIT_NONE, l->peer_access);
		kernel_metric_row(s, link_row(result, active), "nvlink__peer_atomic", UNIT_NONE, l->peer_atomics);
		kernel_metric_row(s, link_row(result, active), "nvlink__system_access", UNIT_NONE, l->system_access);
		kernel_metric_row(s, link_row(result, active), "nvlink__system_atomic", UNIT_NONE, l->system_atomics);
		if (g->bandwidth > 0)
			kernel_metric_row(s, link_row(result, active), "nvlink__bandwidth", "byte/s", g->bandwidth);
		active++;
	}
}

/* Number of the GPU there, or -1: a switch, a CPU, or one that is not seen. */
static int gpu_at(const struct kernel_choice *choice, const unsigned *place)
{
	for (uint32_t i = 0; i < choice->gpu_count; i++)
		if (same_place(choice->gpus[i].place, place))
			return (int)i;
	return -1;
}

static void connection_rows(struct session *s, uint64_t result, uint32_t number, int self, int other, unsigned type)
{
	kernel_metric_row(s, link_row(result, number), "nvlink__dev0Id", UNIT_NONE, self);
	kernel_metric_row(s, link_row(result, number), "nvlink__dev0type", UNIT_NONE, 0);
	kernel_metric_row(s, link_row(result, number), "nvlink__dev1Id", UNIT_NONE, other);
	kernel_metric_row(s, link_row(result, number), "nvlink__dev1type", UNIT_NONE, type);
	kernel_metric_row(s, link_row(result, number), "nvlink__is_direct_link", UNIT_NONE, type != 2);
	kernel_metric_row(s, link_row(result, number), "nvlink__is_nvswitch_connected", UNIT_NONE, type == 2);
}

/* Links to the same device are one connection. Returns how many there are. */
static uint32_t each_connection(struct session *s, uint64_t result, const struct kernel_gpu_links *g)
{
	int self = gpu_at(s->kernels, g->place);
	uint32_t count = 0;
	bool known;

	for (uint32_t i = 0; i < g->link_count; i++) {
		known = !g->links[i].is_active;
		for (uint32_t k = 0; k < i && !known; k++)
			known = g->links[k].is_active && same_place(g->links[k].remote, g->links[i].remote);
		if (!known)
			connection_rows(s, result, count++, self, gpu_at(s->kernels, g->links[i].remote), g->links[i].remote_type);
	}
	return count;
}

static void nvlink_rows(struct session *s, uint64_t result, const struct kernel_gpu_links *g)
{
	uint32_t active = 0, mask = 0, connections = each_connection(s, result, g);

	for (uint32_t i = 0; i < g->link_count; i++) {
		active += g->links[i].is_active;
		mask |= (uint32_t)g->links[i].is_active << i;
	}
	each_link(s, result, g);
	kernel_metric_row(s, compose_device_row(result), "nvlink__max_count", UNIT_NONE, g->link_count);
	kernel_metric_row(s, compose_device_row(result), "nvlink__count_physical", UNIT_NONE, active);
	kernel_metric_row(s, compose_device_row(result), "nvlink__count_logical", UNIT_NONE, connections);
	kernel_metric_row(s, compose_device_row(result), "nvlink__enabled_mask", UNIT_NONE, mask);
	kernel_metric_row(s, compose_device_row(result), "nvlink__bandwidth", "byte/s", active * g->bandwidth);
	for (uint32_t i = 0; i < s->kernels->gpu_count; i++)
		kernel_text_row(s, link_row(result, i), "nvlink__dev_display_name_all", s->kernels->gpus[i].name,
				strlen(s->kernels->gpus[i].name));
	kernel_metric_row(s, compose_device_row(result), "nvlink__dev_display_name_all", UNIT_NONE, s->kernels->gpu_count);
}

static void place_rows(struct session *s, uint64_t result, const double *at)
{
	char folder[64];
	int gpu;

	if (!(at[0] >= 0) || !(at[1] >= 0) || !(at[2] >= 0))
		return;
	snprintf(folder, sizeof(folder), "/sys/bus/pci/devices/%04x:%02x:%02x.0", (unsigned)at[0] & 0xffff, (unsigned)at[1] & 0xff,
		 (unsigned)at[2] & 0xff);
	numa_rows(s, result, folder);
	link_rows(s, result, folder);
	gpu = gpu_at(s->kernels, (unsigned[]){ (unsigned)at[0], (unsigned)at[1], (unsigned)at[2] });
	if (gpu >= 0)
		nvlink_rows(s, result, &s->kernels->gpus[gpu]);
}

void cuda_kernel_device(struct session *s, uint64_t result, uint32_t first, const uint8_t *values, uint32_t count)
{
	double value, place[3] = { -1, -1, -1 };
	char name[96];

	for (uint32_t i = 0; i < count && first < ATTRIBUTE_COUNT && i < ATTRIBUTE_COUNT - first; i++) {
		memcpy(&value, values + i * sizeof(value), sizeof(value));
		if (!attribute_names[first + i] || !isfinite(value))
			continue;
		snprintf(name, sizeof(name), "device__attribute_%s", attribute_names[first + i]);
		kernel_metric_row(s, compose_device_row(result), name, UNIT_NONE, value);
		if (first + i == ATTRIBUTE_DOMAIN)
			place[0] = value;
		else if (first + i == ATTRIBUTE_BUS)
			place[1] = value;
		else if (first + i == ATTRIBUTE_SLOT)
			place[2] = value;
	}
	place_rows(s, result, place);
}
