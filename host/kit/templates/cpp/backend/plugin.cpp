// @NAME@: a skillbench backend in one file of C++17. It computes ONNX graphs of MatMul, Gemm, Add and Relu in float32 on the CPU.
//
// Read from the end, it is what the host sees: a Backend that loads Models, whose Requests run. Read from the start, it is an engine that
// reads a graph and computes it. The engine is there to be replaced by yours; the three classes are there to stay.
//
// skillbench.hpp says beside everything that is overridden here on which thread it is called, and who owns what. [main] is one thread,
// [any] several at once, [lane] one at a time for each request. An exception never leaves the plugin: it becomes the caller's error.
#include "skillbench.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

namespace {

using namespace skillbench;

[[noreturn]] void refuse(const std::string &text) { throw Error(SB_INVALID_ARGUMENT, text, SB_WHY_MODEL); }
[[noreturn]] void lack(const std::string &text) { throw Error(SB_UNIMPLEMENTED, text, SB_WHY_MODEL); }

// An ONNX file is a protobuf message: a row of fields, each a number and what it holds, which may be a message again. Texts and weights are
// used where they lie in the file. No length in it is believed.
struct Field {
  uint64_t number = 0, value = 0;
  std::string_view bytes;
};

[[noreturn]] void broken() { refuse("it is no complete ONNX file"); }

uint64_t varint(std::string_view &rest) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return number;
  }
  broken();
}

// The fields of this number, in order.
std::vector<Field> all(std::string_view message, uint64_t number) {
  std::vector<Field> found;
  while (!message.empty()) {
    Field field;
    const uint64_t key = varint(message), wire = key & 7;
    field.number = key >> 3;
    uint64_t length = 0;
    switch (wire) {
    case 0: field.value = varint(message); break;
    case 1: length = 8; break;
    case 2: length = varint(message); break;
    case 5: length = 4; break;
    default: broken();
    }
    if (length > message.size()) broken();
    field.bytes = message.substr(0, static_cast<size_t>(length));
    message.remove_prefix(static_cast<size_t>(length));
    if (field.number == number) found.push_back(field);
  }
  return found;
}

// The last field of this number; empty where there is none.
Field get(std::string_view message, uint64_t number) {
  const auto found = all(message, number);
  return found.empty() ? Field{} : found.back();
}

std::string text(std::string_view message, uint64_t number) { return std::string(get(message, number).bytes); }

// A dense array. A row of N numbers counts as [1, N], so that each has rows and columns.
struct Array {
  std::array<int64_t, 2> dims{1, 1};  // -1: known when a run begins
  const float *data = nullptr;        // its own, or somebody else's
  std::vector<float> own;
  float at(int64_t row, int64_t column) const {
    return data[static_cast<size_t>((dims[0] == 1 ? 0 : row) * dims[1] + (dims[1] == 1 ? 0 : column))];
  }
};

enum class Op { MatMul, Gemm, Add, Relu };
const std::map<std::string, Op> operators = {{"MatMul", Op::MatMul}, {"Gemm", Op::Gemm}, {"Add", Op::Add}, {"Relu", Op::Relu}};

// left * right + bias, or a part of that. Operands are numbers of values that come before it.
struct Step {
  Op op;
  std::vector<size_t> operands;
  bool transposed = false;  // the right operand of Gemm
  std::string name;

  bool is_product() const { return op == Op::MatMul || op == Op::Gemm; }
  bool has_bias() const { return op == Op::Add || operands.size() == 3; }

  // The shape that it makes: asked at load with what is known then, and again in each run. A bias is repeated over the rest where it has
  // one row or one column.
  void infer(const std::vector<Array> &values, Array &out) const {
    const auto agree = [](int64_t a, int64_t b) { return a == b || a == -1 || b == -1; };
    const Array &left = values[operands.front()];
    out.dims = left.dims;
    bool fits = true;
    if (is_product()) {
      const Array &right = values[operands[1]];
      fits = agree(left.dims[1], right.dims[transposed]);
      out.dims[1] = right.dims[!transposed];
    }
    for (size_t i = 0; i < 2 && has_bias(); i++) {
      const int64_t bias = values[operands.back()].dims[i];
      fits = fits && (bias == 1 || agree(bias, out.dims[i]));
    }
    if (!fits) refuse("'" + name + "': what it is made from does not fit together");
  }

  // As simple as it can be: your kernels go here.
  void compute(const std::vector<Array> &values, Array &out) const {
    const Array &left = values[operands.front()], &right = values[operands[operands.size() > 1]], &bias = values[operands.back()];
    out.own.resize(static_cast<size_t>(out.dims[0] * out.dims[1]));
    out.data = out.own.data();
    auto to = out.own.begin();
    for (int64_t row = 0; row < out.dims[0]; row++)
      for (int64_t column = 0; column < out.dims[1]; column++) {
        float sum = is_product() ? 0 : left.at(row, column);
        for (int64_t k = 0; is_product() && k < left.dims[1]; k++)
          sum += left.at(row, k) * (transposed ? right.at(column, k) : right.at(k, column));
        if (has_bias()) sum += bias.at(row, column);
        *to++ = op == Op::Relu && sum < 0 ? 0 : sum;  // NaN stays NaN
      }
  }
};

// A graph that is ready to run. Values are numbered: weights, inputs, and what each step makes.
struct Graph {
  std::vector<Array> values;
  std::map<std::string, size_t, std::less<>> names;
  std::vector<Step> steps;
  std::vector<Port> inputs, outputs;
  std::vector<size_t> made;  // the number of each output's value
  size_t first_input = 0, first_step = 0;

  // ModelProto: graph (7). GraphProto: node (1), initializer (5), input (11), output (12). What others are made from is read first.
  explicit Graph(std::string_view file) {
    const std::string_view graph = get(file, 7).bytes;
    check_operators(graph);
    for (const Field &tensor : all(graph, 5)) add_weight(tensor.bytes);
    first_input = values.size();
    for (const Field &info : all(graph, 11))
      if (names.find(get(info.bytes, 1).bytes) == names.end()) add_input(info.bytes);  // old files name weights among the inputs, too
    first_step = values.size();
    for (const Field &node : all(graph, 1)) add_step(node.bytes);
    for (const Field &info : all(graph, 12)) {
      made.push_back(find(get(info.bytes, 1).bytes));
      outputs.push_back(port_of(info.bytes));
      outputs.back().shape.assign(values[made.back()].dims.begin(), values[made.back()].dims.end());
    }
    if (made.empty()) broken();
  }

private:
  // Names ALL operators that are missing, each once: whoever has to add them wants to learn it in one go.
  static void check_operators(std::string_view graph) {
    std::vector<std::string> missing;
    for (const Field &node : all(graph, 1)) {
      const std::string domain = text(node.bytes, 7), type = text(node.bytes, 4);
      const bool standard = domain.empty() || domain == "ai.onnx";
      const std::string name = standard ? type : domain + "." + type;
      if (standard && operators.count(type)) continue;
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
    }
    if (missing.empty()) return;
    std::string list = missing.front();
    for (size_t i = 1; i < missing.size(); i++) list += ", " + missing[i];
    lack("operators that this engine lacks: " + list + "; it has MatMul, Gemm, Add and Relu");
  }

  size_t find(std::string_view name) const {
    const auto found = names.find(name);
    if (found == names.end()) refuse("nothing makes '" + std::string(name) + "'");
    return found->second;
  }

  void add(const std::string &name, Array array) {
    names.emplace(name, values.size());
    values.push_back(std::move(array));
  }

  // TensorProto: dims (1), data_type (2), float_data (4), name (8), raw_data (9).
  void add_weight(std::string_view tensor) {
    const std::string name = text(tensor, 8);
    std::vector<uint64_t> dims;
    for (Field &dim : all(tensor, 1)) {  // each one number, or a packed row of them
      if (dim.bytes.empty()) dims.push_back(dim.value);
      while (!dim.bytes.empty()) dims.push_back(varint(dim.bytes));
    }
    if (dims.size() > 2 || get(tensor, 2).value != 1) lack("weight '" + name + "': this engine takes float32 of rank 2 or less");
    std::string_view raw = get(tensor, 9).bytes;
    if (raw.empty()) raw = get(tensor, 4).bytes;  // a packed row of floats is the same bytes
    Array array;
    array.own.resize(raw.size() / sizeof(float));
    uint64_t count = 1;
    for (size_t i = 0; i < dims.size(); i++) {
      if (dims[i] > array.own.size()) refuse("weight '" + name + "': its numbers are not all in the file");
      count *= dims[i];
      array.dims[2 - dims.size() + i] = static_cast<int64_t>(dims[i]);
    }
    if (count != array.own.size()) refuse("weight '" + name + "': its numbers are not all in the file");
    if (count > 0) std::memcpy(array.own.data(), raw.data(), count * sizeof(float));  // the low byte first, as on every machine of today
    array.data = array.own.data();
    add(name, std::move(array));
  }

  // ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1)
  // or dim_param (2).
  static Port port_of(std::string_view info) {
    const std::string_view type = get(get(info, 2).bytes, 1).bytes;
    Port port{text(info, 1), get(type, 1).value == 1 ? float32 : sb_dtype{}, {}, {}};
    for (const Field &dim : all(get(type, 2).bytes, 1)) {
      const Field length = get(dim.bytes, 1);
      port.shape.push_back(length.number != 0 && length.value <= INT64_MAX ? static_cast<int64_t>(length.value) : -1);
      port.dim_names.push_back(text(dim.bytes, 2));
    }
    return port;
  }

  void add_input(std::string_view info) {
    Port port = port_of(info);
    if (!(port.dtype == float32) || port.shape.size() != 2) lack("input '" + port.name + "': this engine takes float32 of rank 2");
    add(port.name, {{port.shape[0], port.shape[1]}, nullptr, {}});
    inputs.push_back(std::move(port));
  }

  // NodeProto: input (1), output (2), op_type (4), attribute (5). AttributeProto: name (1), f (2), i (3).
  void add_step(std::string_view node) {
    Step step{operators.at(text(node, 4)), {}, false, text(node, 2)};
    for (const Field &attribute : all(node, 5)) {
      const std::string name = text(attribute.bytes, 1);
      const std::string_view number = get(attribute.bytes, 2).bytes;
      const bool is_set = get(attribute.bytes, 3).value != 0;
      if (name == "transB") step.transposed = is_set;
      const bool is_usual = number.empty() || number == std::string_view("\0\0\x80\x3F", 4);  // 1, as float32
      if ((name == "transA" && is_set) || !is_usual) lack("'" + step.name + "': this engine has no Gemm with " + name);
    }
    for (const Field &input : all(node, 1))
      if (!input.bytes.empty()) step.operands.push_back(find(input.bytes));  // an optional one that is left out has no name
    const size_t least = step.op == Op::Relu ? 1 : 2, most = step.op == Op::Gemm ? 3 : least;
    if (step.operands.size() < least || step.operands.size() > most) refuse("'" + step.name + "' has a wrong number of inputs");
    if (step.op == Op::Add && step.operands[0] < first_input) std::swap(step.operands[0], step.operands[1]);  // the bias is the smaller one
    Array out;
    step.infer(values, out);
    add(step.name, std::move(out));
    steps.push_back(std::move(step));
  }
};

class Lane : public Request {
public:
  Lane(const Graph &graph, Host host) : graph_(graph), host_(host), kept_(graph.made.size()) {
    for (const Array &value : graph.values) values_.push_back({value.dims, value.data, {}});
  }

  bool writes_into(size_t) override { return true; }

  Timing run(const Bindings &bound) override {
    for (auto &kept : kept_) kept.reset();
    Timing timing;
    timing.start_ns = host_.now_ns();
    for (size_t i = 0; i < bound.inputs.size(); i++) {
      const Tensor &tensor = *bound.inputs[i];
      values_[graph_.first_input + i].dims = {tensor.shape[0], tensor.shape[1]};
      values_[graph_.first_input + i].data = tensor.as<float>(); // read where it lies, so that nothing has to be done where it is bound
    }
    for (size_t i = 0; i < graph_.steps.size(); i++) {
      if (host_.stopping()) throw Error(SB_CANCELLED, "the run was stopped");
      Array &out = values_[graph_.first_step + i];
      graph_.steps[i].infer(values_, out);
      graph_.steps[i].compute(values_, out);
    }
    deliver(bound);
    timing.end_ns = host_.now_ns();
    return timing;
  }

  std::optional<Owned> take_output(size_t index) override { return std::exchange(kept_[index], std::nullopt); }

private:
  void deliver(const Bindings &bound) {
    for (size_t i = 0; i < kept_.size(); i++) {
      const Array &value = values_[graph_.made[i]];
      const Shape shape(value.dims.begin(), value.dims.end());
      if (bound.outputs[i] && bound.outputs[i]->shape != shape) throw Error(SB_INVALID_ARGUMENT, "the memory bound to an output has another shape");
    }
    for (size_t i = 0; i < kept_.size(); i++) {
      const Array &value = values_[graph_.made[i]];
      const float *end = value.data + value.dims[0] * value.dims[1];
      if (bound.outputs[i]) std::copy(value.data, end, bound.outputs[i]->as<float>());
      else kept_[i] = Owned::of(float32, Shape(value.dims.begin(), value.dims.end()), std::vector<float>(value.data, end));
    }
  }

  const Graph &graph_;
  Host host_;
  std::vector<Array> values_;  // what a run changes is the request's; the weights are the model's
  std::vector<std::optional<Owned>> kept_;
};

class Loaded : public Model {
public:
  Loaded(Graph graph, Host host, uint64_t read_ns) : graph_(std::move(graph)), host_(host), read_ns_(read_ns) {}

  // An engine that leaves nodes to another device says so here.
  Placement placement() const override {
    Placement told;
    told.precision = "float32";
    told.device = "cpu0";
    told.engine = "@NAME@ 0.1.0";
    told.nodes_total = told.nodes_on_device = graph_.steps.size();
    told.read_ns = read_ns_;
    return told;
  }
  const std::vector<Port> &inputs() const override { return graph_.inputs; }
  const std::vector<Port> &outputs() const override { return graph_.outputs; }
  std::unique_ptr<Request> request() const override { return std::make_unique<Lane>(graph_, host_); }

private:
  Graph graph_;
  Host host_;
  uint64_t read_ns_;
};

class Engine : public Backend {
public:
  static constexpr const char *id = "@NAME@";
  static constexpr const char *options_schema = R"({"type":"object","additionalProperties":false,"properties":{}})";
  static std::unique_ptr<Backend> open(Host host, const Options &) { return std::make_unique<Engine>(host); }
  explicit Engine(Host host) : host_(host) {}

  std::vector<Device> devices() override {
    Device cpu;
    cpu.id = "cpu0";
    cpu.name = "The CPU, in plain C++";
    return {cpu};
  }
  void supports(const Load &load) override { read(load); }  // reading is all that there is to a load here
  std::unique_ptr<Model> load(const Load &load) override {
    const uint64_t start = host_.now_ns();
    Graph graph = read(load);
    return std::make_unique<Loaded>(std::move(graph), host_, start == SB_UNKNOWN ? SB_UNKNOWN : host_.now_ns() - start);
  }

private:
  // What is asked for is done or refused, never ignored: a figure of the wrong precision is worse than none.
  static Graph read(const Load &load) {
    if (!load.precision.empty() && load.precision != "float32")
      throw Error(SB_UNIMPLEMENTED, "precision '" + load.precision + "': this engine computes in float32", SB_WHY_PRECISION);
    if (load.format != "onnx") lack("this engine reads ONNX files");
    if (load.path.empty()) return Graph({reinterpret_cast<const char *>(load.bytes), load.length});
    std::ifstream from(load.path, std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
    if (!from) refuse(load.path + " cannot be read");
    return Graph(file);
  }

  Host host_;
};

}  // namespace

SKILLBENCH_PLUGIN("@NAME@", "@NAME@", "0.1.0", skillbench::backend<Engine>)
