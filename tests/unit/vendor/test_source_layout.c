/* What src/vendor declares of PC sampling and of SASS metrics is what their own headers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "vendor/cupti/source.h"

#if __has_include(<cupti_pcsampling.h>) && __has_include(<cupti_sass_metrics.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#define HAS_SOURCE 1
#else
#define HAS_SOURCE 0
#endif

#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define SAME(ours, our_field, theirs, their_field) \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), \
		       #theirs "." #their_field)
/* CUPTI goes by the size up to the last field. */
#define SAME_SIZE(ours, last, theirs) _Static_assert(offsetof(struct ours, last) + sizeof(((struct ours *)0)->last) == (theirs), #theirs)

#if HAS_SOURCE
SAME_NUMBER(PC_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
SAME_NUMBER(PC_PARSED, CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED);
SAME_NUMBER(PC_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
SAME_NUMBER(PC_REASONS, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
SAME_NUMBER(PC_SCRATCH_SIZE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
SAME_NUMBER(PC_BUFFER_SIZE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
SAME_NUMBER(PC_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
SAME_NUMBER(PC_CONTROL, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
SAME_NUMBER(PC_FORMAT, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT);
SAME_NUMBER(PC_DATA, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
SAME_NUMBER(PC_SLEEP, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN);
SAME_NUMBER(PC_REASON_NAME, CUPTI_STALL_REASON_STRING_SIZE);
SAME(pc_reason, index, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
SAME(pc_reason, samples, CUpti_PCSamplingStallReason, samples);
_Static_assert(sizeof(struct pc_record) == sizeof(CUpti_PCSamplingPCData), "records lie side by side");
SAME(pc_record, crc, CUpti_PCSamplingPCData, cubinCrc);
SAME(pc_record, pc, CUpti_PCSamplingPCData, pcOffset);
SAME(pc_record, function_number, CUpti_PCSamplingPCData, functionIndex);
SAME(pc_record, function, CUpti_PCSamplingPCData, functionName);
SAME(pc_record, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(pc_record, reasons, CUpti_PCSamplingPCData, stallReason);
SAME(pc_record, correlation, CUpti_PCSamplingPCData, correlationId);
_Static_assert(sizeof(struct pc_data) == sizeof(CUpti_PCSamplingData), "the size is told");
SAME(pc_data, room, CUpti_PCSamplingData, collectNumPcs);
SAME(pc_data, samples, CUpti_PCSamplingData, totalSamples);
SAME(pc_data, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(pc_data, count, CUpti_PCSamplingData, totalNumPcs);
SAME(pc_data, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME(pc_data, records, CUpti_PCSamplingData, pPcData);
SAME(pc_data, others, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME(pc_data, full, CUpti_PCSamplingData, hardwareBufferFull);
_Static_assert(sizeof(struct pc_attribute) == sizeof(CUpti_PCSamplingConfigurationInfo), "attributes lie side by side");
SAME(pc_attribute, type, CUpti_PCSamplingConfigurationInfo, attributeType);
SAME(pc_attribute, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME(pc_attribute, all, CUpti_PCSamplingConfigurationInfo, attributeData);
SAME(pc_attribute, reasons.indexes, CUpti_PCSamplingConfigurationInfo, attributeData.stallReasonData.pStallReasonIndex);
SAME(pc_attribute, number, CUpti_PCSamplingConfigurationInfo, attributeData.samplingPeriodData.samplingPeriod);
SAME(pc_attribute, bytes, CUpti_PCSamplingConfigurationInfo, attributeData.hardwareBufferSizeData.hardwareBufferSize);
SAME(pc_attribute, data, CUpti_PCSamplingConfigurationInfo, attributeData.samplingDataBufferData.samplingDataBuffer);
SAME_SIZE(pc_configuration, attributes, CUpti_PCSamplingConfigurationInfoParamsSize);
SAME(pc_configuration, count, CUpti_PCSamplingConfigurationInfoParams, numAttributes);
SAME_SIZE(pc_command, context, CUpti_PCSamplingEnableParamsSize);
SAME_SIZE(pc_command, context, CUpti_PCSamplingDisableParamsSize);
SAME_SIZE(pc_reason_count, count, CUpti_PCSamplingGetNumStallReasonsParamsSize);
SAME_SIZE(pc_reason_names, names, CUpti_PCSamplingGetStallReasonsParamsSize);
SAME(pc_reason_names, indexes, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
SAME_SIZE(cubin_crc, crc, CUpti_GetCubinCrcParamsSize);
SAME(cubin_crc, image, CUpti_GetCubinCrcParams, cubin);
SAME_SIZE(sass_properties, metric, CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE);
SAME(sass_properties, name, CUpti_SassMetrics_GetProperties_Params, pMetricName);
SAME(sass_details, id, CUpti_SassMetrics_MetricDetails, metricId);
_Static_assert(sizeof(struct sass_config) == sizeof(CUpti_SassMetrics_Config), "configs lie side by side");
SAME(sass_config, granularity, CUpti_SassMetrics_Config, outputGranularity);
SAME_SIZE(sass_set_config, device, CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE);
SAME(sass_set_config, configs, CUpti_SassMetricsSetConfig_Params, pConfigs);
SAME_SIZE(sass_enable, lazily, CUpti_SassMetricsEnable_Params_STRUCT_SIZE);
SAME(sass_enable, context, CUpti_SassMetricsEnable_Params, ctx);
SAME_SIZE(sass_disable, dropped, CUpti_SassMetricsDisable_Params_STRUCT_SIZE);
SAME_SIZE(sass_data_properties, instances, CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE);
SAME(sass_data_properties, records, CUpti_SassMetricsGetDataProperties_Params, numOfPatchedInstructionRecords);
SAME_SIZE(sass_flush, instances, CUpti_SassMetricsFlushData_Params_STRUCT_SIZE);
SAME(sass_flush, data, CUpti_SassMetricsFlushData_Params, pMetricsData);
_Static_assert(sizeof(struct sass_record) == sizeof(CUpti_SassMetrics_Data), "records lie side by side");
SAME(sass_record, crc, CUpti_SassMetrics_Data, cubinCrc);
SAME(sass_record, function, CUpti_SassMetrics_Data, functionName);
SAME(sass_record, pc, CUpti_SassMetrics_Data, pcOffset);
SAME(sass_record, values, CUpti_SassMetrics_Data, pInstanceValues);
_Static_assert(sizeof(struct sass_value) == sizeof(CUpti_SassMetrics_InstanceValue), "values lie side by side");
SAME(sass_value, value, CUpti_SassMetrics_InstanceValue, value);
#endif

static void test_same(void **state)
{
	(void)state;
	if (!HAS_SOURCE) {
		printf("no CUDA toolkit here: nothing was compared\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
