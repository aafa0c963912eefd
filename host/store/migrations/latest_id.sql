-- The rule of docs/results.md, as `record/src/latest.rs` has it: of each key the newest measured cell, figures before none and higher
-- trust before lower.
SELECT arg_max(id, row(
    coalesce(has_figures, false),
    CASE trust WHEN 'hardware' THEN 4 WHEN 'remote' THEN 3 WHEN 'unverified' THEN 2 WHEN 'emulated' THEN 1 ELSE 0 END,
    coalesce(epoch_us(timestamp), -9223372036854775807),
    run,
    cell
)) AS id
FROM benchmark_results WHERE outcome = 'measured' GROUP BY key
