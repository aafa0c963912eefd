// skillbench.hpp: plugins in C++17 over skillbench.h, with the standard library alone.
//
// A plugin overrides Backend (with its Model and Request), Benchmark or Skillset, and names them in SKILLBENCH_PLUGIN. Everything that
// crosses the C contract is done here: sizes of structs, lifetimes of handles, who frees what. An exception that leaves an override
// becomes the caller's sb_error and a status: throw Error to say which, anything else counts as SB_INTERNAL.
//
// Threads, said beside each override, are those of the contract: [main] the control thread only, [any] several at once, [lane] one at a
// time for each request. What is handed in by reference lives until the call returns, unless a comment says longer.
#pragma once

#include "skillbench.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skillbench {

// ---- what goes wrong ----------------------------------------------------------------------------------------------------------

// Say what happened, where, and what to do next: the text is all that a user gets to see.
struct Error : std::exception {
  sb_status code;
  uint32_t why;             // bits of SB_WHY_*
  int32_t vendor_code = 0;  // the runtime's own number
  std::string message;

  Error(sb_status code, std::string message, uint32_t why = 0) : code(code), why(why), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }
};

namespace detail {

// Fills a struct of the caller: only below the size that the caller set, which then says what was filled.
template <class T> void fill(T *to, const T &from) noexcept {
  if (to == nullptr) return;
  const uint32_t size = std::min<uint32_t>(to->size, sizeof(T));
  std::memcpy(static_cast<void *>(to), &from, size);
  to->size = size;
}

template <class T> T sized() noexcept {
  T made{};
  made.size = sizeof(T);
  return made;
}

template <size_t N> void put(char (&to)[N], const std::string &text) noexcept {
  size_t length = std::min(text.size(), N - 1);
  if (length < text.size())  // never the half of a character
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) length--;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

inline sb_status give(sb_error *to, sb_status code, uint32_t why, int32_t vendor_code, const char *message) noexcept {
  auto made = sized<sb_error>();
  made.code = code;
  made.why = why;
  made.vendor_code = vendor_code;
  try { put(made.message, message); } catch (...) {}
  fill(to, made);
  return code;
}

// The border: runs what a slot does, and lets no exception out.
template <class Work> sb_status guarded(sb_error *error, Work work) noexcept {
  try {
    work();
    return SB_OK;
  } catch (const Error &failure) {
    return give(error, failure.code == SB_OK ? SB_INTERNAL : failure.code, failure.why, failure.vendor_code, failure.what());
  } catch (const std::bad_alloc &) {
    return give(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, 0, "there is not enough memory");
  } catch (const std::exception &unforeseen) {
    return give(error, SB_INTERNAL, 0, 0, unforeseen.what());
  } catch (...) {
    return give(error, SB_INTERNAL, 0, 0, "an exception without a text");
  }
}

// The other way: calls a slot of the host's, and throws what it reports.
template <class Call> void checked(Call call) {
  auto error = sized<sb_error>();
  const sb_status status = call(&error);
  if (status == SB_OK) return;
  Error failure(status, error.message, error.why);
  failure.vendor_code = error.vendor_code;
  throw failure;
}

inline std::string text(const char *from) { return from != nullptr ? from : ""; }

}  // namespace detail

// ---- the host ------------------------------------------------------------------------------------------------------------------

// The worker's services. It outlives every handle, may be copied, and every call is [any].
class Host {
public:
  explicit Host(const sb_host *raw) : raw_(raw) {}
  void log(int32_t level, const std::string &message) const {
    if (raw_ && SB_CALL(sb_host, raw_, log)) raw_->log(raw_->ctx, level, "plugin", message.c_str());
  }
  // A long step is alive: how much of it is done, from 0 to 1.
  void phase(const std::string &name, double fraction) const {
    if (raw_ && SB_CALL(sb_host, raw_, phase)) raw_->phase(raw_->ctx, name.c_str(), fraction);
  }
  // While a backend opens: what was looked at, and what was found. It reaches the user also where opening fails.
  void evidence(const std::string &what, const std::string &found) const {
    if (raw_ && SB_CALL(sb_host, raw_, evidence)) raw_->evidence(raw_->ctx, what.c_str(), found.c_str());
  }
  // The run's one monotonic clock.
  uint64_t now_ns() const { return raw_ && SB_CALL(sb_host, raw_, now_ns) ? raw_->now_ns(raw_->ctx) : SB_UNKNOWN; }
  // Long loops ask, and throw Error(SB_CANCELLED, ...).
  bool stopping() const { return raw_ && SB_CALL(sb_host, raw_, stopping) && raw_->stopping(raw_->ctx) != 0; }

private:
  const sb_host *raw_;
};

// Options of `open`, of a load, or of a benchmark. The host has held them against the schema.
class Options {
public:
  explicit Options(const sb_options *raw) : raw_(raw) {}
  std::optional<std::string> get(const std::string &key) const {
    for (uint32_t i = 0; raw_ && SB_HAS(sb_options, raw_, items) && i < raw_->count; i++)
      if (key == raw_->items[i].key) return detail::text(raw_->items[i].value);
    return std::nullopt;
  }

private:
  const sb_options *raw_;
};

// ---- tensors -------------------------------------------------------------------------------------------------------------------

using Shape = std::vector<int64_t>;  // -1: dynamic

constexpr sb_dtype float32{SB_FLOAT, 32, 1};
inline bool operator==(const sb_dtype &a, const sb_dtype &b) { return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes; }

// Dense memory of the host that somebody else owns.
struct Tensor {
  sb_dtype dtype;
  Shape shape;
  void *data;
  template <class T> T *as() const { return static_cast<T *>(data); }
};

// A tensor that is given away: `owner` keeps `data` alive until the caller has released it, on any thread.
struct Owned {
  Tensor tensor;
  std::shared_ptr<void> owner;
  template <class T> static Owned of(sb_dtype dtype, Shape shape, std::vector<T> numbers) {
    auto kept = std::make_shared<std::vector<T>>(std::move(numbers));
    return {{dtype, std::move(shape), kept->data()}, kept};
  }
};

// ---- backends ------------------------------------------------------------------------------------------------------------------

struct Device {
  std::string id, name;
  uint32_t kind = SB_CPU;
  std::string vendor, arch, driver;
  uint64_t memory_bytes = SB_UNKNOWN;
  uint32_t why = 0;    // not 0: known of but not usable,
  std::string reason;  // and this tells what was looked at
  uint32_t flags = 0;  // SB_DEVICE_EMULATED, SB_DEVICE_REMOTE
};

struct Port {
  std::string name;
  sb_dtype dtype = float32;
  Shape shape;
  std::vector<std::string> dim_names;  // as many as `shape` has, or none; "" where a dimension has no name
};

// What really happened at load, never what was asked for.
struct Placement {
  std::string precision, device, engine;  // "float32", a Device's id, name and version
  uint64_t nodes_total = SB_UNKNOWN, nodes_on_device = SB_UNKNOWN, cache_hit = SB_UNKNOWN;
  uint64_t read_ns = SB_UNKNOWN, compile_ns = SB_UNKNOWN, upload_ns = SB_UNKNOWN;
};

// When the engine worked, on the host's clock.
struct Timing {
  uint64_t start_ns = SB_UNKNOWN, end_ns = SB_UNKNOWN;
};

struct Load {
  std::string format, path;         // "onnx"; the path is empty where the model is in memory:
  const uint8_t *bytes = nullptr;   // borrowed until `load` returns
  size_t length = 0;
  std::string precision;            // empty: as the graph says. Apply it, or throw Error(SB_UNIMPLEMENTED, ..., SB_WHY_PRECISION)
  std::string cache_dir;            // for compiled code; empty: keep none
  uint32_t device = 0;              // an index of Backend::devices
  std::vector<std::pair<std::string, int64_t>> dims;  // named dimensions of the graph, and the value they are made for
  bool allow_fallback = false, profile = false;
  Options options{nullptr};         // of this load; borrowed until `load` returns
};

// The tensors that are bound now. Type, rank and fixed dimensions are those of the ports: that was checked.
struct Bindings {
  std::vector<std::optional<Tensor>> inputs, outputs;  // an output without a tensor is the engine's to allocate
};

// One set of bound tensors. Several requests of one model may run at once.
class Request {
public:
  virtual ~Request() = default;  // [lane] outputs that were taken live on

  // [lane] A tensor was bound, or its contents changed and it was bound again. The data is borrowed until the port is bound again or the
  // request is gone. An engine that copies or converts its inputs does it here. Equal pointers never mean equal contents.
  virtual void bind_input(size_t, const Tensor &) {}

  // [lane] Whether later runs can write into memory of the caller. An engine that always allocates its outputs says false, and the host
  // is told SB_UNIMPLEMENTED, which costs nothing.
  virtual bool writes_into(size_t) { return false; }

  // [lane] Computes once, and returns when the outputs can be read: in the memory that `bound` has for them, or ready to be taken. Every
  // input is bound. Where it throws, no output may be left from it.
  virtual Timing run(const Bindings &bound) = 0;

  // [lane] Gives away an output of the last run, once. Later runs never write into it.
  virtual std::optional<Owned> take_output(size_t index) = 0;
};

// A compiled model. It does not change once it is loaded, so that its requests may run at once.
class Model {
public:
  virtual ~Model() = default;  // [any] no request is alive

  virtual Placement placement() const = 0;                // [any]
  virtual const std::vector<Port> &inputs() const = 0;    // [any] the same until the model is gone
  virtual const std::vector<Port> &outputs() const = 0;   // [any] as for inputs
  virtual std::unique_ptr<Request> request() const = 0;   // [any] shares the weights; the model outlives it
};

// An opened runtime. A class derived from it has two constants and one function more:
//   static constexpr const char *id;               unique among backends
//   static constexpr const char *options_schema;   closed JSON Schema of the options that `open` takes
//   static std::unique_ptr<Backend> open(Host, const Options &);
// `open` is [main]. It loads the vendor's library; where that is missing it throws Error(SB_UNAVAILABLE, ..., SB_WHY_RUNTIME) and says what
// was looked for, where, and how to install it.
class Backend {
public:
  virtual ~Backend() = default;  // [main] no model is alive

  virtual std::vector<Device> devices() = 0;                     // [main] asked once, after `open`
  virtual void supports(const Load &) {}                         // [any] throws why a load would not work, without compiling
  virtual std::unique_ptr<Model> load(const Load &) = 0;         // [any] the backend outlives the model

  // [any] Tables of skillbench.h by their ids, such as an sb_power for SB_POWER. A slot finds this object at `instance->backend`.
  virtual const void *extension(const char *) { return nullptr; }
};

}  // namespace skillbench

// The handles of the contract. They are opaque to the host.
struct sb_instance {
  std::unique_ptr<skillbench::Backend> backend;
  std::vector<skillbench::Device> devices;
};
struct sb_model {
  std::unique_ptr<skillbench::Model> model;
  std::vector<const char *> names[2];  // of all dimensions, by direction
  std::vector<size_t> first[2];        // where those of a port begin
};
struct sb_request {
  const skillbench::Model *model;
  std::unique_ptr<skillbench::Request> request;  // before `bound`, whose data it may look at until it is gone
  skillbench::Bindings bound;
};

namespace skillbench {

// Makes the C table of a Backend. Not for plugins to call: SKILLBENCH_PLUGIN does.
template <class B> struct backend {
  static Load read(const sb_load *from) {
    Load load;
    if (SB_HAS(sb_load, from, source) && from->source) {
      const sb_source &source = *from->source;
      load.format = detail::text(source.format);
      load.path = detail::text(source.path);
      load.bytes = static_cast<const uint8_t *>(source.bytes);
      load.length = static_cast<size_t>(source.length);
    }
    if (SB_HAS(sb_load, from, cache_dir)) {
      load.precision = detail::text(from->precision);
      load.cache_dir = detail::text(from->cache_dir);
    }
    if (SB_HAS(sb_load, from, dim_count)) {
      load.device = from->device_count > 0 ? from->devices[0] : 0;
      for (uint32_t i = 0; i < from->dim_count; i++) load.dims.emplace_back(detail::text(from->dims[i].name), from->dims[i].opt);
    }
    if (SB_HAS(sb_load, from, options)) load.options = Options(from->options);
    load.allow_fallback = from->flags & SB_LOAD_ALLOW_FALLBACK;
    load.profile = from->flags & SB_LOAD_PROFILE;
    return load;
  }

  static Load read_for(sb_instance *instance, const sb_load *from) {
    Load load = read(from);
    if (load.device >= instance->devices.size())
      throw Error(SB_NOT_FOUND, "there is no device " + std::to_string(load.device), SB_WHY_DEVICE);
    return load;
  }

  static sb_status open(const sb_host *host, const sb_options *options, sb_instance **out, sb_error *error) {
    return detail::guarded(error, [&] {
      auto made = std::make_unique<sb_instance>();
      made->backend = B::open(Host(host), Options(options));
      made->devices = made->backend->devices();
      *out = made.release();
    });
  }
  static void close(sb_instance *instance) { delete instance; }
  static uint32_t device_count(sb_instance *instance) { return static_cast<uint32_t>(instance->devices.size()); }

  static sb_status device(sb_instance *instance, uint32_t index, sb_device *out, sb_error *error) {
    return detail::guarded(error, [&] {
      if (index >= instance->devices.size()) throw Error(SB_NOT_FOUND, "there is no such device", SB_WHY_DEVICE);
      const Device &from = instance->devices[index];
      auto made = detail::sized<sb_device>();
      made.kind = from.kind;
      made.why = from.why;
      made.flags = from.flags;
      made.place = {SB_HOST_MEMORY, 0};
      made.memory_bytes = from.memory_bytes;
      detail::put(made.id, from.id);
      detail::put(made.name, from.name);
      detail::put(made.vendor, from.vendor);
      detail::put(made.arch, from.arch);
      detail::put(made.driver, from.driver);
      detail::put(made.reason, from.reason);
      detail::fill(out, made);
    });
  }

  static sb_status supports(sb_instance *instance, const sb_load *load, sb_error *error) {
    return detail::guarded(error, [&] { instance->backend->supports(read_for(instance, load)); });
  }

  static sb_status load(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error) {
    return detail::guarded(error, [&] {
      auto made = std::make_unique<sb_model>();
      made->model = instance->backend->load(read_for(instance, load));
      for (int32_t direction : {SB_INPUT, SB_OUTPUT})
        for (const Port &port : ports(*made->model, direction)) {
          made->first[direction].push_back(made->names[direction].size());
          for (size_t i = 0; i < port.shape.size(); i++)
            made->names[direction].push_back(i < port.dim_names.size() && !port.dim_names[i].empty() ? port.dim_names[i].c_str() : nullptr);
        }
      *out = made.release();
    });
  }
  static void unload(sb_model *model) { delete model; }

  static sb_status placement(sb_model *model, sb_placement *out, sb_error *error) {
    return detail::guarded(error, [&] {
      const Placement from = model->model->placement();
      auto made = detail::sized<sb_placement>();
      made.nodes_total = from.nodes_total;
      made.nodes_on_device = from.nodes_on_device;
      made.cache_hit = from.cache_hit;
      made.read_ns = from.read_ns;
      made.compile_ns = from.compile_ns;
      made.upload_ns = from.upload_ns;
      detail::put(made.precision, from.precision);
      detail::put(made.device, from.device);
      detail::put(made.engine, from.engine);
      detail::fill(out, made);
    });
  }

  static const std::vector<Port> &ports(const Model &model, int32_t direction) {
    return direction == SB_INPUT ? model.inputs() : model.outputs();
  }
  static const Port &port_at(const Model &model, int32_t direction, uint32_t index) {
    if (index >= ports(model, direction).size()) throw Error(SB_NOT_FOUND, "the model has no port " + std::to_string(index) + " there");
    return ports(model, direction)[index];
  }
  static uint32_t port_count(sb_model *model, int32_t direction) { return static_cast<uint32_t>(ports(*model->model, direction).size()); }

  static sb_status port(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error) {
    return detail::guarded(error, [&] {
      const Port &from = port_at(*model->model, direction, index);
      auto made = detail::sized<sb_port>();
      made.ndim = static_cast<uint32_t>(from.shape.size());
      made.name = from.name.c_str();
      made.shape = from.shape.data();
      made.dim_names = model->names[direction].data() + model->first[direction][index];
      made.dtype = from.dtype;
      detail::fill(out, made);
    });
  }

  static sb_status request(sb_model *model, sb_request **out, sb_error *error) {
    return detail::guarded(error, [&] {
      auto made = std::make_unique<sb_request>();
      made->model = model->model.get();
      made->request = model->model->request();
      made->bound.inputs.resize(model->model->inputs().size());
      made->bound.outputs.resize(model->model->outputs().size());
      *out = made.release();
    });
  }
  static void release(sb_request *request) { delete request; }

  static Tensor read(const Port &port, const sb_tensor &from) {
    if (from.place.type != SB_HOST_MEMORY) throw Error(SB_UNIMPLEMENTED, "'" + port.name + "': only memory of the host can be bound");
    bool fits = from.dtype == port.dtype && from.ndim == static_cast<int32_t>(port.shape.size());
    int64_t dense = 1;
    for (int32_t i = from.ndim - 1; fits && i >= 0; dense *= from.shape[i], i--) {
      const int64_t want = port.shape[static_cast<size_t>(i)], have = from.shape[i];
      fits = have >= 0 && (want == -1 || want == have) && (!from.strides || have <= 1 || from.strides[i] == dense);
    }
    if (!fits || (!from.data && dense > 0)) throw Error(SB_INVALID_ARGUMENT, "'" + port.name + "' takes a dense tensor of another type or shape");
    char *data = static_cast<char *>(from.data) + from.byte_offset;
    if (reinterpret_cast<uintptr_t>(data) % std::max(1, from.dtype.bits / 8) != 0)
      throw Error(SB_INVALID_ARGUMENT, "'" + port.name + "': the data is not aligned to its elements");
    return {from.dtype, Shape(from.shape, from.shape + from.ndim), data};
  }

  static sb_status bind(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor, const sb_place *place,
                        sb_error *error) {
    return detail::guarded(error, [&] {
      const Port &port = port_at(*request->model, direction, index);
      std::optional<Tensor> made;
      if (tensor) made = read(port, *tensor);
      if (direction == SB_INPUT) {
        if (!made) throw Error(SB_INVALID_ARGUMENT, "input '" + port.name + "' needs a tensor");
        request->request->bind_input(index, *made);
        request->bound.inputs[index] = std::move(made);
        return;
      }
      if (!made && place && place->type != SB_HOST_MEMORY) throw Error(SB_UNIMPLEMENTED, "outputs are allocated in memory of the host");
      if (made && !request->request->writes_into(index)) throw Error(SB_UNIMPLEMENTED, "this engine allocates its outputs");
      request->bound.outputs[index] = std::move(made);
    });
  }

  static sb_status run(sb_request *request, sb_timing *timing, sb_error *error) {
    return detail::guarded(error, [&] {
      for (size_t i = 0; i < request->bound.inputs.size(); i++)
        if (!request->bound.inputs[i]) throw Error(SB_FAILED_PRECONDITION, "input '" + request->model->inputs()[i].name + "' is not bound");
      const Timing took = request->request->run(request->bound);
      auto made = detail::sized<sb_timing>();
      made.submit_ns = made.clock_error_ns = made.host_to_device_ns = made.device_to_host_ns = SB_UNKNOWN;
      made.start_ns = took.start_ns;
      made.end_ns = took.end_ns;
      detail::fill(timing, made);
    });
  }

  struct Given {
    sb_owned raw;
    Owned kept;
  };
  static void release_given(sb_owned *owned) { delete static_cast<Given *>(owned->owner); }

  static sb_status output(sb_request *request, uint32_t index, sb_owned **out, sb_error *error) {
    return detail::guarded(error, [&] {
      port_at(*request->model, SB_OUTPUT, index);
      std::optional<Owned> taken;
      if (!request->bound.outputs[index]) taken = request->request->take_output(index);
      if (!taken) throw Error(SB_FAILED_PRECONDITION, "the output holds nothing: run first, and take it once");
      auto made = std::make_unique<Given>(Given{{}, std::move(*taken)});
      Tensor &from = made->kept.tensor;
      made->raw = {{from.data, {SB_HOST_MEMORY, 0}, static_cast<int32_t>(from.shape.size()), from.dtype, from.shape.data(), nullptr, 0},
                   made.get(), release_given};
      *out = &made.release()->raw;
    });
  }

  static const void *extension(sb_instance *instance, const char *id) { return instance->backend->extension(id); }

  // What a plugin may leave out is NULL: allocate, copy, alias, reset, submit, cancel, memory.
  static const void *find(const std::string &id) {
    static const sb_backend table = {
      sizeof(sb_backend), 0, B::id, B::options_schema, open, close, device_count, device, supports, load, unload, placement, port_count,
      port, nullptr, nullptr, request, release, bind, nullptr, nullptr, run, output, nullptr, nullptr, nullptr, extension};
    return id == SB_BACKEND ? &table : nullptr;
  }
};

// ---- benchmarks ----------------------------------------------------------------------------------------------------------------

class TargetModel;

// A request on the target's model. [lane]
class TargetRequest {
public:
  TargetRequest(const sb_target &target, sb_model *model) : target_(&target), model_(model) {
    detail::checked([&](sb_error *error) { return target.backend->request(model, &request_, error); });
  }
  ~TargetRequest() { target_->backend->release(request_); }
  TargetRequest(const TargetRequest &) = delete;
  TargetRequest &operator=(const TargetRequest &) = delete;

  // Binds every input, filled by the skill's rules. The host keeps the memory.
  void prepare(uint64_t variant) {
    detail::checked([&](sb_error *error) { return target_->prepare(target_->ctx, model_, request_, variant, error); });
  }
  void run() {
    detail::checked([&](sb_error *error) { return target_->backend->run(request_, nullptr, error); });
  }
  // After a run on variant 0: holds the outputs against another engine. Without it the host gives out no measured round.
  void verify() {
    detail::checked([&](sb_error *error) { return target_->verify(target_->ctx, model_, request_, error); });
  }

private:
  const sb_target *target_;
  sb_model *model_;
  sb_request *request_ = nullptr;
};

// A model that the host loaded, and unloads when this goes. Its requests go before it.
class TargetModel {
public:
  TargetModel(const sb_target &target, const char *part) : target_(&target) {
    detail::checked([&](sb_error *error) { return target.load(target.ctx, part, nullptr, 0, &model_, error); });
  }
  ~TargetModel() { target_->unload(target_->ctx, model_); }
  TargetModel(const TargetModel &) = delete;
  TargetModel &operator=(const TargetModel &) = delete;
  TargetRequest request() const { return TargetRequest(*target_, model_); }

private:
  const sb_target *target_;
  sb_model *model_ = nullptr;
};

// What is measured: a backend and a model, at one point of the grid. It lives until `run` returns.
class Target {
public:
  explicit Target(const sb_target *raw) : raw_(raw) {}
  std::string skill() const { return detail::text(raw_->skill); }
  std::string manifest() const { return detail::text(raw_->manifest); }
  uint64_t seed() const { return raw_->seed; }
  std::vector<std::string> parts() const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < raw_->part_count; i++) names.push_back(detail::text(raw_->parts[i]->name));
    return names;
  }
  std::optional<int64_t> axis(const std::string &name) const {
    for (uint32_t i = 0; i < raw_->axis_count; i++)
      if (name == raw_->axes[i].name) return raw_->axes[i].opt;
    return std::nullopt;
  }
  // [any] The host times the load, and refuses a model that is not where it should be.
  TargetModel load(const std::string &part = "") const { return TargetModel(*raw_, part.c_str()); }

private:
  const sb_target *raw_;
};

// Hands samples to the host. It lives until `run` returns. [main]
class Reporter {
public:
  Reporter(const sb_reporter *raw, Host host) : raw_(raw), host_(host) {}

  // A row of durations, announced before its first round. `latency` is a name that the host knows; docs of the host list the others.
  uint32_t durations(const std::string &name, double items_per_sample) const {
    return series(name, "ns", SB_DURATION, SB_LOWER_IS_BETTER, items_per_sample);
  }
  uint32_t series(const std::string &name, const std::string &unit, uint32_t kind, uint32_t better, double items_per_sample) const {
    auto made = detail::sized<sb_series>();
    made.kind = kind;
    made.better = better;
    made.name = name.c_str();
    made.unit = unit.c_str();
    made.items_per_sample = items_per_sample;
    uint32_t handle = 0;
    detail::checked([&](sb_error *error) { return raw_->series(raw_->ctx, &made, &handle, error); });
    return handle;
  }

  // Nothing: the host has enough of this series.
  std::optional<sb_round> next_round(uint32_t series) const {
    auto round = detail::sized<sb_round>();
    if (raw_->next_round(raw_->ctx, series, &round) == 0) return std::nullopt;
    return round;
  }

  // As many values as the round has iterations; or, with round 0, a single figure that needs none.
  void samples(uint32_t series, uint64_t round, const std::vector<double> &values) const {
    auto made = detail::sized<sb_samples>();
    made.series = series;
    made.round = round;
    made.count = values.size();
    made.values = values.data();
    detail::checked([&](sb_error *error) { return raw_->samples(raw_->ctx, &made, error); });
  }

  // Does the work in every round that the host wants, and times each time.
  template <class Work> void time(uint32_t series, Work work) const {
    std::vector<double> values;
    while (const auto round = next_round(series)) {
      for (uint64_t i = 0; i < round->settle; i++) work();
      values.assign(static_cast<size_t>(round->iterations), 0);
      for (double &value : values) {
        const uint64_t start = host_.now_ns();
        work();
        value = static_cast<double>(host_.now_ns() - start);
      }
      samples(series, round->id, values);
    }
  }

  // A file for the run's folder; copied.
  void attach(const std::string &name, const std::string &bytes) const { raw_->attach(raw_->ctx, name.c_str(), bytes.data(), bytes.size()); }

private:
  const sb_reporter *raw_;
  Host host_;
};

struct Context {
  Host host;
  Options options;
  Reporter reporter;
  std::optional<Target> target;  // there is one, where the benchmark says SB_BENCHMARK_NEEDS_TARGET
};

// A class derived from it has these constants more:
//   static constexpr const char *id, *version, *category, *summary, *options_schema;
//   static constexpr uint32_t flags;               SB_BENCHMARK_*
// A result of one version is never compared with one of another: change it whenever the work changes.
class Benchmark {
public:
  virtual ~Benchmark() = default;

  // [main] Called once for each cell, on an object of its own. It may start threads, and joins them. What it throws is the cell's outcome.
  // All that a round does has to stand in its samples: the host times the round, too.
  virtual void run(const Context &) = 0;
};

// Makes the C table of Benchmarks. Not for plugins to call: SKILLBENCH_PLUGIN does.
template <class... All> struct benchmarks {
  template <class B>
  static sb_status run(const sb_host *host, const sb_target *target, const sb_options *options, const sb_reporter *reporter, sb_error *error) {
    return detail::guarded(error, [&] {
      if (!target && (B::flags & SB_BENCHMARK_NEEDS_TARGET))
        throw Error(SB_INVALID_ARGUMENT, "this benchmark needs a target: a backend and a model");
      Context context{Host(host), Options(options), Reporter(reporter, Host(host)), std::nullopt};
      if (target) context.target.emplace(target);
      B().run(context);
    });
  }
  static uint32_t count() { return sizeof...(All); }
  static const sb_benchmark *at(uint32_t index) {
    static const sb_benchmark tables[] = {
      {sizeof(sb_benchmark), All::flags, All::id, All::version, All::category, All::summary, All::options_schema, run<All>, nullptr}...};
    return index < sizeof...(All) ? &tables[index] : nullptr;
  }
  static const void *find(const std::string &id) {
    static const sb_benchmarks table = {sizeof(sb_benchmarks), 0, count, at};
    return id == SB_BENCHMARKS ? &table : nullptr;
  }
};

// ---- skillsets -----------------------------------------------------------------------------------------------------------------

// A class derived from it has two constants more:
//   static constexpr const char *id, *summary;
// Each call is made on an object of its own, so that it need not think of threads.
class Skillset {
public:
  virtual ~Skillset() = default;

  // [any] One JSON object for each skill. Asked once, and kept; cheap, since nothing is built for it. Where it throws, there is no skill.
  virtual std::vector<std::string> describe() const = 0;

  // [any] Writes skill.json and all that it names into an empty folder, skill.json last. The same files each time. An id that is not there
  // is Error(SB_NOT_FOUND, ...). A long build asks host.stopping() and tells host.phase().
  virtual void build(Host host, const std::string &skill, const Options &options, const std::string &directory) const = 0;
};

// Makes the C table of a Skillset. Not for plugins to call: SKILLBENCH_PLUGIN does.
template <class S> struct skillset {
  static const std::vector<std::string> &skills() noexcept {
    static const std::vector<std::string> described = [] {
      try { return S().describe(); } catch (...) { return std::vector<std::string>(); }
    }();
    return described;
  }
  static uint32_t count() { return static_cast<uint32_t>(skills().size()); }
  static const char *describe(uint32_t index) { return index < skills().size() ? skills()[index].c_str() : nullptr; }
  static sb_status build(const sb_host *host, const char *skill, const sb_options *options, const char *directory, sb_error *error) {
    return detail::guarded(error, [&] { S().build(Host(host), detail::text(skill), Options(options), detail::text(directory)); });
  }
  static const void *find(const std::string &id) {
    static const sb_skillset table = {sizeof(sb_skillset), 0, S::id, S::summary, count, describe, build};
    return id == SB_SKILLSET ? &table : nullptr;
  }
};

template <class... Parts> const void *factory(const char *id) noexcept {
  const void *found = nullptr;
  try { ((found = found ? found : Parts::find(id)), ...); } catch (...) {}
  return found;
}

}  // namespace skillbench

// Exports the plugin, once in a library: its id, its name, its version, and what it holds, such as
//   SKILLBENCH_PLUGIN("acme", "Acme's engine", "0.1.0", skillbench::backend<Engine>, skillbench::benchmarks<Latency, Burst>)
#define SKILLBENCH_PLUGIN(ID, NAME, VERSION, ...)                                                                                  \
  const sb_plugin skillbench_plugin = {sizeof(sb_plugin), SB_ABI_MAJOR, ID, NAME, VERSION, nullptr, nullptr, nullptr, nullptr,     \
                                       skillbench::factory<__VA_ARGS__>, SB_ABI_MINOR, 0};
