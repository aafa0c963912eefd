//! skillbench_sdk.zig: plugins in Zig over skillbench.h, with the standard library alone.
//!
//! Here live what every plugin needs (structs and errors of the caller, options, the host's clock), what engines have in common (a model's
//! file, and its fields where it is ONNX), and `backend`, which makes the C table of an engine from plain methods: what the contract says of
//! handles, ports, tensors, outputs and times is done there. `plugin` makes the exported symbol. What an operator computes is not here.
//!
//! Threads are those of the contract: [main] is one thread, [any] several at once, [lane] one at a time for each request. What is handed in
//! is borrowed until the call returns, unless a comment says longer. This file is a copy of your own: change in it what you like.

const std = @import("std");
pub const c = @import("skillbench.zig");
pub const gpa = std.heap.c_allocator;

/// Fills a struct of the caller. Its `size` says how much of it there is: an older host knows fewer fields than this file, a newer one more.
/// The size that is left says what was filled.
pub fn fill(comptime T: type, to: [*c]T, from: T) void {
    if (to == null) return;
    const size = @min(to.*.size, @sizeOf(T));
    @memcpy(@as([*]u8, @ptrCast(to))[0..size], std.mem.asBytes(&from)[0..size]);
    to.*.size = size;
}

/// The other way: a copy of a struct of the caller in which every field can be read, since those that an older host does not have are zero.
pub fn whole(comptime T: type, from: [*c]const T) T {
    var made: T = .{};
    if (from == null) return made;
    const size = @min(from.*.size, @sizeOf(T));
    @memcpy(std.mem.asBytes(&made)[0..size], @as([*]const u8, @ptrCast(from))[0..size]);
    return made;
}

/// A text in a field of fixed length, which ends with NUL. One that is too long is cut, but not within a character.
pub fn put(comptime length: usize, text: []const u8) [length]u8 {
    var made: [length]u8 = @splat(0);
    var end = @min(text.len, length - 1);
    if (end < text.len) while (end > 0 and text[end] & 0xC0 == 0x80) : (end -= 1) {};
    @memcpy(made[0..end], text[0..end]);
    return made;
}

/// A text of the host, which ends with NUL; empty where there is none.
pub fn span(text: [*c]const u8) [:0]const u8 {
    return if (text == null) "" else std.mem.span(text);
}

/// The value of an option. The host has held it against the schema.
pub fn option(options: [*c]const c.sb_options, key: []const u8) ?[:0]const u8 {
    const all = whole(c.sb_options, options);
    if (all.items != null) for (all.items[0..all.count]) |one| if (std.mem.eql(u8, span(one.key), key)) return span(one.value);
    return null;
}

/// Broken: the model's file is damaged. Refused: a Fault has said why.
pub const Failure = error{ Broken, Refused, OutOfMemory };

/// What goes wrong, on its way to the caller's error. Say what happened, where, and what to do next: the text is all that a user gets to see.
pub const Fault = struct {
    to: [*c]c.sb_error,
    code: c.sb_status = c.SB_INTERNAL,
    /// `return fault.refuse(...)` ends a call. `why` is made of SB_WHY_*, or 0.
    pub fn refuse(self: *Fault, code: c.sb_status, why: u32, comptime format: []const u8, arguments: anytype) Failure {
        var text: [1024]u8 = @splat(0);
        const printed = std.fmt.bufPrint(&text, format, arguments) catch &text; // as much of it as there is room for
        fill(c.sb_error, self.to, .{ .size = @sizeOf(c.sb_error), .why = why, .code = code, .message = put(496, printed) });
        self.code = code;
        return error.Refused;
    }
    pub fn model(self: *Fault, code: c.sb_status, comptime format: []const u8, arguments: anytype) Failure {
        return self.refuse(code, c.SB_WHY_MODEL, format, arguments);
    }
};

/// A slot for a C table, made of a function that takes what the slot takes, but a Fault for the caller's error. `@ptrCast` fits it in.
pub fn guard(comptime work: anytype) *const anyopaque {
    const P = @typeInfo(@TypeOf(work)).@"fn".param_types;
    const Slot = struct {
        fn end(to: [*c]c.sb_error, arguments: anytype) c.sb_status {
            var fault: Fault = .{ .to = to };
            if (@call(.auto, work, arguments ++ .{&fault})) |_| return c.SB_OK else |failure| switch (@as(Failure, failure)) {
                error.Broken => fault.model(c.SB_INVALID_ARGUMENT, "the model cannot be read, or is no complete ONNX file", .{}) catch {},
                error.OutOfMemory => fault.refuse(c.SB_RESOURCE_EXHAUSTED, c.SB_WHY_MEMORY, "there is not enough memory", .{}) catch {},
                error.Refused => {},
            }
            return fault.code;
        }
        fn three(p: P[0].?, q: P[1].?, to: [*c]c.sb_error) callconv(.c) c.sb_status {
            return end(to, .{ p, q });
        }
        fn four(p: P[0].?, q: P[1].?, r: P[2].?, to: [*c]c.sb_error) callconv(.c) c.sb_status {
            return end(to, .{ p, q, r });
        }
        fn five(p: P[0].?, q: P[1].?, r: P[2].?, s: P[3].?, to: [*c]c.sb_error) callconv(.c) c.sb_status {
            return end(to, .{ p, q, r, s });
        }
        fn six(p: P[0].?, q: P[1].?, r: P[2].?, s: P[3].?, t: P[4].?, to: [*c]c.sb_error) callconv(.c) c.sb_status {
            return end(to, .{ p, q, r, s, t });
        }
    };
    return &@field(Slot, .{ "three", "four", "five", "six" }[P.len - 3]);
}

/// The worker's services, every slot [any]. They outlive every handle. A backend has them from `open` on; slots that this host lacks are null.
/// A long step calls `phase` now and then, and `evidence` tells from `open` what was looked at.
pub var host: c.sb_host = .{};

/// The run's one clock; SB_UNKNOWN where the host has none.
pub fn now() u64 {
    return if (host.now_ns) |clock| clock(host.ctx) else c.SB_UNKNOWN;
}
/// Long loops ask, and refuse with SB_CANCELLED.
pub fn stopping() bool {
    return if (host.stopping) |asked| asked(host.ctx) != 0 else false;
}

/// An ONNX file is a protobuf message: a row of fields, each a number and what it holds, which may be a message again. Names and weights are
/// used where they lie in it. No length in it is believed.
pub const Field = struct { number: u64 = 0, value: u64 = 0, bytes: []const u8 = "" };
pub const Message = struct {
    rest: []const u8,
    pub fn varint(self: *Message) Failure!u64 {
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
    pub fn next(self: *Message, number: u64) Failure!?Field {
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
pub fn get(message: []const u8, number: u64) Failure!Field {
    var fields: Message = .{ .rest = message };
    var found: Field = .{};
    while (try fields.next(number)) |field| found = field;
    return found;
}

/// Numbers where they lie, which may be aligned to nothing. The low byte comes first in a file, as on every machine of today.
pub fn floats(bytes: []const u8) []align(1) const f32 {
    return std.mem.bytesAsSlice(f32, bytes[0 .. bytes.len / 4 * 4]);
}

extern fn ferror(file: *std.c.FILE) c_int;

/// A copy of a model's file, in an arena of whoever keeps it. What a file says of its length is not asked: a folder and a pipe have none.
pub fn readSource(arena: std.mem.Allocator, from: [*c]const c.sb_source, fault: *Fault) Failure![]const u8 {
    const source = whole(c.sb_source, from);
    if (source.path == null) {
        const bytes: [*]const u8 = @ptrCast(source.bytes orelse return "");
        return arena.dupe(u8, bytes[0..@intCast(source.length)]);
    }
    const file = std.c.fopen(source.path, "rb") orelse
        return fault.model(c.SB_INVALID_ARGUMENT, "{s} cannot be opened: is it there, and may it be read?", .{span(source.path)});
    defer _ = std.c.fclose(file);
    var bytes: std.ArrayList(u8) = .empty;
    var part: [65536]u8 = undefined;
    while (true) {
        const got = std.c.fread(&part, 1, part.len, file);
        if (got == 0 and ferror(file) != 0)
            return fault.model(c.SB_INVALID_ARGUMENT, "{s} cannot be read to its end", .{span(source.path)});
        if (got == 0) return bytes.items;
        try bytes.appendSlice(arena, part[0..got]);
    }
}

pub const float32: c.sb_dtype = .{ .code = c.SB_FLOAT, .bits = 32, .lanes = 1 };
/// Dense memory of the host that somebody else owns. It may be aligned to nothing.
pub const Tensor = struct { shape: []const i64, bytes: []u8 };

/// Null: more bytes than there can be, or a length below 0.
fn byteCount(dtype: c.sb_dtype, shape: []const i64) ?usize {
    var bits = @as(usize, dtype.bits) * dtype.lanes;
    for (shape) |length| bits = std.math.mul(usize, bits, std.math.cast(usize, length) orelse return null) catch return null;
    return std.math.divCeil(usize, bits, 8) catch unreachable;
}

fn denseTensor(port: c.sb_port, from: c.sb_tensor, fault: *Fault) Failure!Tensor {
    if (from.place.type != c.SB_HOST_MEMORY)
        return fault.refuse(c.SB_UNIMPLEMENTED, 0, "'{s}': only memory of the host can be bound", .{port.name});
    const shape: []const i64 = if (from.ndim > 0) from.shape[0..@intCast(from.ndim)] else &.{};
    const count = byteCount(port.dtype, shape);
    if (!std.meta.eql(from.dtype, port.dtype) or shape.len != port.ndim or from.strides != null or count == null or from.data == null)
        return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}' takes another tensor: dense, of its type, of rank {}", .{ port.name, port.ndim });
    for (shape, port.shape[0..shape.len]) |have, want| if (want != -1 and have != want)
        return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}': a dimension is {}, not {}", .{ port.name, want, have });
    return .{ .shape = shape, .bytes = (@as([*]u8, @ptrCast(from.data)) + @as(usize, @intCast(from.byte_offset)))[0..count.?] };
}

/// An output that is given away. Whoever takes it releases it once, on any thread.
const Given = struct {
    owned: c.sb_owned = .{},
    shape: []i64,
    bytes: []align(64) u8,
    fn make(dtype: c.sb_dtype, shape: []const i64) Failure!*Given {
        const made = try gpa.create(Given);
        errdefer gpa.destroy(made);
        const kept = try gpa.dupe(i64, shape);
        errdefer gpa.free(kept);
        made.* = .{ .shape = kept, .bytes = try gpa.alignedAlloc(u8, .@"64", byteCount(dtype, shape) orelse return error.OutOfMemory) };
        made.owned = .{ .owner = made, .release = drop };
        made.owned.tensor = .{ .data = made.bytes.ptr, .ndim = @intCast(shape.len), .dtype = dtype, .shape = kept.ptr };
        made.owned.tensor.place.type = c.SB_HOST_MEMORY;
        return made;
    }
    fn drop(owned: [*c]c.sb_owned) callconv(.c) void {
        const self: *Given = @ptrCast(@alignCast(owned.*.owner));
        gpa.free(self.bytes);
        gpa.free(self.shape);
        gpa.destroy(self);
    }
};

/// What is bound to the ports of a request, and what its last run left.
pub const Bindings = struct {
    arena: std.heap.ArenaAllocator = .init(gpa),
    request: *anyopaque = undefined,
    slots: [2][]Slot = @splat(&.{}),
    timing: c.sb_timing = .{}, // of this run, for an engine that knows more than when it began and ended
    /// `bound` has its shape in `shape`, and `kept` is an output that nobody has taken.
    const Slot = struct { port: c.sb_port, shape: []i64, bound: ?Tensor = null, kept: ?*Given = null };

    /// In a run every input is bound.
    pub fn input(self: *const Bindings, index: usize) Tensor {
        return self.slots[c.SB_INPUT][index].bound.?;
    }
    /// In a run: where the numbers of an output go, whose shape is known now. That is memory of the caller, which may be aligned to nothing,
    /// or memory that is given away after the run.
    pub fn output(self: *Bindings, index: usize, shape: []const i64, fault: *Fault) Failure![]u8 {
        const slot = &self.slots[c.SB_OUTPUT][index];
        if (slot.bound) |bound| if (std.mem.eql(i64, bound.shape, shape)) return bound.bytes;
        if (slot.bound != null) return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "'{s}': its memory has another shape", .{slot.port.name});
        forget(slot[0..1]);
        slot.kept = try .make(slot.port.dtype, shape);
        return slot.kept.?.bytes;
    }
    fn forget(slots: []Slot) void {
        for (slots) |*slot| {
            if (slot.kept) |given| Given.drop(&given.owned);
            slot.kept = null;
        }
    }
    fn free(self: *Bindings) void {
        forget(self.slots[c.SB_OUTPUT]);
        self.arena.deinit();
        gpa.destroy(self);
    }
};

fn at(all: anytype, direction: i32, index: u32, fault: *Fault) Failure!@TypeOf(&all[0][0]) {
    const there = (direction == c.SB_INPUT or direction == c.SB_OUTPUT) and index < all[@intCast(direction)].len;
    return if (there) &all[@intCast(direction)][index] else fault.refuse(c.SB_NOT_FOUND, 0, "the model has no port {} there", .{index});
}

/// Makes the C table of an engine. `facts` has its id, the schema of its options, flags, and slots that are not made here. An sb_instance is
/// an *Engine, an sb_model a *Model. Their methods are `pub`; the last of each type frees what its maker gave:
///   Engine   open(options, fault) !*Engine, devices() []const c.sb_device, load(*const c.sb_load, fault) !*Model, close();
///            it may have supports(*const c.sb_load, fault) !void. A load is `whole`, and its devices can be used
///   Model    placement() c.sb_placement, ports() [2][]const c.sb_port by direction, the same until unload, request(fault) !*Request, unload()
///   Request  run(*Bindings, fault) !void, release(); it may have bindInput(index, Tensor, fault) !void, to convert what is bound
pub fn backend(comptime Engine: type, comptime Model: type, comptime Request: type, comptime facts: c.sb_backend) c.sb_backend {
    const Slots = struct {
        fn open(from: [*c]const c.sb_host, options: [*c]const c.sb_options, out: **Engine, fault: *Fault) Failure!void {
            host = whole(c.sb_host, from);
            out.* = try Engine.open(options, fault);
        }
        fn close(engine: *Engine) callconv(.c) void {
            engine.close();
        }
        fn device_count(engine: *Engine) callconv(.c) u32 {
            return @intCast(engine.devices().len);
        }
        fn device(engine: *Engine, index: u32, out: [*c]c.sb_device, fault: *Fault) Failure!void {
            const all = engine.devices();
            if (index >= all.len) return fault.refuse(c.SB_NOT_FOUND, c.SB_WHY_DEVICE, "there is no device {}", .{index});
            fill(c.sb_device, out, all[index]);
        }
        /// Refuses what no engine could do.
        fn asked(engine: *Engine, from: [*c]const c.sb_load, fault: *Fault) Failure!c.sb_load {
            const made = whole(c.sb_load, from);
            if (made.size < @offsetOf(c.sb_load, "device_count") + @sizeOf(u32) or made.source == null)
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "the host tells too little of a load", .{});
            for (0..made.device_count) |i| {
                var told: c.sb_device = .{ .size = @sizeOf(c.sb_device) };
                try device(engine, made.devices[i], &told, fault);
                if (told.why != 0) return fault.refuse(c.SB_UNAVAILABLE, told.why, "{s}: {s}", .{ span(&told.id), span(&told.reason) });
            }
            return made;
        }
        fn supports(engine: *Engine, from: [*c]const c.sb_load, fault: *Fault) Failure!void {
            try engine.supports(&try asked(engine, from, fault), fault);
        }
        fn load(engine: *Engine, from: [*c]const c.sb_load, out: **Model, fault: *Fault) Failure!void {
            out.* = try engine.load(&try asked(engine, from, fault), fault);
        }
        fn unload(model: *Model) callconv(.c) void {
            model.unload();
        }
        fn placement(model: *Model, out: [*c]c.sb_placement, _: *Fault) Failure!void {
            fill(c.sb_placement, out, model.placement());
        }
        fn port_count(model: *Model, direction: i32) callconv(.c) u32 {
            return if (direction == c.SB_INPUT or direction == c.SB_OUTPUT) @intCast(model.ports()[@intCast(direction)].len) else 0;
        }
        fn port(model: *Model, direction: i32, index: u32, out: [*c]c.sb_port, fault: *Fault) Failure!void {
            fill(c.sb_port, out, (try at(model.ports(), direction, index, fault)).*);
        }
        fn request(model: *Model, out: **Bindings, fault: *Fault) Failure!void {
            const made = try gpa.create(Bindings);
            made.* = .{};
            errdefer made.free();
            for (&made.slots, model.ports()) |*all, ports| {
                const slots = try made.arena.allocator().alloc(Bindings.Slot, ports.len);
                for (slots, ports) |*slot, it| slot.* = .{ .port = it, .shape = try made.arena.allocator().alloc(i64, it.ndim) };
                all.* = slots;
            }
            made.request = try model.request(fault);
            out.* = made;
        }
        fn of(bindings: *Bindings) *Request {
            return @ptrCast(@alignCast(bindings.request));
        }
        fn release(bindings: *Bindings) callconv(.c) void {
            of(bindings).release(); // first, since it may look at what is bound until it is gone
            bindings.free();
        }
        fn bind(self: *Bindings, direction: i32, index: u32, from: [*c]const c.sb_tensor, place: [*c]const c.sb_place, fault: *Fault) Failure!void {
            const slot = try at(self.slots, direction, index, fault);
            var bound: ?Tensor = null;
            if (from != null) {
                bound = try denseTensor(slot.port, from.*, fault);
                if (@hasDecl(Request, "bindInput") and direction == c.SB_INPUT) try of(self).bindInput(index, bound.?, fault);
                @memcpy(slot.shape, bound.?.shape);
                bound.?.shape = slot.shape;
            } else if (direction == c.SB_INPUT)
                return fault.refuse(c.SB_INVALID_ARGUMENT, 0, "input '{s}' needs a tensor", .{slot.port.name})
            else if (place != null and place.*.type != c.SB_HOST_MEMORY)
                return fault.refuse(c.SB_UNIMPLEMENTED, 0, "outputs are allocated in memory of the host", .{});
            slot.bound = bound;
            Bindings.forget(slot[0..1]);
        }
        fn run(self: *Bindings, out: [*c]c.sb_timing, fault: *Fault) Failure!void {
            Bindings.forget(self.slots[c.SB_OUTPUT]);
            for (self.slots[c.SB_INPUT]) |slot|
                if (slot.bound == null) return fault.refuse(c.SB_FAILED_PRECONDITION, 0, "input '{s}' is not bound", .{slot.port.name});
            self.timing = .{ .start_ns = now() };
            inline for (.{ "submit_ns", "end_ns", "clock_error_ns", "host_to_device_ns", "device_to_host_ns" }) |name|
                @field(self.timing, name) = c.SB_UNKNOWN;
            errdefer Bindings.forget(self.slots[c.SB_OUTPUT]); // a run that fails leaves no output
            try of(self).run(self, fault);
            if (self.timing.end_ns == c.SB_UNKNOWN) self.timing.end_ns = now();
            fill(c.sb_timing, out, self.timing);
        }
        fn output(self: *Bindings, index: u32, out: [*c][*c]c.sb_owned, fault: *Fault) Failure!void {
            const slot = try at(self.slots, c.SB_OUTPUT, index, fault);
            const given = slot.kept orelse return fault.refuse(c.SB_FAILED_PRECONDITION, 0, "it holds nothing to take: run first", .{});
            slot.kept = null;
            out.* = &given.owned;
        }
    };
    var table = facts;
    table.size = @sizeOf(c.sb_backend);
    inline for (.{ "open", "device", "load", "placement", "port", "request", "bind", "run", "output" }) |name|
        @field(table, name) = @ptrCast(guard(@field(Slots, name)));
    if (@hasDecl(Engine, "supports")) table.supports = @ptrCast(guard(Slots.supports));
    inline for (.{ "close", "device_count", "unload", "port_count", "release" }) |name| @field(table, name) = @ptrCast(&@field(Slots, name));
    return table;
}

/// The exported symbol. `parts` are its tables with their kinds, such as .{ c.SB_BACKEND, &table }.
pub fn plugin(comptime id: [:0]const u8, comptime version: [:0]const u8, comptime parts: anytype) c.sb_plugin {
    const Factory = struct {
        fn find(asked: [*c]const u8) callconv(.c) ?*const anyopaque {
            inline for (parts) |part| if (std.mem.eql(u8, span(asked), part[0])) return part[1];
            return null;
        }
    };
    var made: c.sb_plugin = .{ .size = @sizeOf(c.sb_plugin), .abi_major = c.SB_ABI_MAJOR, .abi_minor = c.SB_ABI_MINOR, .id = id };
    made.name = id;
    made.version = version;
    made.factory = Factory.find;
    return made;
}
