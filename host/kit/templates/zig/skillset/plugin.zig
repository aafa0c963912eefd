//! @NAME@: a skillbench skillset in one file. It has one skill, a perceptron of two layers, and writes its ONNX file byte by byte.
//!
//! A skillset answers two questions: which models there are, as JSON, and where asked for one of them, what its files are. The host keeps what
//! was built, fills the inputs by the rules given here, and runs the model on every backend.
//!
//! skillbench.h is the contract, from which the Makefile makes skillbench.zig; skillbench_sdk.zig has what all plugins need.

const std = @import("std");
const sdk = @import("skillbench_sdk.zig");
const c = sdk.c;
const Failure = sdk.Failure;
const Fault = sdk.Fault;

/// The description, which is also skill.json. `content` changes whenever `build` would write something else, since the host keeps by it what it
/// built: other weights under the same content would make old and new results look comparable. Every input says how it is filled: from the
/// run's seed, so that all backends compute the same numbers.
const skill =
    \\{
    \\  "schema": "skillbench.skill/1",
    \\  "id": "@NAME@-mlp",
    \\  "content": "@NAME@-mlp, first edition",
    \\  "family": "perceptron",
    \\  "architecture": "mlp",
    \\  "category": "example",
    \\  "task": "example",
    \\  "parameters": 808,
    \\  "parameters_read": 808,
    \\  "axes": {"batch": [1, 64]},
    \\  "flops": [{"value": 1536, "axes": {"batch": 1}}],
    \\  "weights": "pseudo-random, in the graph",
    \\  "parts": [{"name": "", "graph": "model.onnx"}],
    \\  "inputs": [{"part": "", "name": "x", "dtype": "f32", "dims": ["batch", 16], "fill": "normal"}]
    \\}
    \\
;

/// An ONNX file is a protobuf message: a row of fields, each a number and what it holds. Two kinds are enough here: an integer, and bytes,
/// which are a text, numbers, or a message within the message. What messages are made of lies in one arena.
const Message = struct {
    memory: std.mem.Allocator,
    all: std.ArrayList(u8) = .empty,

    fn varint(self: *Message, given: u64) Failure!void {
        var rest = given;
        while (rest > 0x7F) : (rest >>= 7) try self.all.append(self.memory, @as(u8, @truncate(rest)) | 0x80);
        try self.all.append(self.memory, @truncate(rest));
    }

    fn integer(self: *Message, field: u64, value: u64) Failure!void {
        try self.varint(field << 3);
        try self.varint(value);
    }

    fn bytes(self: *Message, field: u64, value: []const u8) Failure!void {
        try self.varint(field << 3 | 2);
        try self.varint(value.len);
        try self.all.appendSlice(self.memory, value);
    }

    fn within(self: *Message) Message {
        return .{ .memory = self.memory };
    }

    /// NodeProto: input (1), output (2), op_type (4).
    fn node(self: *Message, operator: []const u8, inputs: []const []const u8, output: []const u8) Failure!void {
        var made = self.within();
        for (inputs) |input| try made.bytes(1, input);
        try made.bytes(2, output);
        try made.bytes(4, operator);
        try self.bytes(1, made.all.items);
    }

    /// TensorProto: dims (1), data_type (2) where 1 is float32, name (8), raw_data (9). The numbers come from a generator with a fixed seed, so
    /// that every build writes the same file; they are about as large as those of a trained layer, and none is zero or a denormal.
    fn weight(self: *Message, name: []const u8, dims: []const u64, seed: *u32) Failure!void {
        var made = self.within();
        var raw = self.within();
        var numbers: usize = 1;
        for (dims) |dim| {
            try made.integer(1, dim);
            numbers *= @intCast(dim);
        }
        for (0..numbers) |_| {
            seed.* = seed.* *% 1664525 +% 1013904223;
            const number = 0.3 * ((@as(f32, @floatFromInt(seed.* >> 8)) + 0.5) / 8388608.0 - 1.0); // between -0.3 and 0.3
            try raw.all.appendSlice(self.memory, std.mem.asBytes(&number)); // the low byte first, as ONNX has it and every machine of today
        }
        try made.integer(2, 1);
        try made.bytes(8, name);
        try made.bytes(9, raw.all.items);
        try self.bytes(5, made.all.items);
    }

    /// ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1)
    /// or dim_param (2). The batch is named after the axis, so that the host knows which dimension it is.
    fn port(self: *Message, field: u64, name: []const u8, columns: u64) Failure!void {
        var made: [6]Message = @splat(self.within());
        const info, const kind, const tensor, const shape, const batch, const width = .{ &made[0], &made[1], &made[2], &made[3], &made[4], &made[5] };
        try batch.bytes(2, "batch");
        try width.integer(1, columns);
        try shape.bytes(1, batch.all.items);
        try shape.bytes(1, width.all.items);
        try tensor.integer(1, 1);
        try tensor.bytes(2, shape.all.items);
        try kind.bytes(1, tensor.all.items);
        try info.bytes(1, name);
        try info.bytes(2, kind.all.items);
        try self.bytes(field, info.all.items);
    }
};

/// ModelProto: ir_version (1), producer_name (2), graph (7), opset_import (8). GraphProto: node (1), name (2), initializer (5), input (11),
/// output (12).
fn model(memory: std.mem.Allocator) Failure![]const u8 {
    var seed: u32 = 1;
    var graph: Message = .{ .memory = memory };
    try graph.node("MatMul", &.{ "x", "w1" }, "a");
    try graph.node("Add", &.{ "a", "b1" }, "b");
    try graph.node("Relu", &.{"b"}, "c");
    try graph.node("MatMul", &.{ "c", "w2" }, "d");
    try graph.node("Add", &.{ "d", "b2" }, "y");
    try graph.bytes(2, "mlp");
    try graph.weight("w1", &.{ 16, 32 }, &seed);
    try graph.weight("b1", &.{32}, &seed);
    try graph.weight("w2", &.{ 32, 8 }, &seed);
    try graph.weight("b2", &.{8}, &seed);
    try graph.port(11, "x", 16);
    try graph.port(12, "y", 8);
    var opset = graph.within();
    try opset.integer(2, 17);
    var file = graph.within();
    try file.integer(1, 8);
    try file.bytes(2, "@NAME@");
    try file.bytes(7, graph.all.items);
    try file.bytes(8, opset.all.items);
    return file.all.items;
}

fn write(memory: std.mem.Allocator, directory: []const u8, name: []const u8, bytes: []const u8, fault: *Fault) Failure!void {
    const path = try std.mem.concatWithSentinel(memory, u8, &.{ directory, "/", name }, 0);
    if (std.c.fopen(path, "wb")) |file| {
        const written = std.c.fwrite(bytes.ptr, 1, bytes.len, file);
        if (std.c.fclose(file) == 0 and written == bytes.len) return;
    }
    return fault.refuse(c.SB_RESOURCE_EXHAUSTED, 0, "{s} cannot be written: is the disk full?", .{path});
}

/// [any] Writes the files of a skill into an empty folder, skill.json last. A build that takes long polls `host.stopping` and tells `host.phase`
/// how far it is; this one is done at once.
fn build(_: [*c]const c.sb_host, id: [*c]const u8, _: [*c]const c.sb_options, directory: [*c]const u8, fault: *Fault) Failure!void {
    const name = sdk.span(id);
    if (!std.mem.eql(u8, name, "@NAME@-mlp"))
        return fault.refuse(c.SB_NOT_FOUND, 0, "there is no skill '{s}' here, only @NAME@-mlp", .{name});
    var arena: std.heap.ArenaAllocator = .init(sdk.gpa);
    defer arena.deinit();
    try write(arena.allocator(), sdk.span(directory), "model.onnx", try model(arena.allocator()), fault);
    try write(arena.allocator(), sdk.span(directory), "skill.json", skill, fault);
}

/// [any]
fn count() callconv(.c) u32 {
    return 1;
}

/// [any] Cheap: nothing is built to describe it. Null beyond the end.
fn describe(index: u32) callconv(.c) [*c]const u8 {
    return if (index == 0) skill else null;
}

const skillset: c.sb_skillset = .{
    .size = @sizeOf(c.sb_skillset),
    .id = "@NAME@",
    .summary = "A perceptron of two layers",
    .count = count,
    .describe = describe,
    .build = @ptrCast(sdk.guard(build)),
};

/// The one symbol that the host looks up.
export const skillbench_plugin = sdk.plugin("@NAME@", "0.1.0", .{.{ c.SB_SKILLSET, &skillset }});
