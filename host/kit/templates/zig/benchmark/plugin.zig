//! @NAME@: a skillbench benchmark in one file. It measures how long one run of a model takes, and how long a burst of runs takes, one after
//! the other, as a service does that works off a queue.
//!
//! The host owns what has to be the same for all benchmarks: it loads the model and times that, fills the inputs, compares the outputs with
//! another engine, says how many samples it wants and when there are enough, and makes figures of them. What is left is the work.
//!
//! skillbench.h is the contract; the Makefile makes skillbench.zig from it.

const std = @import("std");
const c = @import("skillbench.zig");
const gpa = std.heap.c_allocator;

/// Fills the caller's error, below the size that the caller set, and returns its code. Errors of the host and of the backend need none of
/// this: they fill the same struct, and are handed on by returning their status.
fn fail(to: [*c]c.sb_error, code: c.sb_status, message: []const u8) c.sb_status {
    if (to == null) return code;
    var made: c.sb_error = .{ .size = @min(to.*.size, @sizeOf(c.sb_error)), .code = code };
    @memcpy(made.message[0..message.len], message);
    @memcpy(@as([*]u8, @ptrCast(to))[0..made.size], std.mem.asBytes(&made)[0..made.size]);
    return code;
}

/// An option's number. The host has checked the text against the schema below, and gives no option that the schema does not have.
fn number(options: [*c]const c.sb_options, key: []const u8, otherwise: usize) usize {
    if (options == null or options.*.items == null) return otherwise;
    for (options.*.items[0..options.*.count]) |option|
        if (std.mem.eql(u8, std.mem.span(option.key), key)) return std.fmt.parseInt(usize, std.mem.span(option.value), 10) catch otherwise;
    return otherwise;
}

/// How many items one run works on.
fn batchOf(target: c.sb_target) f64 {
    if (target.axes != null) for (target.axes[0..target.axis_count]) |axis|
        if (std.mem.eql(u8, std.mem.span(axis.name), "batch")) return @floatFromInt(axis.opt);
    return 1;
}

/// What is measured: `runs` runs of a request are one sample. Its functions return the status of the first call that failed, whose error the
/// callee has filled.
const Work = struct {
    host: c.sb_host,
    backend: c.sb_backend,
    reporter: c.sb_reporter,
    request: ?*c.sb_request = null,
    runs: usize = 1,
    err: [*c]c.sb_error,

    fn once(self: Work) c.sb_status {
        for (0..self.runs) |_| {
            const status = self.backend.run.?(self.request, null, self.err);
            if (status != c.SB_OK) return status;
        }
        return c.SB_OK;
    }

    /// One round: so many samples, after some iterations that let caches and clocks settle. All that a round does stands in its samples,
    /// since the host times the round as a whole and holds the samples against that.
    fn measureRound(self: Work, series: u32, round: c.sb_round) c.sb_status {
        const values = gpa.alloc(f64, @intCast(round.iterations)) catch
            return fail(self.err, c.SB_RESOURCE_EXHAUSTED, "there is no memory for the samples of a round");
        defer gpa.free(values);
        for (0..@intCast(round.settle)) |_| {
            const status = self.once();
            if (status != c.SB_OK) return status;
        }
        for (values) |*value| {
            const start = self.host.now_ns.?(self.host.ctx);
            const status = self.once();
            if (status != c.SB_OK) return status;
            value.* = @floatFromInt(self.host.now_ns.?(self.host.ctx) - start);
        }
        var samples: c.sb_samples = .{ .size = @sizeOf(c.sb_samples), .series = series, .round = round.id };
        samples.count = values.len;
        samples.values = values.ptr;
        return self.reporter.samples.?(self.reporter.ctx, &samples, self.err);
    }

    /// Rounds of a series until the host has enough. It warms up first, and stops when the interval is tight or the time is over.
    fn measure(self: Work, name: [*:0]const u8, items: f64) c.sb_status {
        var series: c.sb_series = .{ .size = @sizeOf(c.sb_series), .kind = c.SB_DURATION, .better = c.SB_LOWER_IS_BETTER, .name = name, .unit = "ns" };
        series.items_per_sample = items;
        var handle: u32 = 0;
        var status = self.reporter.series.?(self.reporter.ctx, &series, &handle, self.err);
        while (status == c.SB_OK) {
            var round: c.sb_round = .{ .size = @sizeOf(c.sb_round) };
            if (self.reporter.next_round.?(self.reporter.ctx, handle, &round) == 0) break;
            status = self.measureRound(handle, round);
        }
        return status;
    }
};

/// A model's request, ready to be timed: inputs bound, run once, and its outputs held against another engine. Without that last step the host
/// gives out no measured round: there is no figure of a model that computes the wrong thing.
fn prepare(target: c.sb_target, model: ?*c.sb_model, request: ?*c.sb_request, err: [*c]c.sb_error) c.sb_status {
    var status = target.prepare.?(target.ctx, model, request, 0, err);
    if (status == c.SB_OK) status = target.backend.*.run.?(request, null, err);
    return if (status == c.SB_OK) target.verify.?(target.ctx, model, request, err) else status;
}

/// [main] Called once for each cell. Target, options and reporter are lent until it returns. Whatever it returns other than SB_OK is the cell's
/// outcome, and no sample of it counts.
fn run(
    host: [*c]const c.sb_host,
    given: [*c]const c.sb_target,
    options: [*c]const c.sb_options,
    reporter: [*c]const c.sb_reporter,
    err: [*c]c.sb_error,
) callconv(.c) c.sb_status {
    if (given == null) return fail(err, c.SB_INVALID_ARGUMENT, "this benchmark needs a target: a backend and a model");
    const target = given.*;
    if (target.part_count != 1) return fail(err, c.SB_UNIMPLEMENTED, "this benchmark measures models of one part: take `inference` for others");

    var model: ?*c.sb_model = null;
    var status = target.load.?(target.ctx, target.parts[0].*.name, null, 0, &model, err);
    if (status != c.SB_OK) return status;
    defer target.unload.?(target.ctx, model);

    var work: Work = .{ .host = host.*, .backend = target.backend.*, .reporter = reporter.*, .err = err };
    status = work.backend.request.?(model, &work.request, err);
    if (status != c.SB_OK) return status;
    defer work.backend.release.?(work.request);

    status = prepare(target, model, work.request, err);
    // `latency` is a name that the host knows, so that it fills the usual columns. Any other name stands among the series.
    if (status == c.SB_OK) status = work.measure("latency", batchOf(target));
    work.runs = number(options, "runs", 10);
    if (status == c.SB_OK) status = work.measure("burst", batchOf(target) * @as(f64, @floatFromInt(work.runs)));
    return status;
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
    .run = run,
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

fn factory(id: [*c]const u8) callconv(.c) ?*const anyopaque {
    return if (std.mem.eql(u8, std.mem.span(id), c.SB_BENCHMARKS)) &benchmarks else null;
}

/// The one symbol that the host looks up.
export const skillbench_plugin: c.sb_plugin = .{
    .size = @sizeOf(c.sb_plugin),
    .abi_major = c.SB_ABI_MAJOR,
    .abi_minor = c.SB_ABI_MINOR,
    .id = "@NAME@",
    .name = "@NAME@",
    .version = "0.1.0",
    .factory = factory,
};
