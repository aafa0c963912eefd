//! @NAME@: a skillbench backend in one file. It computes ONNX graphs of MatMul, Gemm, Add and Relu in float32 on the CPU.
//!
//! Read from the end, it is what the host sees: the exported symbol, the table behind it, and the slots of that table, which the host calls
//! in this order: open, device, load, port, request, bind, run, output. Read from the start, it is an engine that reads a graph and computes
//! it. The engine is there to be replaced by yours; the slots are there to stay.
//!
//! skillbench.h is the contract; the Makefile makes skillbench.zig from it. [main] is called on one thread, [any] on several at once, [lane]
//! on one at a time for each request.

const std = @import("std");
const c = @import("skillbench.zig");
const gpa = std.heap.c_allocator;
const eql = std.mem.eql;

/// Fills a struct of the caller. Its `size` says how much of it there is: an older host knows fewer fields than this file, a newer one more.
/// The size that is left says what was filled.
fn fill(comptime T: type, to: [*c]T, from: T) void {
    if (to == null) return;
    const size = @min(to.*.size, @sizeOf(T));
    @memcpy(@as([*]u8, @ptrCast(to))[0..size], std.mem.asBytes(&from)[0..size]);
    to.*.size = size;
}

/// A text in a field of fixed length.
fn put(comptime length: usize, text: []const u8) [length]u8 {
    var made: [length]u8 = @splat(0);
    @memcpy(made[0..text.len], text);
    return made;
}

const Failure = error{ Broken, Refused, OutOfMemory };

/// What goes wrong, on its way to the caller's error. Say what happened, where, and what to do next: the text is all that a user gets to see.
const Fault = struct {
    to: [*c]c.sb_error,
    code: c.sb_status = c.SB_INTERNAL,

    fn note(self: *Fault, code: c.sb_status, why: u32, comptime format: []const u8, arguments: anytype) void {
        var made: c.sb_error = .{ .size = @sizeOf(c.sb_error), .why = why, .code = code };
        _ = std.fmt.bufPrint(made.message[0 .. made.message.len - 1], format, arguments) catch {}; // as much of it as there is room for
        fill(c.sb_error, self.to, made);
        self.code = code;
    }

    fn refuse(self: *Fault, code: c.sb_status, why: u32, comptime format: []const u8, arguments: anytype) Failure {
        self.note(code, why, format, arguments);
        return error.Refused;
    }

    fn status(self: *Fault, failure: Failure) c.sb_status {
        if (failure == error.Broken) self.note(c.SB_INVALID_ARGUMENT, c.SB_WHY_MODEL, "the model cannot be read, or is no complete ONNX file", .{});
        if (failure == error.OutOfMemory) self.note(c.SB_RESOURCE_EXHAUSTED, c.SB_WHY_MEMORY, "there is not enough memory", .{});
        return self.code;
    }

    fn model(self: *Fault, code: c.sb_status, comptime format: []const u8, arguments: anytype) Failure {
        return self.refuse(code, c.SB_WHY_MODEL, format, arguments);
    }
};

/// An ONNX file is a protobuf message: a row of fields, each a number and what it holds, which may be a message again. Names and weights are
/// used where they lie in it. No length in it is believed.
const Field = struct { number: u64 = 0, value: u64 = 0, bytes: []const u8 = "" };

const Message = struct {
    rest: []const u8,

    fn varint(self: *Message) Failure!u64 {
        var number: u64 = 0;
        for (self.rest[0..@min(self.rest.len, 10)], 0..) |byte, i| {
            number |= std.math.shl(u64, byte & 0x7F, i * 7);
            if (byte >= 0x80) continue;
            self.rest = self.rest[i + 1 ..];
            return number;
        }
        return error.Broken;
    }

    /// The next field of this number.
    fn next(self: *Message, number: u64) Failure!?Field {
        while (self.rest.len > 0) {
            const key = try self.varint();
            const value = if (key & 7 == 0) try self.varint() else 0;
            const length = switch (key & 7) {
                0 => 0,
                1 => 8,
                2 => try self.varint(),
                5 => 4,
                else => return error.Broken,
            };
            if (length > self.rest.len) return error.Broken;
            const bytes = self.rest[0..@intCast(length)];
            self.rest = self.rest[bytes.len..];
            if (key >> 3 == number) return .{ .number = number, .value = value, .bytes = bytes };
        }
        return null;
    }
};

/// The last field of this number; an empty one where there is none.
fn get(message: []const u8, number: u64) Failure!Field {
    var fields: Message = .{ .rest = message };
    var found: Field = .{};
    while (try fields.next(number)) |field| found = field;
    return found;
}

/// Numbers where they lie, which may be aligned to nothing. The low byte comes first in a file, as on every machine of today.
fn floats(bytes: []const u8) []align(1) const f32 {
    return std.mem.bytesAsSlice(f32, bytes[0 .. bytes.len / 4 * 4]);
}

/// A dense tensor: a weight, an input, or what a step makes. A row of N numbers counts as [1, N], so that each has rows and columns.
const Array = struct {
    dims: [2]i64 = .{ 1, 1 }, // -1: known when a run begins
    data: []align(1) const f32 = &.{},

    fn at(self: Array, row: usize, column: usize) f32 {
        const start = if (self.dims[0] == 1) 0 else row * @as(usize, @intCast(self.dims[1]));
        return self.data[start + if (self.dims[1] == 1) 0 else column];
    }
};

fn agree(a: i64, b: i64) bool {
    return a == b or a == -1 or b == -1;
}

/// left * right + bias, or a part of that. Operands are numbers of values that come before it.
const Step = struct {
    name: []const u8,
    left: usize = 0,
    right: ?usize = null,
    bias: ?usize = null,
    transposed: bool = false, // the right operand of Gemm
    relu: bool = false,

    /// The shape that it makes: asked at load with what is known then, and again in each run. A bias is repeated over the rest where it has
    /// one row or one column. Null: what it is made from does not fit together.
    fn infer(self: Step, values: []const Array) ?[2]i64 {
        var dims = values[self.left].dims;
        if (self.right) |right| {
            if (!agree(dims[1], values[right].dims[@intFromBool(self.transposed)])) return null;
            dims[1] = values[right].dims[@intFromBool(!self.transposed)];
        }
        if (self.bias) |bias| for (values[bias].dims, dims) |small, large| if (small != 1 and !agree(small, large)) return null;
        return dims;
    }

    /// As simple as it can be: your kernels go here.
    fn compute(self: Step, values: []const Array, columns: usize, out: []f32) void {
        const left = values[self.left];
        for (out, 0..) |*number, i| {
            const row = i / columns;
            const column = i % columns;
            var sum: f32 = if (self.right == null) left.at(row, column) else 0;
            if (self.right) |right| for (0..@intCast(left.dims[1])) |k| {
                sum += left.at(row, k) * if (self.transposed) values[right].at(column, k) else values[right].at(k, column);
            };
            if (self.bias) |bias| sum += values[bias].at(row, column);
            number.* = if (self.relu and sum < 0) 0 else sum; // NaN stays NaN
        }
    }
};

const Port = struct { name: [:0]const u8, value: usize, dims: [2]i64 = .{ 1, 1 }, dim_names: [2][*c]const u8 = @splat(null) };

/// A model does not change once it is loaded, so that its requests may run at once. All of it lies in its arena.
const Model = struct {
    arena: std.heap.ArenaAllocator,
    values: std.ArrayList(Array) = .empty, // weights, inputs, and what each step makes
    names: std.ArrayList([]const u8) = .empty,
    steps: std.ArrayList(Step) = .empty,
    ports: [2]std.ArrayList(Port) = .{ .empty, .empty },
    weights: usize = 0,
    read_ns: u64 = c.SB_UNKNOWN,

    fn find(self: *Model, name: []const u8) ?usize {
        for (self.names.items, 0..) |other, i| if (eql(u8, other, name)) return i;
        return null;
    }

    fn add(self: *Model, name: []const u8, value: Array) Failure!void {
        try self.names.append(self.arena.allocator(), name);
        try self.values.append(self.arena.allocator(), value);
    }

    /// ModelProto: graph (7). GraphProto: node (1), initializer (5), input (11), output (12). What others are made from is read first.
    fn read(self: *Model, file: []const u8, fault: *Fault) Failure!void {
        const graph = (try get(file, 7)).bytes;
        try self.checkOperators(graph, fault);
        for ([_]u64{ 5, 11, 1, 12 }) |pass| {
            var fields: Message = .{ .rest = graph };
            while (try fields.next(pass)) |found| switch (pass) {
                5 => try self.addWeight(found.bytes, fault),
                1 => try self.addStep(found.bytes, fault),
                else => try self.addPort(if (pass == 11) c.SB_INPUT else c.SB_OUTPUT, found.bytes, fault),
            };
            if (pass == 5) self.weights = self.values.items.len;
        }
        if (self.ports[c.SB_OUTPUT].items.len == 0) return error.Broken;
    }

    /// Names ALL operators that are missing, each once: whoever has to add them wants to learn it in one go.
    fn checkOperators(self: *Model, graph: []const u8, fault: *Fault) Failure!void {
        const memory = self.arena.allocator();
        var missing: []const u8 = ", ";
        var fields: Message = .{ .rest = graph };
        search: while (try fields.next(1)) |node| {
            const name = (try get(node.bytes, 4)).bytes;
            const domain = (try get(node.bytes, 7)).bytes;
            if (domain.len == 0 or eql(u8, domain, "ai.onnx"))
                for ([_][]const u8{ "MatMul", "Gemm", "Add", "Relu" }) |known| if (eql(u8, name, known)) continue :search;
            const entry = try std.mem.concat(memory, u8, &.{ ", ", domain, if (domain.len > 0) "." else "", name, ", " });
            if (std.mem.indexOf(u8, missing, entry) == null) missing = try std.mem.concat(memory, u8, &.{ missing, entry[2..] });
        }
        if (missing.len == 2) return;
        const list = missing[2..@min(missing.len - 2, 400)];
        return fault.model(c.SB_UNIMPLEMENTED, "operators that this engine lacks: {s}; it has MatMul, Gemm, Add and Relu", .{list});
    }

    /// TensorProto: dims (1), data_type (2), float_data (4), name (8), raw_data (9).
    fn addWeight(self: *Model, tensor: []const u8, fault: *Fault) Failure!void {
        const name = (try get(tensor, 8)).bytes;
        const raw = (try get(tensor, 9)).bytes;
        var weight: Array = .{ .data = floats(if (raw.len > 0) raw else (try get(tensor, 4)).bytes) }; // packed floats are the same bytes
        var fields: Message = .{ .rest = tensor };
        var rank: usize = 0;
        while (try fields.next(1)) |dim| {
            var row: Message = .{ .rest = dim.bytes }; // a packed row of numbers; empty where it is one
            while (true) {
                const length = if (dim.bytes.len > 0) try row.varint() else dim.value;
                weight.dims = .{ weight.dims[1], std.math.cast(i32, length) orelse return error.Broken };
                rank += 1;
                if (row.rest.len == 0) break;
            }
        }
        if (rank > 2 or (try get(tensor, 2)).value != 1)
            return fault.model(c.SB_UNIMPLEMENTED, "weight '{s}': this engine takes float32 of rank 2 or less", .{name});
        if (weight.dims[0] * weight.dims[1] != weight.data.len)
            return fault.model(c.SB_INVALID_ARGUMENT, "weight '{s}': its numbers are not all in the file", .{name});
        try self.add(name, weight);
    }

    /// ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1)
    /// or dim_param (2). An output has the shape that the graph makes.
    fn addPort(self: *Model, direction: usize, info: []const u8, fault: *Fault) Failure!void {
        const memory = self.arena.allocator();
        const name = (try get(info, 1)).bytes;
        const kind = (try get((try get(info, 2)).bytes, 1)).bytes;
        const found = self.find(name);
        if (direction == c.SB_INPUT and found != null) return; // old files name weights among the inputs, too
        if (direction == c.SB_OUTPUT and found == null) return fault.model(c.SB_INVALID_ARGUMENT, "nothing makes the output '{s}'", .{name});
        var port: Port = .{ .name = try memory.dupeSentinel(u8, name, 0), .value = found orelse self.values.items.len };
        var shape: Message = .{ .rest = (try get(kind, 2)).bytes };
        var rank: usize = 0;
        while (try shape.next(1)) |dim| : (rank += 1) {
            const length = try get(dim.bytes, 1);
            const axis = (try get(dim.bytes, 2)).bytes;
            if (rank < 2) port.dims[rank] = if (length.number != 0) std.math.cast(i64, length.value) orelse -1 else -1;
            if (rank < 2 and axis.len > 0) port.dim_names[rank] = (try memory.dupeSentinel(u8, axis, 0)).ptr;
        }
        if (direction == c.SB_INPUT and (rank != 2 or (try get(kind, 1)).value != 1))
            return fault.model(c.SB_UNIMPLEMENTED, "input '{s}': this engine takes float32 of rank 2", .{name});
        if (direction == c.SB_INPUT) try self.add(name, .{ .dims = port.dims });
        port.dims = self.values.items[port.value].dims;
        try self.ports[direction].append(memory, port);
    }

    /// NodeProto: input (1), output (2), op_type (4), attribute (5). AttributeProto: name (1), f (2), i (3).
    fn addStep(self: *Model, node: []const u8, fault: *Fault) Failure!void {
        const kind = (try get(node, 4)).bytes;
        var step: Step = .{ .name = (try get(node, 2)).bytes, .relu = eql(u8, kind, "Relu") };
        var attributes: Message = .{ .rest = node };
        while (try attributes.next(5)) |attribute| {
            const name = (try get(attribute.bytes, 1)).bytes;
            const number = floats((try get(attribute.bytes, 2)).bytes);
            const is_set = (try get(attribute.bytes, 3)).value != 0;
            if (eql(u8, name, "transB")) step.transposed = is_set;
            if ((is_set and eql(u8, name, "transA")) or (number.len > 0 and number[0] != 1))
                return fault.model(c.SB_UNIMPLEMENTED, "'{s}': this engine has no Gemm with {s}", .{ step.name, name });
        }
        var operands: [3]usize = @splat(0);
        var count: usize = 0;
        var inputs: Message = .{ .rest = node };
        while (try inputs.next(1)) |input| {
            if (input.bytes.len == 0) continue; // an optional one that is left out
            const from = self.find(input.bytes) orelse
                return fault.model(c.SB_INVALID_ARGUMENT, "nothing makes '{s}', which a node reads", .{input.bytes});
            if (count < 3) operands[count] = from;
            count += 1;
        }
        const most: usize = if (step.relu) 1 else if (eql(u8, kind, "Gemm")) 3 else 2;
        step.left = operands[0];
        if (count == 3) step.bias = operands[2];
        if (eql(u8, kind, "Add")) step.bias = operands[1] else if (!step.relu) step.right = operands[1];
        if (step.right == null and step.bias != null and step.left < self.weights) // what is added to the other is the smaller of the two
            std.mem.swap(usize, &step.left, &step.bias.?);
        const dims = step.infer(self.values.items);
        if (count < @min(most, 2) or count > most or dims == null)
            return fault.model(c.SB_INVALID_ARGUMENT, "'{s}': what it is made from does not fit together", .{step.name});
        try self.add(step.name, .{ .dims = dims.? });
        try self.steps.append(self.arena.allocator(), step);
    }
};

var host: *const c.sb_host = undefined; // outlives every handle

fn now() u64 {
    return if (host.now_ns) |clock| clock(host.ctx) else c.SB_UNKNOWN;
}

/// [main] Opens the runtime. A vendor's library is loaded here, with dlopen; where there is none this says SB_UNAVAILABLE, what was looked
/// for, where, and how to install it. The options were checked against the schema below.
fn open(given: [*c]const c.sb_host, _: [*c]const c.sb_options, out: [*c]?*c.sb_instance, _: [*c]c.sb_error) callconv(.c) c.sb_status {
    host = given;
    out.* = @ptrCast(&host);
    return c.SB_OK;
}

/// [main] No model is alive.
fn close(_: ?*c.sb_instance) callconv(.c) void {}

fn deviceCount(_: ?*c.sb_instance) callconv(.c) u32 {
    return 1;
}

/// [any] A device that is known of but cannot be used is told too: with `why`, and in `reason` what was looked at.
fn device(_: ?*c.sb_instance, index: u32, out: [*c]c.sb_device, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    if (index > 0) return fault.status(fault.refuse(c.SB_NOT_FOUND, c.SB_WHY_DEVICE, "there is no device {}", .{index}));
    fill(c.sb_device, out, .{
        .size = @sizeOf(c.sb_device),
        .kind = c.SB_CPU,
        .place = .{ .type = c.SB_HOST_MEMORY },
        .memory_bytes = c.SB_UNKNOWN, // not 0, which would be a measurement
        .id = put(64, "cpu0"),
        .name = put(128, "The CPU, in plain Zig"),
    });
    return c.SB_OK;
}

extern fn fopen(path: [*c]const u8, mode: [*c]const u8) ?*anyopaque;
extern fn fread(to: [*]u8, size: usize, count: usize, file: *anyopaque) usize;
extern fn fclose(file: *anyopaque) c_int;

/// A copy of the file, which the model keeps; without bytes where it cannot be read.
fn readSource(memory: std.mem.Allocator, source: *const c.sb_source) Failure![]const u8 {
    if (source.path == null) {
        const bytes: [*]const u8 = @ptrCast(source.bytes orelse return "");
        return memory.dupe(u8, bytes[0..@intCast(source.length)]);
    }
    const file = fopen(source.path, "rb") orelse return "";
    defer _ = fclose(file);
    var bytes: std.ArrayList(u8) = .empty;
    var part: [65536]u8 = undefined;
    while (true) {
        const got = fread(&part, 1, part.len, file);
        if (got == 0) return bytes.items;
        try bytes.appendSlice(memory, part[0..got]);
    }
}

/// What is asked for is done or refused, never ignored: a figure of the wrong precision is worse than none.
fn loadModel(load: *const c.sb_load, fault: *Fault) Failure!*Model {
    if (load.size < @offsetOf(c.sb_load, "device_count") + @sizeOf(u32))
        return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "the host tells too little of a load", .{});
    const precision = if (load.precision != null) std.mem.span(load.precision) else "float32";
    if (!eql(u8, precision, "float32"))
        return fault.refuse(c.SB_UNIMPLEMENTED, c.SB_WHY_PRECISION, "precision '{s}': this engine computes in float32", .{precision});
    if (load.device_count > 0 and load.devices[0] != 0)
        return fault.refuse(c.SB_NOT_FOUND, c.SB_WHY_DEVICE, "there is no device {}", .{load.devices[0]});
    if (load.source.*.format == null or !eql(u8, std.mem.span(load.source.*.format), "onnx"))
        return fault.model(c.SB_UNIMPLEMENTED, "this engine reads ONNX files", .{});
    const start = now();
    const made = try gpa.create(Model);
    made.* = .{ .arena = .init(gpa) };
    errdefer free(made);
    try made.read(try readSource(made.arena.allocator(), load.source), fault);
    if (start != c.SB_UNKNOWN) made.read_ns = now() - start;
    return made;
}

fn free(model: *Model) void {
    model.arena.deinit();
    gpa.destroy(model);
}

fn modelOf(handle: ?*c.sb_model) *Model {
    return @ptrCast(@alignCast(handle.?));
}

/// [any] All that `from` points to is borrowed until the call returns.
fn load_(_: ?*c.sb_instance, from: [*c]const c.sb_load, out: [*c]?*c.sb_model, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    out.* = @ptrCast(loadModel(from, &fault) catch |failure| return fault.status(failure));
    return c.SB_OK;
}

/// [any] Why a load would not work, as far as it can be told without compiling. Here reading is all that there is to it.
fn supports(_: ?*c.sb_instance, from: [*c]const c.sb_load, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    free(loadModel(from, &fault) catch |failure| return fault.status(failure));
    return c.SB_OK;
}

/// [any] No request is alive.
fn unload(handle: ?*c.sb_model) callconv(.c) void {
    free(modelOf(handle));
}

/// [any] Reads back what happened, never what was asked for. An engine that leaves nodes to another device says so here.
fn placement(handle: ?*c.sb_model, out: [*c]c.sb_placement, _: [*c]c.sb_error) callconv(.c) c.sb_status {
    const nodes = modelOf(handle).steps.items.len;
    fill(c.sb_placement, out, .{
        .size = @sizeOf(c.sb_placement),
        .nodes_total = nodes,
        .nodes_on_device = nodes,
        .cache_hit = c.SB_UNKNOWN, // it has no cache, compiles nothing, uploads nothing
        .read_ns = modelOf(handle).read_ns,
        .compile_ns = c.SB_UNKNOWN,
        .upload_ns = c.SB_UNKNOWN,
        .precision = put(32, "float32"),
        .device = put(64, "cpu0"),
        .engine = put(128, "@NAME@ 0.1.0"),
    });
    return c.SB_OK;
}

fn portCount(handle: ?*c.sb_model, direction: i32) callconv(.c) u32 {
    return @intCast(modelOf(handle).ports[@intCast(direction)].items.len);
}

fn portAt(model: *Model, direction: i32, index: u32, fault: *Fault) Failure!*const Port {
    const ports = model.ports[@intCast(direction)].items;
    return if (index < ports.len) &ports[index] else fault.refuse(c.SB_NOT_FOUND, 0, "the model has no port {} there", .{index});
}

const float32: c.sb_dtype = .{ .code = c.SB_FLOAT, .bits = 32, .lanes = 1 };

/// [any] What the port points to lives until the model is unloaded.
fn portSlot(handle: ?*c.sb_model, direction: i32, index: u32, out: [*c]c.sb_port, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    const of = portAt(modelOf(handle), direction, index, &fault) catch |failure| return fault.status(failure);
    var told: c.sb_port = .{ .size = @sizeOf(c.sb_port), .ndim = 2, .name = of.name.ptr, .shape = &of.dims, .dtype = float32 };
    told.dim_names = &of.dim_names;
    fill(c.sb_port, out, told);
    return c.SB_OK;
}

/// An output that is given away. Whoever takes it releases it once, on any thread.
const Given = struct {
    owned: c.sb_owned = .{},
    shape: [2]i64,
    numbers: []f32,

    fn make(value: Array) Failure!*Given {
        const numbers = try gpa.alloc(f32, value.data.len);
        errdefer gpa.free(numbers);
        @memcpy(numbers, value.data);
        const made = try gpa.create(Given);
        made.* = .{ .shape = value.dims, .numbers = numbers };
        made.owned = .{ .owner = made, .release = drop };
        made.owned.tensor = .{ .data = numbers.ptr, .ndim = 2, .dtype = float32, .shape = &made.shape };
        made.owned.tensor.place.type = c.SB_HOST_MEMORY;
        return made;
    }

    fn drop(owned: [*c]c.sb_owned) callconv(.c) void {
        const self: *Given = @ptrCast(@alignCast(owned.*.owner));
        gpa.free(self.numbers);
        gpa.destroy(self);
    }
};

const Tensor = [*c]const c.sb_tensor;
const Place = [*c]const c.sb_place;
const Bound = struct { dims: [2]i64, bytes: [*]u8 };

/// What a run changes is the request's; the weights are the model's.
const Request = struct {
    model: *Model,
    arena: std.heap.ArenaAllocator = .init(gpa), // all that lives as long as the request
    run_arena: std.heap.ArenaAllocator = .init(gpa), // what steps make, until the next run
    values: []Array = &.{},
    bound: [2][]?Bound = @splat(&.{}), // by direction and port
    kept: []?*Given = &.{}, // outputs of the last run that nobody has taken

    fn make(model: *Model) Failure!*Request {
        const made = try gpa.create(Request);
        errdefer made.free();
        made.* = .{ .model = model };
        const memory = made.arena.allocator();
        made.values = try memory.dupe(Array, model.values.items);
        for (&made.bound, model.ports) |*bound, ports| {
            bound.* = try memory.alloc(?Bound, ports.items.len);
            @memset(bound.*, null);
        }
        made.kept = try memory.alloc(?*Given, model.ports[c.SB_OUTPUT].items.len);
        @memset(made.kept, null);
        return made;
    }

    fn free(self: *Request) void {
        for (0..self.kept.len) |output| self.forget(output);
        self.run_arena.deinit();
        self.arena.deinit();
        gpa.destroy(self);
    }

    fn forget(self: *Request, output: usize) void {
        if (self.kept[output]) |given| Given.drop(&given.owned);
        self.kept[output] = null;
    }

    fn bind(self: *Request, direction: i32, index: u32, tensor: Tensor, place: Place, fault: *Fault) Failure!void {
        const port = try portAt(self.model, direction, index, fault);
        var made: ?Bound = null;
        if (tensor != null) {
            const given = tensor.*;
            if (given.place.type != c.SB_HOST_MEMORY) return fault.refuse(c.SB_UNIMPLEMENTED, 0, "only memory of the host can be bound", .{});
            const same = given.dtype.code == c.SB_FLOAT and given.dtype.bits == 32 and given.dtype.lanes == 1;
            if (!same or given.ndim != 2 or given.strides != null or given.data == null)
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}' takes a dense tensor of float32, of rank 2", .{port.name});
            const bytes = @as([*]u8, @ptrCast(given.data)) + @as(usize, @intCast(given.byte_offset));
            made = .{ .dims = .{ given.shape[0], given.shape[1] }, .bytes = bytes };
            for (made.?.dims, port.dims) |have, want| if (!agree(have, want))
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}': a dimension is {}, not {}", .{ port.name, want, have });
        } else if (direction == c.SB_INPUT) {
            return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "input '{s}' needs a tensor", .{port.name});
        } else if (place != null and place.*.type != c.SB_HOST_MEMORY) {
            return fault.refuse(c.SB_UNIMPLEMENTED, 0, "outputs are allocated in memory of the host", .{});
        }
        self.bound[@intCast(direction)][index] = made;
        if (direction == c.SB_OUTPUT) self.forget(index);
    }

    fn run(self: *Request, fault: *Fault) Failure!void {
        for (0..self.kept.len) |output| self.forget(output);
        _ = self.run_arena.reset(.retain_capacity);
        for (self.model.ports[c.SB_INPUT].items, self.bound[c.SB_INPUT]) |port, bound| {
            const input = bound orelse return fault.refuse(c.SB_FAILED_PRECONDITION, 0, "input '{s}' is not bound", .{port.name});
            const count: usize = @intCast(input.dims[0] * input.dims[1]);
            self.values[port.value] = .{ .dims = input.dims, .data = floats(input.bytes[0 .. count * @sizeOf(f32)]) };
        }
        for (self.model.steps.items, self.values.len - self.model.steps.items.len..) |step, value| {
            if (host.stopping) |stopping| if (stopping(host.ctx) != 0) return fault.refuse(c.SB_CANCELLED, 0, "the run was stopped", .{});
            const dims = step.infer(self.values) orelse
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "the inputs do not fit together, at '{s}'", .{step.name});
            const count = std.math.mul(usize, @intCast(dims[0]), @intCast(dims[1])) catch return error.OutOfMemory;
            const made = try self.run_arena.allocator().alloc(f32, count);
            step.compute(self.values, @intCast(dims[1]), made);
            self.values[value] = .{ .dims = dims, .data = made };
        }
        for (self.model.ports[c.SB_OUTPUT].items, self.bound[c.SB_OUTPUT], self.kept) |port, bound, *kept| {
            const value = self.values[port.value];
            const output = bound orelse {
                kept.* = try Given.make(value);
                continue;
            };
            if (!eql(i64, &output.dims, &value.dims))
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}': the memory bound to it has another shape", .{port.name});
            @memcpy(output.bytes, std.mem.sliceAsBytes(value.data));
        }
    }
};

fn requestOf(handle: ?*c.sb_request) *Request {
    return @ptrCast(@alignCast(handle.?));
}

/// [any]
fn request(handle: ?*c.sb_model, out: [*c]?*c.sb_request, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    out.* = @ptrCast(Request.make(modelOf(handle)) catch |failure| return fault.status(failure));
    return c.SB_OK;
}

/// [lane] Outputs that were taken live on.
fn release(handle: ?*c.sb_request) callconv(.c) void {
    requestOf(handle).free();
}

/// [lane] The struct is the caller's, the data is borrowed until the port is bound again: an input is read in the run, an output written in
/// it. Null for an output: the backend allocates.
fn bind(handle: ?*c.sb_request, direction: i32, index: u32, tensor: Tensor, place: Place, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    requestOf(handle).bind(direction, index, tensor, place, &fault) catch |failure| return fault.status(failure);
    return c.SB_OK;
}

/// [lane] Returns when the outputs can be read. A run that fails leaves no output.
fn run(handle: ?*c.sb_request, timing: [*c]c.sb_timing, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    const start = now();
    requestOf(handle).run(&fault) catch |failure| return fault.status(failure);
    var told: c.sb_timing = .{ .size = @sizeOf(c.sb_timing), .start_ns = start, .end_ns = now(), .submit_ns = c.SB_UNKNOWN };
    told.clock_error_ns = c.SB_UNKNOWN;
    told.host_to_device_ns = c.SB_UNKNOWN;
    told.device_to_host_ns = c.SB_UNKNOWN;
    fill(c.sb_timing, timing, told);
    return c.SB_OK;
}

/// [lane] Gives an output of the last run away, once. Later runs never write into it.
fn takeOutput(handle: ?*c.sb_request, index: u32, out: [*c][*c]c.sb_owned, to: [*c]c.sb_error) callconv(.c) c.sb_status {
    var fault: Fault = .{ .to = to };
    const of = requestOf(handle);
    _ = portAt(of.model, c.SB_OUTPUT, index, &fault) catch |failure| return fault.status(failure);
    const given = of.kept[index] orelse return fault.status(fault.refuse(c.SB_FAILED_PRECONDITION, 0, "it holds nothing to take", .{}));
    of.kept[index] = null;
    out.* = &given.owned;
    return c.SB_OK;
}

/// A slot that is left out is null: this backend does not have it. Which may be null says skillbench.h. The schema is closed: the host
/// refuses an option that is not in it.
const backend: c.sb_backend = .{
    .size = @sizeOf(c.sb_backend),
    .id = "@NAME@",
    .options_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
    .open = open,
    .close = close,
    .device_count = deviceCount,
    .device = device,
    .supports = supports,
    .load = load_,
    .unload = unload,
    .placement = placement,
    .port_count = portCount,
    .port = portSlot,
    .request = request,
    .release = release,
    .bind = bind,
    .run = run,
    .output = takeOutput,
};

fn factory(id: [*c]const u8) callconv(.c) ?*const anyopaque {
    return if (eql(u8, std.mem.span(id), c.SB_BACKEND)) &backend else null;
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
