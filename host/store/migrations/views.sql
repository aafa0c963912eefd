-- Every view, as it is today, after `latest_id` in a file of its own. They are made anew with each change of the tables.

CREATE OR REPLACE VIEW comprehensive_benchmarks AS
SELECT
    r.id AS benchmark_id,
    b.architecture_id,
    b.hardware_id,
    r.batch_size,
    r.throughput_samples_per_sec AS throughput,
    r.latency_mean_ms AS latency_avg,
    r.latency_std_ms AS latency_std,
    r.peak_memory_mb AS memory_peak_mb,
    r.timestamp AS test_timestamp
FROM benchmark_results r JOIN benchmark_runs b ON b.id = r.run_id
WHERE r.outcome = 'measured' AND r.trust = 'hardware';

-- What a run found out about a model on a device. Null where it did not get so far as to tell.
CREATE OR REPLACE VIEW hardware_compatibility AS
SELECT
    r.run AS run_id,
    r.model_id,
    any_value(b.hardware_id) AS hardware_id,
    r.plugin AS hardware_type,
    CASE
        WHEN bool_or(r.outcome = 'measured' AND r.trust = 'hardware') THEN true
        -- Only emulated, or held against nothing: nobody knows.
        WHEN bool_or(r.outcome = 'measured') THEN NULL
        WHEN bool_or(r.outcome IN ('failed', 'crashed', 'timed-out', 'unsupported', 'wrong')) THEN false
    END AS is_compatible,
    CASE
        WHEN bool_or(r.outcome NOT IN ('unavailable', 'skipped')) THEN true
        WHEN bool_or(r.outcome = 'unavailable') THEN false
    END AS detection_success,
    CASE
        WHEN bool_or(r.outcome IN ('measured', 'wrong')) THEN true
        WHEN bool_or(r.outcome IN ('failed', 'crashed', 'timed-out', 'unsupported')) THEN false
    END AS initialization_success,
    min_by(r.reason, r.cell) FILTER (r.outcome NOT IN ('measured', 'skipped')) AS error_message,
    min_by(r.outcome || ': ' || r.reason_code, r.cell) FILTER (r.outcome NOT IN ('measured', 'skipped')) AS error_type,
    min_by(r.fixes, r.cell) FILTER (r.fixes IS NOT NULL) AS suggested_fix,
    bool_or(r.fixes IS NOT NULL) AS workaround_available,
    count(*) FILTER (r.outcome = 'measured') / nullif(count(*) FILTER (r.outcome NOT IN ('unavailable', 'skipped')), 0)
        AS compatibility_score
FROM benchmark_results r JOIN benchmark_runs b ON b.id = r.run_id
WHERE r.family IS DISTINCT FROM 'function'
GROUP BY r.run, r.model_id, r.plugin;

-- These cells, with what is newer of each, which failed or is believed less.
CREATE OR REPLACE VIEW latest_measured AS
WITH ordered AS (
    SELECT *, coalesce(epoch_us(timestamp), -9223372036854775807) AS began FROM benchmark_results
),
best AS (
    SELECT * FROM ordered WHERE id IN (SELECT id FROM latest_id)
),
newer AS (
    SELECT b.id AS best_id,
        arg_max({'run': t.run, 'outcome': t.outcome, 'reason': t.reason}, row(t.began, t.run, t.cell)) AS newest
    FROM best b JOIN ordered t
        ON t.attempt = b.attempt AND (t.device_id IS NULL OR t.device_id IS NOT DISTINCT FROM b.device_id)
        AND (t.outcome <> 'measured' OR t.key = b.key) AND t.outcome <> 'skipped'
        AND (t.began > b.began OR (t.began = b.began AND (t.run > b.run OR (t.run = b.run AND t.cell > b.cell))))
    GROUP BY b.id
)
SELECT b.* EXCLUDE (began),
    n.newest.run AS newer_run, n.newest.outcome AS newer_outcome, n.newest.reason AS newer_reason
FROM best b LEFT JOIN newer n ON n.best_id = b.id;

-- The newest try of each thing that was asked for, however it ended. What a rule skipped was not tried.
CREATE OR REPLACE VIEW latest_attempt AS
SELECT * FROM benchmark_results WHERE id IN (
    SELECT arg_max(id, row(outcome <> 'skipped', coalesce(epoch_us(timestamp), -9223372036854775807), run, cell))
    FROM benchmark_results GROUP BY attempt, device_id
);

CREATE OR REPLACE VIEW latest_benchmarks AS SELECT * FROM latest_measured;

-- Real hardware side by side, each against the CPU at the same point and precision on the same machine. What runs on a CPU itself is held
-- against as many threads, anything else against the CPU's most. Unverified cells are left out.
CREATE OR REPLACE VIEW hardware_comparison AS
SELECT
    l.hostname, l.model_id, l.family, l.architecture_type, l.benchmark, l.axes, l.batch_size, l.sequence_length, l.precision,
    l.plugin AS device, l.device_id, l.threads, l.options, l.beside, l.latency_median_ms, l.throughput_samples_per_sec, l.peak_memory_mb,
    c.latency_median_ms / l.latency_median_ms AS speedup_over_cpu,
    l.stable, l.timestamp, l.run
FROM latest_benchmarks l
LEFT JOIN latest_benchmarks c
    ON c.plugin = 'cpu' AND c.machine = l.machine AND c.model_id = l.model_id AND c.benchmark = l.benchmark AND c.axes = l.axes
    AND c.precision = l.precision AND c.trust = 'hardware' AND c.options IS NULL AND c.beside IS NULL
    AND (l.device_kind IS DISTINCT FROM 'cpu' OR l.threads IS NULL OR c.threads IS NULL OR c.threads = l.threads)
WHERE l.trust = 'hardware'
QUALIFY row_number() OVER (PARTITION BY l.id ORDER BY c.threads DESC NULLS LAST, c.timestamp DESC, c.id DESC) = 1;

CREATE OR REPLACE VIEW throughput_by_architecture AS
SELECT any_value(hostname) AS hostname, architecture_type, plugin AS device, precision, options, beside, machine,
    count(DISTINCT model_id) AS models,
    median(throughput_samples_per_sec) AS throughput_median,
    min(throughput_samples_per_sec) AS throughput_min, max(throughput_samples_per_sec) AS throughput_max
FROM latest_benchmarks
WHERE benchmark = 'inference' AND batch_size = 1 AND trust = 'hardware'
    AND throughput_samples_per_sec IS NOT NULL
GROUP BY ALL;

-- What a stated rule skipped was not tried.
CREATE OR REPLACE VIEW success_rates AS
SELECT any_value(hostname) AS hostname, timestamp::DATE AS day, nullif(family, '') AS family, nullif(category, '') AS category,
    count(*) AS cells, count(*) FILTER (outcome = 'measured') AS measured,
    count(*) FILTER (outcome = 'measured') / count(*) AS success_rate, machine
FROM benchmark_results
WHERE outcome <> 'skipped'
GROUP BY machine, day, family, category;

COMMENT ON VIEW comprehensive_benchmarks IS 'Measured and verified cells on real hardware, under the names of older tools';
COMMENT ON VIEW hardware_compatibility IS 'What a run found out about a model on a device; null where it did not get so far as to tell';
COMMENT ON VIEW latest_id IS 'The cell that counts of each key';
COMMENT ON VIEW latest_measured IS 'The newest measured cell of each key, with what is newer of it and failed, or is believed less';
COMMENT ON VIEW latest_attempt IS 'The newest try of each thing that was asked for, however it ended';
COMMENT ON VIEW latest_benchmarks IS 'latest_measured under its older name';
COMMENT ON VIEW hardware_comparison IS 'Real hardware side by side, each against the CPU at the same point and precision on the same machine; unverified cells are left out';
COMMENT ON VIEW success_rates IS 'How much of what was tried on a day was measured, by category of models and of functions';
COMMENT ON VIEW throughput_by_architecture IS 'Items per second at batch 1 of each machine, over the newest measured and verified cells of real hardware';
