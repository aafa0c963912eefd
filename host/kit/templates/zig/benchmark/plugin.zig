//! @NAME@: a skillbench benchmark in one file. It measures how long one run of a model takes, and how long a burst of runs takes, one after
//! the other, as a service does that works off a queue.
//!
//! The host owns what has to be the same for all benchmarks: it loads the model and times that, fills the inputs, compares the outputs with
//! another engine, says how many samples it wants and when there are enough, and makes figures of them. What is left is the work.
//!
//! skillbench.h is the contract, from which the Makefile makes skillbench.zig; skillbench_sdk.zig has what all plugins need.

const std = @import("std");
const sdk = @import("skillbench_sdk.zig");
const c = sdk.c;
const Failure = sdk.Failure;
const Fault = sdk.Fault;

/// How many items one run works on.
fn batchOf(target: c.sb_target) f64 {
    if (target.axes != null) for (target.axes[0..target.axis_count]) |axis|
        if (std.mem.eql(u8, sdk.span(axis.name), "batch")) return @floatFromInt(axis.opt);
    return 1;
}

/// For what a slot of the host or of the backend returned: it was given `fault.to`, and has filled it where it failed.
fn check(fault: *Fault, code: c.sb_status) Failure!void {
    if (code == c.SB_OK) return;
    fault.code = code;
    return error.Refused;
}

/// What is measured: `runs` runs of a request are one sample.
const Work = struct {
    backend: *const c.sb_backend,
    reporter: *const c.sb_reporter,
    request: ?*c.sb_request,
    runs: usize = 1,
    fault: *Fault,

    fn once(self: Work) Failure!void {
        for (0..self.runs) |_| try check(self.fault, self.backend.run.?(self.request, null, self.fault.to));
    }

    /// One round: so many samples, after some iterations that let caches and clocks settle. All that a round does stands in its samples,
    /// since the host times the round as a whole and holds the samples against that.
    fn measureRound(self: Work, series: u32, round: c.sb_round) Failure!void {
        const values = try sdk.gpa.alloc(f64, @intCast(round.iterations));
        defer sdk.gpa.free(values);
        for (0..@intCast(round.settle)) |_| try self.once();
        for (values) |*value| {
            const start = sdk.now();
            try self.once();
            value.* = @floatFromInt(sdk.now() - start);
        }
        var samples: c.sb_samples = .{ .size = @sizeOf(c.sb_samples), .series = series, .round = round.id };
        samples.count = values.len;
        samples.values = values.ptr;
        try check(self.fault, self.reporter.samples.?(self.reporter.ctx, &samples, self.fault.to));
    }

    /// Rounds of a series until the host has enough. It warms up first, and stops when the interval is tight or the time is over.
    fn measure(self: Work, name: [*:0]const u8, items: f64) Failure!void {
        var series: c.sb_series = .{ .size = @sizeOf(c.sb_series), .kind = c.SB_DURATION, .better = c.SB_LOWER_IS_BETTER, .name = name };
        series.unit = "ns";
        series.items_per_sample = items;
        var handle: u32 = 0;
        try check(self.fault, self.reporter.series.?(self.reporter.ctx, &series, &handle, self.fault.to));
        while (true) {
            var round: c.sb_round = .{ .size = @sizeOf(c.sb_round) };
            if (self.reporter.next_round.?(self.reporter.ctx, handle, &round) == 0) return;
            try self.measureRound(handle, round);
        }
    }
};

/// [main] Called once for each cell. Target, options and reporter are lent until it returns. Where it fails, that is the cell's outcome, and no
/// sample of it counts.
fn run(
    host: [*c]const c.sb_host,
    given: [*c]const c.sb_target,
    options: [*c]const c.sb_options,
    reporter: [*c]const c.sb_reporter,
    fault: *Fault,
) Failure!void {
    sdk.host = sdk.whole(c.sb_host, host);
    if (given == null) return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "this benchmark needs a target: a backend and a model", .{});
    const target = given.*;
    if (target.part_count != 1)
        return fault.refuse(c.SB_UNIMPLEMENTED, 0, "this benchmark measures models of one part: take `inference` for others", .{});
    // The host has checked the text against the schema below.
    const runs = std.fmt.parseInt(usize, sdk.option(options, "runs") orelse "10", 10) catch 10;

    var model: ?*c.sb_model = null;
    try check(fault, target.load.?(target.ctx, target.parts[0].*.name, null, 0, &model, fault.to));
    defer target.unload.?(target.ctx, model);
    var request: ?*c.sb_request = null;
    try check(fault, target.backend.*.request.?(model, &request, fault.to));
    defer target.backend.*.release.?(request);

    var work: Work = .{ .backend = target.backend, .reporter = reporter, .request = request, .fault = fault };
    try check(fault, target.prepare.?(target.ctx, model, request, 0, fault.to)); // binds the inputs
    try work.once();
    // The outputs are held against another engine. Without this the host gives out no measured round: there is no figure of a model that
    // computes the wrong thing.
    try check(fault, target.verify.?(target.ctx, model, request, fault.to));

    // `latency` is a name that the host knows, so that it fills the usual columns. Any other name stands among the series.
    try work.measure("latency", batchOf(target));
    work.runs = runs;
    try work.measure("burst", batchOf(target) * @as(f64, @floatFromInt(runs)));
}

/// A result of one version is never compared with one of another: change the version whenever the work changes.
const benchmark: c.sb_benchmark = .{
    .size = @sizeOf(c.sb_benchmark),
    .flags = c.SB_BENCHMARK_NEEDS_TARGET | c.SB_BENCHMARK_SHARES_MODELS, // no figure tells of loading, so a model may be there already
    .id = "@NAME@",
    .version = "1",
    .category = "performance",
    .summary = "Time of a run, and of a burst of runs",
    .options_schema =
    \\{"type": "object", "additionalProperties": false, "properties": {
    \\  "runs": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10, "description": "How many runs a burst has"}}}
    ,
    .run = @ptrCast(sdk.guard(run)),
};

/// [any]
fn count() callconv(.c) u32 {
    return 1;
}

/// [any] Null beyond the end.
fn at(index: u32) callconv(.c) [*c]const c.sb_benchmark {
    return if (index == 0) &benchmark else null;
}

const benchmarks: c.sb_benchmarks = .{ .size = @sizeOf(c.sb_benchmarks), .count = count, .at = at };

/// The one symbol that the host looks up.
export const skillbench_plugin = sdk.plugin("@NAME@", "0.1.0", .{.{ c.SB_BENCHMARKS, &benchmarks }});
