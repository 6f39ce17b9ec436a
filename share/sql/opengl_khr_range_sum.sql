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
),
ordered AS (
	SELECT name, value, row_number() OVER same AS place, count(*) OVER whole AS number, avg(value) OVER whole AS mean
	FROM ranges
	WINDOW same AS (PARTITION BY name ORDER BY value), whole AS (PARTITION BY name)
)
SELECT 100.0 * sum / nullif(sum(sum) OVER (), 0), *
FROM (
	SELECT sum(value) AS sum, count(*), avg(value),
		avg(value) FILTER (WHERE place IN ((number + 1) / 2, (number + 2) / 2)), min(value), max(value),
		CASE WHEN count(*) > 1 THEN sqrt(sum((value - mean) * (value - mean)) / (count(*) - 1)) ELSE 0.0 END, name
	FROM ordered
	GROUP BY name
)
ORDER BY sum DESC, name
