-- Whole runs: what was asked for, where, and with what.
CREATE TABLE runs (
    run VARCHAR NOT NULL,
    timestamp TIMESTAMP,
    schema VARCHAR,
    host_version VARCHAR,
    hostname VARCHAR,
    os VARCHAR,
    arch VARCHAR,
    kernel VARCHAR,
    cpu_model VARCHAR,
    cpus_usable BIGINT,
    governor VARCHAR,
    memory_total_mb DOUBLE,
    load_1min DOUBLE,
    seed VARCHAR,
    command JSON,
    request JSON,
    environment JSON,
    left_out JSON,
    cells BIGINT NOT NULL,
    cells_measured BIGINT NOT NULL,
    fingerprint VARCHAR NOT NULL,
    stored_at TIMESTAMP NOT NULL
);

-- One model on one device in one run.
CREATE TABLE benchmark_runs (
    id BIGINT NOT NULL,
    timestamp TIMESTAMP,
    model_id VARCHAR,
    device VARCHAR,
    precision VARCHAR,
    architecture_type VARCHAR,
    task VARCHAR,
    parameter_count BIGINT,
    description VARCHAR,
    run VARCHAR NOT NULL,
    device_id VARCHAR,
    benchmark VARCHAR,
    emulated BOOLEAN,
    architecture_id BIGINT,
    hardware_id BIGINT
);

-- One cell each.
CREATE TABLE benchmark_results (
    id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    run VARCHAR,
    timestamp TIMESTAMP,
    hostname VARCHAR,
    cpu_model VARCHAR,
    cell BIGINT,
    plugin VARCHAR,
    plugin_version VARCHAR,
    device_id VARCHAR,
    device_name VARCHAR,
    device_kind VARCHAR,
    driver_version VARCHAR,
    emulated BOOLEAN,
    model_id VARCHAR,
    family VARCHAR,
    category VARCHAR,
    architecture_type VARCHAR,
    task VARCHAR,
    parameter_count BIGINT,
    benchmark VARCHAR,
    benchmark_version VARCHAR,
    axes VARCHAR,
    batch_size BIGINT,
    sequence_length BIGINT,
    precision_requested VARCHAR,
    precision VARCHAR,
    engine VARCHAR,
    nodes_total BIGINT,
    nodes_on_device BIGINT,
    cache_hit BOOLEAN,
    threads BIGINT,
    beside VARCHAR,
    outcome VARCHAR,
    reason_code VARCHAR,
    reason VARCHAR,
    stable BOOLEAN,
    verified VARCHAR,
    output_difference DOUBLE,
    fixes VARCHAR,
    seed VARCHAR,
    plugin_sha256 VARCHAR,
    runtime_sha256 VARCHAR,
    model_content VARCHAR,
    iterations BIGINT,
    latency_mean_ms DOUBLE,
    latency_median_ms DOUBLE,
    latency_min_ms DOUBLE,
    latency_max_ms DOUBLE,
    latency_std_ms DOUBLE,
    latency_mad_ms DOUBLE,
    latency_90p_ms DOUBLE,
    latency_95p_ms DOUBLE,
    latency_99p_ms DOUBLE,
    latency_ci95_low_ms DOUBLE,
    latency_ci95_high_ms DOUBLE,
    latency_outliers BIGINT,
    cpu_median_ms DOUBLE,
    throughput_samples_per_sec DOUBLE,
    sequential_per_sec DOUBLE,
    concurrent_per_sec DOUBLE,
    concurrent_workers BIGINT,
    speedup_over_sequential DOUBLE,
    first_token_latency_ms DOUBLE,
    time_to_first_token_ms DOUBLE,
    time_per_output_token_ms DOUBLE,
    end_to_end_ms DOUBLE,
    prefill_tokens_per_sec DOUBLE,
    decode_tokens_per_sec DOUBLE,
    import_ms DOUBLE,
    instantiate_ms DOUBLE,
    load_ms DOUBLE,
    read_ms DOUBLE,
    compile_cold_ms DOUBLE,
    compile_warm_ms DOUBLE,
    first_inference_ms DOUBLE,
    memory_before_mb DOUBLE,
    memory_usage_mb DOUBLE,
    peak_memory_mb DOUBLE,
    average_memory_mb DOUBLE,
    device_peak_memory_mb DOUBLE,
    energy_j_per_item DOUBLE,
    flops_per_sec DOUBLE,
    share_of_peak_flops DOUBLE,
    weight_bytes_per_sec DOUBLE,
    share_of_peak_bandwidth DOUBLE,
    peak_float32_per_sec DOUBLE,
    peak_float16_per_sec DOUBLE,
    peak_bfloat16_per_sec DOUBLE,
    peak_int8_per_sec DOUBLE,
    peak_bytes_per_sec DOUBLE
);

CREATE TABLE hardware_info (
    id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    device_type VARCHAR,
    device_name VARCHAR,
    device_description VARCHAR,
    performance_tier VARCHAR,
    hardware_details JSON
);

CREATE TABLE raw_benchmark_data (
    id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    raw_data JSON
);

-- A round of a series with all its samples.
CREATE TABLE raw_samples (
    run VARCHAR NOT NULL,
    cell BIGINT NOT NULL,
    series VARCHAR NOT NULL,
    unit VARCHAR,
    round BIGINT,
    round_cpu_ns BIGINT,
    round_wall_ns BIGINT,
    samples DOUBLE[]
);

CREATE TABLE hardware_platforms (
    id BIGINT NOT NULL,
    hardware_type VARCHAR,
    device_name VARCHAR,
    platform VARCHAR,
    platform_version VARCHAR,
    driver_version VARCHAR,
    memory_gb DOUBLE,
    compute_units BIGINT,
    metadata JSON,
    created_at TIMESTAMP,
    identity VARCHAR NOT NULL
);

CREATE TABLE model_architecture_coverage (
    architecture_id BIGINT NOT NULL,
    name VARCHAR NOT NULL,
    category VARCHAR,
    family VARCHAR,
    architecture_type VARCHAR
);

CREATE VIEW comprehensive_benchmarks AS
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
WHERE r.outcome = 'measured' AND NOT r.emulated AND (r.verified LIKE 'yes%' OR r.verified = 'itself');

-- What a run found out about a model on a device. Null where it did not get so far as to tell.
CREATE VIEW hardware_compatibility AS
SELECT
    r.run AS run_id,
    r.model_id,
    any_value(b.hardware_id) AS hardware_id,
    r.plugin AS hardware_type,
    CASE
        WHEN bool_or(r.outcome = 'measured' AND NOT r.emulated AND (r.verified LIKE 'yes%' OR r.verified = 'itself')) THEN true
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
GROUP BY r.run, r.model_id, r.plugin;

-- The newest measured cell of each kind on each machine. A machine without a name is one of its own.
CREATE VIEW latest_benchmarks AS
SELECT * FROM benchmark_results
WHERE outcome = 'measured'
QUALIFY row_number() OVER (
    PARTITION BY coalesce(hostname, run), cpu_model, model_id, plugin, device_id, benchmark, axes, precision, threads, emulated,
        (verified LIKE 'yes%' OR verified = 'itself')
    ORDER BY timestamp DESC, id DESC
) = 1;

-- Real hardware side by side, each against the CPU at the same point and precision on the same machine. What runs on a CPU itself is held
-- against as many threads, anything else against the CPU's most. Unverified cells are left out.
CREATE VIEW hardware_comparison AS
SELECT
    l.hostname, l.model_id, l.family, l.architecture_type, l.benchmark, l.axes, l.batch_size, l.sequence_length, l.precision,
    l.plugin AS device, l.device_id, l.threads, l.latency_median_ms, l.throughput_samples_per_sec, l.peak_memory_mb,
    c.latency_median_ms / l.latency_median_ms AS speedup_over_cpu,
    l.stable, l.timestamp, l.run
FROM latest_benchmarks l
LEFT JOIN latest_benchmarks c
    ON c.plugin = 'cpu' AND coalesce(c.hostname, c.run) = coalesce(l.hostname, l.run)
    AND c.cpu_model IS NOT DISTINCT FROM l.cpu_model AND c.model_id = l.model_id AND c.benchmark = l.benchmark AND c.axes = l.axes
    AND c.precision = l.precision AND NOT c.emulated AND (c.verified LIKE 'yes%' OR c.verified = 'itself')
    AND (l.device_kind IS DISTINCT FROM 'cpu' OR l.threads IS NULL OR c.threads IS NULL OR c.threads = l.threads)
WHERE NOT l.emulated AND (l.verified LIKE 'yes%' OR l.verified = 'itself')
QUALIFY row_number() OVER (PARTITION BY l.id ORDER BY c.threads DESC NULLS LAST, c.timestamp DESC, c.id DESC) = 1;

CREATE VIEW throughput_by_architecture AS
SELECT hostname, architecture_type, plugin AS device, precision, count(DISTINCT model_id) AS models,
    median(throughput_samples_per_sec) AS throughput_median,
    min(throughput_samples_per_sec) AS throughput_min, max(throughput_samples_per_sec) AS throughput_max
FROM latest_benchmarks
WHERE benchmark = 'inference' AND batch_size = 1 AND NOT emulated AND (verified LIKE 'yes%' OR verified = 'itself')
    AND throughput_samples_per_sec IS NOT NULL
GROUP BY ALL;

COMMENT ON TABLE runs IS 'Whole runs: what was asked for, where, and with what';
COMMENT ON COLUMN runs.run IS 'The run, and the name of its folder';
COMMENT ON COLUMN runs.timestamp IS 'When it began, in UTC';
COMMENT ON COLUMN runs.schema IS 'Form of its run.json';
COMMENT ON COLUMN runs.host_version IS 'Version of the host';
COMMENT ON COLUMN runs.hostname IS 'The machine';
COMMENT ON COLUMN runs.os IS 'Operating system';
COMMENT ON COLUMN runs.arch IS 'Architecture of the processor';
COMMENT ON COLUMN runs.kernel IS 'Version of the kernel';
COMMENT ON COLUMN runs.cpu_model IS 'Processor';
COMMENT ON COLUMN runs.cpus_usable IS 'Processors the host may use';
COMMENT ON COLUMN runs.governor IS 'Frequency governor; null where it cannot be read';
COMMENT ON COLUMN runs.memory_total_mb IS 'Memory of the machine [MiB]';
COMMENT ON COLUMN runs.load_1min IS 'Load when it began';
COMMENT ON COLUMN runs.seed IS 'Seed of the inputs';
COMMENT ON COLUMN runs.command IS 'Command line, a list of its arguments';
COMMENT ON COLUMN runs.request IS 'What was asked for, with its defaults filled in';
COMMENT ON COLUMN runs.environment IS 'All that was recorded of the machine';
COMMENT ON COLUMN runs.left_out IS 'Backends that were not asked for by name and have no cells, with the reason';
COMMENT ON COLUMN runs.cells IS 'How many cells';
COMMENT ON COLUMN runs.cells_measured IS 'How many of them are measured';
COMMENT ON COLUMN runs.fingerprint IS 'SHA-256 of the journal it was read from';
COMMENT ON COLUMN runs.stored_at IS 'When it was stored, in UTC';
COMMENT ON TABLE benchmark_runs IS 'One model on one device with one benchmark in one run';
COMMENT ON COLUMN benchmark_runs.id IS 'Number';
COMMENT ON COLUMN benchmark_runs.timestamp IS 'When the run began, in UTC';
COMMENT ON COLUMN benchmark_runs.model_id IS 'Model';
COMMENT ON COLUMN benchmark_runs.device IS 'Hardware id, which is the backend plugin';
COMMENT ON COLUMN benchmark_runs.precision IS 'What ran, read back';
COMMENT ON COLUMN benchmark_runs.architecture_type IS 'encoder-only, vision ...';
COMMENT ON COLUMN benchmark_runs.task IS 'Task of the model';
COMMENT ON COLUMN benchmark_runs.parameter_count IS 'Parameters of the model';
COMMENT ON COLUMN benchmark_runs.description IS 'In words';
COMMENT ON COLUMN benchmark_runs.run IS 'The run';
COMMENT ON COLUMN benchmark_runs.device_id IS 'The device among those of the backend';
COMMENT ON COLUMN benchmark_runs.benchmark IS 'The benchmark';
COMMENT ON COLUMN benchmark_runs.emulated IS 'The device is emulated';
COMMENT ON COLUMN benchmark_runs.architecture_id IS 'Row of model_architecture_coverage';
COMMENT ON COLUMN benchmark_runs.hardware_id IS 'Row of hardware_platforms';
COMMENT ON TABLE benchmark_results IS 'One row for each cell';
COMMENT ON COLUMN benchmark_results.id IS 'Number';
COMMENT ON COLUMN benchmark_results.run_id IS 'Row of benchmark_runs';
COMMENT ON TABLE hardware_info IS 'The device of each row of benchmark_runs, as its backend describes it';
COMMENT ON COLUMN hardware_info.id IS 'Number';
COMMENT ON COLUMN hardware_info.run_id IS 'Row of benchmark_runs';
COMMENT ON COLUMN hardware_info.device_type IS 'Hardware id';
COMMENT ON COLUMN hardware_info.device_name IS 'Name';
COMMENT ON COLUMN hardware_info.device_description IS 'Vendor, architecture and driver';
COMMENT ON COLUMN hardware_info.performance_tier IS 'Always null: nobody measures it';
COMMENT ON COLUMN hardware_info.hardware_details IS 'All that the backend tells';
COMMENT ON TABLE raw_benchmark_data IS 'The cells of each row of benchmark_runs as their documents';
COMMENT ON COLUMN raw_benchmark_data.id IS 'Number';
COMMENT ON COLUMN raw_benchmark_data.run_id IS 'Row of benchmark_runs';
COMMENT ON COLUMN raw_benchmark_data.raw_data IS 'A list of cells as in run.json';
COMMENT ON TABLE raw_samples IS 'Every sample: a row for each round of a series';
COMMENT ON COLUMN raw_samples.run IS 'The run';
COMMENT ON COLUMN raw_samples.cell IS 'Place in its plan';
COMMENT ON COLUMN raw_samples.series IS 'latency, first_inference ...';
COMMENT ON COLUMN raw_samples.unit IS 'Unit of the samples';
COMMENT ON COLUMN raw_samples.round IS 'Round they belong to';
COMMENT ON COLUMN raw_samples.round_cpu_ns IS 'CPU time of the round [ns]; null where there is no round';
COMMENT ON COLUMN raw_samples.round_wall_ns IS 'Wall time of the round [ns]';
COMMENT ON COLUMN raw_samples.samples IS 'The samples, in order';
COMMENT ON TABLE hardware_platforms IS 'Devices of machines';
COMMENT ON COLUMN hardware_platforms.id IS 'Number';
COMMENT ON COLUMN hardware_platforms.hardware_type IS 'Hardware id';
COMMENT ON COLUMN hardware_platforms.device_name IS 'Name';
COMMENT ON COLUMN hardware_platforms.platform IS 'Operating system and architecture';
COMMENT ON COLUMN hardware_platforms.platform_version IS 'Kernel';
COMMENT ON COLUMN hardware_platforms.driver_version IS 'Driver; null where the backend does not tell';
COMMENT ON COLUMN hardware_platforms.memory_gb IS 'Memory of the device [GiB]';
COMMENT ON COLUMN hardware_platforms.compute_units IS 'Processors, of a CPU; null for others';
COMMENT ON COLUMN hardware_platforms.metadata IS 'Machine and device';
COMMENT ON COLUMN hardware_platforms.created_at IS 'First run on it, in UTC';
COMMENT ON COLUMN hardware_platforms.identity IS 'What tells it from others';
COMMENT ON TABLE model_architecture_coverage IS 'Models that were measured or tried';
COMMENT ON COLUMN model_architecture_coverage.architecture_id IS 'Number';
COMMENT ON COLUMN model_architecture_coverage.name IS 'Model';
COMMENT ON COLUMN model_architecture_coverage.category IS 'text-encoders, vision ...';
COMMENT ON COLUMN model_architecture_coverage.family IS 'embedding, vision ...';
COMMENT ON COLUMN model_architecture_coverage.architecture_type IS 'encoder-only, vision ...';
COMMENT ON VIEW comprehensive_benchmarks IS 'Measured and verified cells on real hardware, under the names of older tools';
COMMENT ON VIEW hardware_compatibility IS 'What a run found out about a model on a device; null where it did not get so far as to tell';
COMMENT ON VIEW latest_benchmarks IS 'The newest measured cell of each kind on each machine';
COMMENT ON VIEW hardware_comparison IS 'Real hardware side by side, each against the CPU at the same point and precision on the same machine; unverified cells are left out';
COMMENT ON VIEW throughput_by_architecture IS 'Items per second at batch 1 of each machine, over the newest measured and verified cells of real hardware';
