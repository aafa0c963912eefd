-- One key for each measurement. The table of cells is made anew from the documents of its cells, in the columns of the catalogue.
ALTER TABLE runs ADD COLUMN machine VARCHAR;
COMMENT ON COLUMN runs.machine IS 'What tells the machine from others';

-- What benchmarks and backends measure besides the metrics of the catalogue.
CREATE TABLE plugin_metrics (
    run VARCHAR NOT NULL,
    cell BIGINT NOT NULL,
    metric VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    unit VARCHAR,
    higher_is_better BOOLEAN,
    n BIGINT,
    median DOUBLE,
    mean DOUBLE,
    min DOUBLE,
    max DOUBLE,
    ci95_low DOUBLE,
    ci95_high DOUBLE
);
COMMENT ON TABLE plugin_metrics IS 'What benchmarks and backends measure besides the metrics of the catalogue, a row each';
COMMENT ON COLUMN plugin_metrics.run IS 'The run';
COMMENT ON COLUMN plugin_metrics.cell IS 'Place in its plan';
COMMENT ON COLUMN plugin_metrics.metric IS 'As the plugin calls it';
COMMENT ON COLUMN plugin_metrics.source IS 'series: of the benchmark; counter: of the backend';
COMMENT ON COLUMN plugin_metrics.unit IS 'Its unit';
COMMENT ON COLUMN plugin_metrics.higher_is_better IS 'Null: the plugin does not say';
COMMENT ON COLUMN plugin_metrics.n IS 'Samples';
COMMENT ON COLUMN plugin_metrics.median IS 'Median; null of a counter';
COMMENT ON COLUMN plugin_metrics.mean IS 'Mean';
COMMENT ON COLUMN plugin_metrics.min IS 'Least';
COMMENT ON COLUMN plugin_metrics.max IS 'Most';
COMMENT ON COLUMN plugin_metrics.ci95_low IS '95% interval of the median, lower end';
COMMENT ON COLUMN plugin_metrics.ci95_high IS 'The same, upper end';
