//! @NAME@: a skillbench backend in one file. It computes ONNX graphs of MatMul, Gemm, Add and Relu in float32 on the CPU.
//!
//! Read from the end, it is what the host sees: the exported symbol, the table behind it, and an Engine that loads Models, whose Requests
//! run. Read from the start, it is an engine that reads a graph and computes it. That is there to be replaced by yours; the methods of the
//! three types are there to stay.
//!
//! skillbench.h is the contract, from which the Makefile makes skillbench.zig; skillbench_sdk.zig makes the table. [main] is called on one
//! thread, [any] on several at once, [lane] on one at a time for each request.

const std = @import("std");
const sdk = @import("skillbench_sdk.zig");
const c = sdk.c;
const gpa = sdk.gpa;
const get = sdk.get;
const eql = std.mem.eql;
const Failure = sdk.Failure;
const Fault = sdk.Fault;
const Message = sdk.Message;

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

/// A model does not change once it is loaded, so that its requests may run at once. All of it lies in its arena.
const Model = struct {
    arena: std.heap.ArenaAllocator = .init(gpa),
    values: std.ArrayList(Array) = .empty, // weights, inputs, and what each step makes
    names: std.ArrayList([]const u8) = .empty,
    steps: std.ArrayList(Step) = .empty,
    told: [2]std.ArrayList(c.sb_port) = .{ .empty, .empty }, // inputs and outputs, as the host sees them,
    port_values: [2]std.ArrayList(usize) = .{ .empty, .empty }, // and the numbers of their values
    weights: usize = 0,
    read_ns: u64 = c.SB_UNKNOWN,

    /// [any] Reads back what happened, never what was asked for. An engine that leaves nodes to another device says so here.
    pub fn placement(self: *const Model) c.sb_placement {
        const nodes = self.steps.items.len;
        return .{
            .nodes_total = nodes,
            .nodes_on_device = nodes,
            .cache_hit = c.SB_UNKNOWN, // it has no cache, compiles nothing, uploads nothing
            .read_ns = self.read_ns,
            .compile_ns = c.SB_UNKNOWN,
            .upload_ns = c.SB_UNKNOWN,
            .precision = sdk.put(32, "float32"),
            .device = sdk.put(64, "cpu0"),
            .engine = sdk.put(128, "@NAME@ 0.1.0"),
        };
    }

    /// [any] Inputs and outputs. What they point to lives until the model is unloaded.
    pub fn ports(self: *const Model) [2][]const c.sb_port {
        return .{ self.told[c.SB_INPUT].items, self.told[c.SB_OUTPUT].items };
    }

    /// [any] Shares the weights; the model outlives it.
    pub fn request(self: *const Model, _: *Fault) Failure!*Request {
        const made = try gpa.create(Request);
        errdefer gpa.destroy(made);
        made.* = .{ .model = self, .values = try gpa.dupe(Array, self.values.items) };
        return made;
    }

    /// [any] No request is alive.
    pub fn unload(self: *Model) void {
        self.arena.deinit();
        gpa.destroy(self);
    }

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
        if (self.told[c.SB_OUTPUT].items.len == 0) return error.Broken;
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
        const all = missing[2 .. missing.len - 2];
        const fits = all.len <= 400; // an error has no room for more
        const list = if (fits) all else all[0 .. std.mem.lastIndexOf(u8, all[0..400], ", ") orelse 400];
        return fault.model(c.SB_UNIMPLEMENTED, "operators that this engine lacks: {s}{s}; it has MatMul, Gemm, Add and Relu", .{
            list, if (fits) "" else ", and others",
        });
    }

    /// TensorProto: dims (1), data_type (2), float_data (4), name (8), raw_data (9).
    fn addWeight(self: *Model, tensor: []const u8, fault: *Fault) Failure!void {
        const name = (try get(tensor, 8)).bytes;
        const raw = (try get(tensor, 9)).bytes;
        var weight: Array = .{ .data = sdk.floats(if (raw.len > 0) raw else (try get(tensor, 4)).bytes) }; // packed floats are the same bytes
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
        const dims = try memory.create([2]i64);
        const dim_names = try memory.create([2][*c]const u8);
        dims.* = @splat(-1);
        dim_names.* = @splat(null);
        var shape: Message = .{ .rest = (try get(kind, 2)).bytes };
        var rank: usize = 0;
        while (try shape.next(1)) |dim| : (rank += 1) {
            const length = try get(dim.bytes, 1);
            const axis = (try get(dim.bytes, 2)).bytes;
            if (rank < 2 and length.number != 0) dims[rank] = std.math.cast(i64, length.value) orelse -1;
            if (rank < 2 and axis.len > 0) dim_names[rank] = (try memory.dupeSentinel(u8, axis, 0)).ptr;
        }
        if (direction == c.SB_INPUT and (rank != 2 or (try get(kind, 1)).value != 1))
            return fault.model(c.SB_UNIMPLEMENTED, "input '{s}': this engine takes float32 of rank 2", .{name});
        const value = found orelse self.values.items.len;
        if (found) |it| dims.* = self.values.items[it].dims else try self.add(name, .{ .dims = dims.* });
        try self.port_values[direction].append(memory, value);
        const text = try memory.dupeSentinel(u8, name, 0);
        try self.told[direction].append(memory, .{ .ndim = 2, .name = text, .shape = dims, .dim_names = dim_names, .dtype = sdk.float32 });
    }

    /// NodeProto: input (1), output (2), op_type (4), attribute (5). AttributeProto: name (1), f (2), i (3).
    fn addStep(self: *Model, node: []const u8, fault: *Fault) Failure!void {
        const kind = (try get(node, 4)).bytes;
        var step: Step = .{ .name = (try get(node, 2)).bytes, .relu = eql(u8, kind, "Relu") };
        var attributes: Message = .{ .rest = node };
        while (try attributes.next(5)) |attribute| {
            const name = (try get(attribute.bytes, 1)).bytes;
            const number = sdk.floats((try get(attribute.bytes, 2)).bytes);
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
        if (count < @min(most, 2) or count > most)
            return fault.model(c.SB_INVALID_ARGUMENT, "'{s}' has {} inputs, which are too few or too many", .{ step.name, count });
        step.left = operands[0];
        if (count == 3) step.bias = operands[2];
        if (eql(u8, kind, "Add")) step.bias = operands[1] else if (!step.relu) step.right = operands[1];
        if (step.right == null and step.bias != null and step.left < self.weights) // what is added to the other is the smaller of the two
            std.mem.swap(usize, &step.left, &step.bias.?);
        const dims = step.infer(self.values.items) orelse
            return fault.model(c.SB_INVALID_ARGUMENT, "'{s}': what it is made from does not fit together", .{step.name});
        try self.add(step.name, .{ .dims = dims });
        try self.steps.append(self.arena.allocator(), step);
    }
};

/// What a run changes is the request's; the weights are the model's.
const Request = struct {
    model: *const Model,
    values: []Array,
    arena: std.heap.ArenaAllocator = .init(gpa), // what steps make, until the next run

    /// [lane] Returns when the outputs can be read. Every input is bound. What is bound is memory of the caller, borrowed until the port is
    /// bound again: an input is read here, an output written here. `bindInput`, beside this, is for an engine that converts its inputs
    /// where they are bound. A run that fails leaves no output.
    pub fn run(self: *Request, bindings: *sdk.Bindings, fault: *Fault) Failure!void {
        _ = self.arena.reset(.retain_capacity);
        for (self.model.port_values[c.SB_INPUT].items, 0..) |value, index| {
            const input = bindings.input(index);
            self.values[value] = .{ .dims = input.shape[0..2].*, .data = sdk.floats(input.bytes) };
        }
        for (self.model.steps.items, self.values.len - self.model.steps.items.len..) |step, value| {
            if (sdk.stopping()) return fault.refuse(c.SB_CANCELLED, 0, "the run was stopped", .{});
            const dims = step.infer(self.values) orelse
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "the inputs do not fit together, at '{s}'", .{step.name});
            const count = std.math.mul(usize, @intCast(dims[0]), @intCast(dims[1])) catch return error.OutOfMemory;
            const made = try self.arena.allocator().alloc(f32, count);
            step.compute(self.values, @intCast(dims[1]), made);
            self.values[value] = .{ .dims = dims, .data = made };
        }
        // All places first, since one that does not fit ends the run before anything is written. A copy: an output without memory of the
        // caller is given away, once, and later runs never write into it.
        const outputs = self.model.port_values[c.SB_OUTPUT].items;
        const places = try self.arena.allocator().alloc([]u8, outputs.len);
        for (outputs, places, 0..) |value, *place, index| place.* = try bindings.output(index, &self.values[value].dims, fault);
        for (outputs, places) |value, place| @memcpy(place, std.mem.sliceAsBytes(self.values[value].data));
    }

    /// [lane] Outputs that were taken live on.
    pub fn release(self: *Request) void {
        self.arena.deinit();
        gpa.free(self.values);
        gpa.destroy(self);
    }
};

/// The opened runtime. This one has nothing to keep.
const Engine = struct {
    /// [main] Opens the runtime. A vendor's library is loaded here, with dlopen; where there is none this refuses with SB_UNAVAILABLE and
    /// says what was looked for, where, and how to install it. The options were checked against the schema below.
    pub fn open(_: [*c]const c.sb_options, _: *Fault) Failure!*Engine {
        return try gpa.create(Engine);
    }

    /// [any] The same until it is closed. A device that is known of but cannot be used is told too: with `why`, and in `reason` what was
    /// looked at.
    pub fn devices(_: *const Engine) []const c.sb_device {
        return &cpu;
    }

    const cpu = [_]c.sb_device{.{
        .kind = c.SB_CPU,
        .place = .{ .type = c.SB_HOST_MEMORY },
        .memory_bytes = c.SB_UNKNOWN, // not 0, which would be a measurement
        .id = sdk.put(64, "cpu0"),
        .name = sdk.put(128, "The CPU, in plain Zig"),
    }};

    /// [any] What is asked for is done or refused, never ignored: a figure of the wrong precision is worse than none. All that `from` points
    /// to is borrowed until the call returns.
    pub fn load(_: *const Engine, from: *const c.sb_load, fault: *Fault) Failure!*Model {
        const precision = sdk.span(from.precision); // empty: as the graph says
        if (precision.len > 0 and !eql(u8, precision, "float32"))
            return fault.refuse(c.SB_UNIMPLEMENTED, c.SB_WHY_PRECISION, "precision '{s}': this engine computes in float32", .{precision});
        if (!eql(u8, sdk.span(from.source.*.format), "onnx")) return fault.model(c.SB_UNIMPLEMENTED, "this engine reads ONNX files", .{});
        const start = sdk.now();
        const made = try gpa.create(Model);
        made.* = .{};
        errdefer made.unload();
        try made.read(try sdk.readSource(made.arena.allocator(), from.source, fault), fault);
        if (start != c.SB_UNKNOWN) made.read_ns = sdk.now() - start;
        return made;
    }

    /// [any] Why a load would not work, as far as it can be told without compiling. Here reading is all that there is to it.
    pub fn supports(self: *const Engine, from: *const c.sb_load, fault: *Fault) Failure!void {
        (try self.load(from, fault)).unload();
    }

    /// [main] No model is alive.
    pub fn close(self: *Engine) void {
        gpa.destroy(self);
    }
};

/// The schema is closed: the host refuses an option that is not in it. What a backend may have beyond this says skillbench.h.
const backend = sdk.backend(Engine, Model, Request, .{
    .id = "@NAME@",
    .options_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
});

/// The one symbol that the host looks up.
export const skillbench_plugin = sdk.plugin("@NAME@", "0.1.0", .{.{ c.SB_BACKEND, &backend }});
