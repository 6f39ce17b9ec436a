-- title: OpenGL KHR_debug Range Summary
-- alias: khrdebugsum
-- default: 50
-- requires: class KHR_DEBUG_EVENTS
-- skipped: KHR Extension (KHR_DEBUG) data
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
-- help: Time in ranges of OpenGL's KHR_debug on the CPU, by name. As an imported trace has them.
-- help: Time (%) is the share of the sum of all rows.
WITH
kinds AS MATERIALIZED (SELECT "set" AS args, integer AS class FROM sonde_arg WHERE key = 'eventClass'),
ranges AS (
	SELECT CASE WHEN :group THEN fold_numbers(s.name) ELSE s.name END AS name, s.duration AS value
	FROM sonde_slice s JOIN kinds k ON k.args = s.args
	WHERE s.class = 'KHR_DEBUG_EVENTS' AND k.class = 62 AND s.duration IS NOT NULL
)
SELECT 100.0 * sum / nullif(sum(sum) OVER (), 0), *
FROM (
	SELECT sum(value) AS sum, count(*), avg(value), median(value), min(value), max(value), stddev(value), name
	FROM ranges
	GROUP BY name
)
ORDER BY sum DESC, name
