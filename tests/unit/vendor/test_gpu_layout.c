/* What src/vendor declares of PM sampling, of CUPTI's host side, of NVPerf and of NVML is what their own headers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "vendor/cupti/host.h"
#include "vendor/nvperf/schedule.h"
#include "vendor/nvml/nvml.h"

#if __has_include(<cupti_pmsampling.h>) && __has_include(<cupti_profiler_host.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#define HAS_PM 1
#else
#define HAS_PM 0
#endif
#if __has_include(<nvperf_cuda_host.h>) && __has_include(<nvperf_host.h>)
#include <nvperf_host.h>
#include <nvperf_cuda_host.h>
#define HAS_NVPERF 1
#else
#define HAS_NVPERF 0
#endif
#if __has_include(<nvml.h>)
#include <nvml.h>
#define HAS_NVML 1
#else
#define HAS_NVML 0
#endif

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define SAME(ours, our_field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
		       #theirs "." #their_field)
/* CUPTI goes by the size up to the last field. */
#define SAME_SIZE(ours, last, theirs) \
	_Static_assert(offsetof(struct ours, last) + sizeof(((struct ours *)0)->last) == theirs##_STRUCT_SIZE, #theirs)

#if HAS_PM
SAME_NUMBER(PM_PROFILER_TYPE, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_NUMBER(PM_PROFILER_API, CUPTI_PROFILER_PM_SAMPLING);
SAME_NUMBER(PM_TRIGGER_CLOCKS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME_NUMBER(PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_NUMBER(PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME_NUMBER(PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
SAME_NUMBER(PM_STOP_OTHER, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER);
SAME_NUMBER(PM_STOP_IMAGE_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME_NUMBER(PM_STOP_END, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
SAME_NUMBER(PM_UNKNOWN, CUPTI_PROFILER_CONFIGURATION_UNKNOWN);
SAME_NUMBER(PM_UNSUPPORTED, CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED);
SAME_NUMBER(PM_DISABLED, CUPTI_PROFILER_CONFIGURATION_DISABLED);
SAME_NUMBER(PM_SUPPORTED, CUPTI_PROFILER_CONFIGURATION_SUPPORTED);

SAME_SIZE(pm_initialize, priv, CUpti_Profiler_Initialize_Params);
SAME_SIZE(pm_device_supported, api, CUpti_Profiler_DeviceSupported_Params);
SAME(pm_device_supported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
SAME(pm_device_supported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
SAME(pm_device_supported, architecture, CUpti_Profiler_DeviceSupported_Params, architecture);
SAME(pm_device_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli);
SAME(pm_device_supported, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
SAME(pm_device_supported, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
SAME(pm_device_supported, mining, CUpti_Profiler_DeviceSupported_Params, cmp);
SAME(pm_device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
SAME_SIZE(pm_chip_name, chip, CUpti_Device_GetChipName_Params);
SAME(pm_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_SIZE(pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME(pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME(pm_availability, image_size, CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize);
SAME_SIZE(pm_host_initialize, host, CUpti_Profiler_Host_Initialize_Params);
SAME(pm_host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(pm_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(pm_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
SAME_SIZE(pm_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME_SIZE(pm_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params);
SAME(pm_base_metrics, type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
SAME(pm_base_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
SAME_SIZE(pm_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(pm_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_SIZE(pm_image_size, image_size, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_SIZE(pm_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(pm_image, image_size, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_SIZE(pm_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(pm_passes, image_size, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(pm_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_SIZE(pm_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(pm_evaluate, counters, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(pm_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(pm_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(pm_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_SIZE(pm_enable, sampler, CUpti_PmSampling_Enable_Params);
SAME(pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_SIZE(pm_command, sampler, CUpti_PmSampling_Disable_Params);
SAME_SIZE(pm_command, sampler, CUpti_PmSampling_Start_Params);
SAME_SIZE(pm_command, sampler, CUpti_PmSampling_Stop_Params);
SAME_SIZE(pm_set_config, append, CUpti_PmSampling_SetConfig_Params);
SAME(pm_set_config, image_size, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(pm_set_config, image, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(pm_set_config, buffer_size, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_SIZE(pm_counters_size, counters_size, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(pm_counters_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(pm_counters_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(pm_counters_size, max_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_SIZE(pm_counters_initialize, counters, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME(pm_counters_initialize, counters_size, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
SAME_SIZE(pm_decode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME(pm_decode, counters, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(pm_decode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_SIZE(pm_counters_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME(pm_counters_info, total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
SAME(pm_counters_info, populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
SAME_SIZE(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);

SAME_NUMBER(HOST_PROFILER_RANGE, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
SAME_NUMBER(HOST_PROFILER_PM, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_NUMBER(HOST_COUNTER, CUPTI_METRIC_TYPE_COUNTER);
SAME_NUMBER(HOST_RATIO, CUPTI_METRIC_TYPE_RATIO);
SAME_NUMBER(HOST_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT);
SAME_NUMBER(HOST_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(HOST_BAD_CHIP, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME_SIZE(host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params);
SAME(host_chips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME_SIZE(host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics_Params);
SAME(host_sub_metrics, type, CUpti_Profiler_Host_GetSubMetrics_Params, metricType);
SAME(host_sub_metrics, metric, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName);
SAME(host_sub_metrics, count, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics);
SAME_SIZE(host_properties, type, CUpti_Profiler_Host_GetMetricProperties_Params);
SAME(host_properties, metric, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
SAME(host_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params, pDescription);
SAME(host_properties, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit);
SAME(host_properties, dimension, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit);
SAME_SIZE(host_most_per_pass, count, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params);
SAME(host_most_per_pass, type, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params, profilerType);
SAME(host_most_per_pass, chip, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params, pChipName);
#endif

#if HAS_NVPERF
SAME_NUMBER(HOST_COUNTER, NVPW_METRIC_TYPE_COUNTER);
SAME_NUMBER(HOST_THROUGHPUT, NVPW_METRIC_TYPE_THROUGHPUT);
SAME_SIZE(nvperf_initialize, priv, NVPW_InitializeHost_Params);
SAME_SIZE(nvperf_scratch_size, scratch_size, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params);
SAME(nvperf_scratch_size, chip, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params, pChipName);
SAME_SIZE(nvperf_evaluator_initialize, evaluator, NVPW_CUDA_MetricsEvaluator_Initialize_Params);
SAME(nvperf_evaluator_initialize, scratch, NVPW_CUDA_MetricsEvaluator_Initialize_Params, pScratchBuffer);
SAME(nvperf_evaluator_initialize, scratch_size, NVPW_CUDA_MetricsEvaluator_Initialize_Params, scratchBufferSize);
SAME(nvperf_evaluator_initialize, chip, NVPW_CUDA_MetricsEvaluator_Initialize_Params, pChipName);
SAME_SIZE(nvperf_evaluator_destroy, evaluator, NVPW_MetricsEvaluator_Destroy_Params);
SAME_SIZE(nvperf_metric_names, count, NVPW_MetricsEvaluator_GetMetricNames_Params);
SAME(nvperf_metric_names, type, NVPW_MetricsEvaluator_GetMetricNames_Params, metricType);
SAME(nvperf_metric_names, names, NVPW_MetricsEvaluator_GetMetricNames_Params, pMetricNames);
SAME(nvperf_metric_names, offsets, NVPW_MetricsEvaluator_GetMetricNames_Params, pMetricNameBeginIndices);
SAME_SIZE(nvperf_type_and_index, index, NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params);
SAME(nvperf_type_and_index, metric, NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params, pMetricName);
SAME(nvperf_type_and_index, type, NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params, metricType);
SAME_SIZE(nvperf_throughput, parts, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params);
SAME(nvperf_throughput, index, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params, throughputMetricIndex);
SAME(nvperf_throughput, unit, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params, hwUnit);
SAME(nvperf_throughput, counter_count, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params, numCounters);
SAME(nvperf_throughput, counters, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params, pCounterIndices);
SAME(nvperf_throughput, part_count, NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params, numSubThroughputs);
SAME_NUMBER(NVPERF_RANGES, NVPA_ACTIVITY_KIND_PROFILER);
SAME_NUMBER(NVPERF_SAMPLES, NVPA_ACTIVITY_KIND_REALTIME_SAMPLED);
SAME_SIZE(nvperf_metric, submetric, NVPW_MetricEvalRequest);
SAME(nvperf_metric, rollup, NVPW_MetricEvalRequest, rollupOp);
SAME_SIZE(nvperf_convert, metric_size, NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params);
SAME(nvperf_convert, metric, NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params, pMetricEvalRequest);
SAME_SIZE(nvperf_dependencies, optional_count, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params);
SAME(nvperf_dependencies, metrics, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params, pMetricEvalRequests);
SAME(nvperf_dependencies, metric_stride, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params, metricEvalRequestStrideSize);
SAME(nvperf_dependencies, counters, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params, ppRawDependencies);
SAME(nvperf_dependencies, optional, NVPW_MetricsEvaluator_GetMetricRawDependencies_Params, ppOptionalRawDependencies);
SAME_SIZE(nvperf_config_create, config, NVPW_CUDA_RawCounterConfig_Create_Params);
SAME(nvperf_config_create, availability, NVPW_CUDA_RawCounterConfig_Create_Params, pCounterAvailabilityImage);
SAME(nvperf_config_create, kind, NVPW_CUDA_RawCounterConfig_Create_Params, activityKind);
SAME_SIZE(nvperf_config_command, config, NVPW_RawCounterConfig_Destroy_Params);
SAME_SIZE(nvperf_config_command, config, NVPW_RawCounterConfig_GenerateConfigImage_Params);
SAME_SIZE(nvperf_domains, domains, NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains_Params);
SAME(nvperf_domains, count, NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains_Params, numAvailableDomains);
SAME_SIZE(nvperf_pass_group, domains, NVPW_RawCounterConfig_BeginPassGroup_Params);
SAME_SIZE(nvperf_pass_group, domains, NVPW_RawCounterConfig_EndPassGroup_Params);
SAME(nvperf_pass_group, count, NVPW_RawCounterConfig_BeginPassGroup_Params, numDomains);
SAME(nvperf_counter, keeps_instances, NVPW_RawCounterRequest, keepInstances);
SAME(nvperf_counter, name, NVPW_RawCounterRequest, pRawCounterName);
SAME(nvperf_counter, domain, NVPW_RawCounterRequest, domain);
SAME_SIZE(nvperf_add_counters, counters, NVPW_RawCounterConfig_AddRawCounters_Params);
SAME(nvperf_add_counters, counter_size, NVPW_RawCounterConfig_AddRawCounters_Params, rawCounterRequestStructSize);
SAME(nvperf_add_counters, count, NVPW_RawCounterConfig_AddRawCounters_Params, numRawCounterRequests);
SAME_SIZE(nvperf_config_image, image_size, NVPW_RawCounterConfig_GetConfigImage_Params);
SAME(nvperf_config_image, room, NVPW_RawCounterConfig_GetConfigImage_Params, bytesAllocated);
SAME(nvperf_config_image, image, NVPW_RawCounterConfig_GetConfigImage_Params, pBuffer);
SAME_SIZE(nvperf_passes, passes, NVPW_RawCounterConfig_GetNumPasses_Params);
#endif

#if HAS_NVML
SAME_NUMBER(NVML_OK, NVML_SUCCESS);
SAME_NUMBER(NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME_NUMBER(NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME_NUMBER(NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
SAME_NUMBER(NVML_PCIE_TX, NVML_PCIE_UTIL_TX_BYTES);
SAME_NUMBER(NVML_PCIE_RX, NVML_PCIE_UTIL_RX_BYTES);
SAME_NUMBER(NVML_SENSOR_GPU, NVML_TEMPERATURE_GPU);
SAME_NUMBER(NVML_FIELD_NVLINK_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
SAME_NUMBER(NVML_FIELD_NVLINK_RX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
SAME_NUMBER(NVML_DOUBLE, NVML_VALUE_TYPE_DOUBLE);
SAME_NUMBER(NVML_UNSIGNED, NVML_VALUE_TYPE_UNSIGNED_INT);
SAME_NUMBER(NVML_UNSIGNED_LONG_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
SAME(nvml_utilization, memory, nvmlUtilization_t, memory);
SAME(nvml_memory, total, nvmlMemory_t, total);
SAME(nvml_memory, used, nvmlMemory_t, used);
SAME(nvml_pci, domain, nvmlPciInfo_t, domain);
SAME(nvml_pci, bus, nvmlPciInfo_t, bus);
SAME(nvml_pci, device, nvmlPciInfo_t, device);
SAME(nvml_pci, bus_id, nvmlPciInfo_t, busId);
SAME(nvml_process, pid, nvmlProcessInfo_t, pid);
SAME(nvml_process, memory, nvmlProcessInfo_t, usedGpuMemory);
SAME(nvml_process, compute_instance, nvmlProcessInfo_t, computeInstanceId);
SAME(nvml_field, id, nvmlFieldValue_t, fieldId);
SAME(nvml_field, scope, nvmlFieldValue_t, scopeId);
SAME(nvml_field, type, nvmlFieldValue_t, valueType);
SAME(nvml_field, result, nvmlFieldValue_t, nvmlReturn);
SAME(nvml_field, value, nvmlFieldValue_t, value);
_Static_assert(sizeof(struct nvml_field) == sizeof(nvmlFieldValue_t), "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_process) == sizeof(nvmlProcessInfo_t), "nvmlProcessInfo_t");
#endif

/* What the compiler has compared above. */
static void pm_sampling(void **state)
{
	if (!HAS_PM)
		skip();
}

static void nvperf(void **state)
{
	if (!HAS_NVPERF)
		skip();
}

static void nvml(void **state)
{
	if (!HAS_NVML)
		skip();
}

/* As published, for machines without NVML's header. */
static void nvml_sizes(void **state)
{
	assert_int_equal(sizeof(struct nvml_pci), 68);
	assert_int_equal(sizeof(struct nvml_process), 24);
	assert_int_equal(sizeof(struct nvml_field), 40);
	assert_int_equal(offsetof(struct nvml_field, value), 32);
	assert_int_equal(sizeof(struct nvml_memory), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pm_sampling),
		cmocka_unit_test(nvperf),
		cmocka_unit_test(nvml),
		cmocka_unit_test(nvml_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
