// @NAME@: a skillbench skillset in one file of C++17. It has one skill, a perceptron of two layers, and writes its ONNX file byte by byte.
//
// A skillset answers two questions: which models there are, as JSON, and where asked for one of them, what its files are. The host keeps
// what was built, fills the inputs by the rules given here, and runs the model on every backend.
#include "skillbench.hpp"

#include <fstream>

namespace {

using namespace skillbench;

// The description, which is also skill.json. `content` changes whenever `build` would write something else, since the host keeps by it what
// it built: other weights under the same content would make old and new results look comparable. Every input says how it is filled: from
// the run's seed, so that all backends compute the same numbers.
const char *const skill = R"({
  "schema": "skillbench.skill/1",
  "id": "@NAME@-mlp",
  "content": "@NAME@-mlp, first edition",
  "family": "perceptron",
  "architecture": "mlp",
  "category": "example",
  "task": "example",
  "parameters": 808,
  "parameters_read": 808,
  "axes": {"batch": [1, 64]},
  "flops": [{"value": 1536, "axes": {"batch": 1}}],
  "weights": "pseudo-random, in the graph",
  "parts": [{"name": "", "graph": "model.onnx"}],
  "inputs": [{"part": "", "name": "x", "dtype": "f32", "dims": ["batch", 16], "fill": "normal"}]
}
)";

// An ONNX file is a protobuf message: a row of fields, each a number and what it holds. Two kinds are enough here: an integer, and bytes,
// which are a text, numbers, or a message within the message.
class Message {
public:
  Message &integer(unsigned field, uint64_t number) {
    varint(field << 3);
    varint(number);
    return *this;
  }
  Message &bytes(unsigned field, const std::string &value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message &message(unsigned field, const Message &value) { return bytes(field, value.bytes_); }
  const std::string &all() const { return bytes_; }

private:
  void varint(uint64_t number) {
    for (; number > 0x7F; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }
  std::string bytes_;
};

// NodeProto: input (1), output (2), op_type (4).
Message node(const char *op, const std::vector<std::string> &inputs, const char *output) {
  Message node;
  for (const std::string &input : inputs) node.bytes(1, input);
  return node.bytes(2, output).bytes(4, op);
}

// TensorProto: dims (1), data_type (2) where 1 is float32, name (8), raw_data (9). The numbers come from a generator with a fixed seed, so
// that every build writes the same file; they are about as large as those of a trained layer, and none is zero or a denormal.
Message weight(const char *name, const std::vector<unsigned> &dims, uint32_t &seed) {
  Message tensor;
  size_t count = 1;
  for (const unsigned dim : dims) {
    tensor.integer(1, dim);
    count *= dim;
  }
  std::string raw;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    const float number = 0.3f * ((static_cast<float>(seed >> 8) + 0.5f) / 8388608.0f - 1.0f);  // between -0.3 and 0.3
    raw.append(reinterpret_cast<const char *>(&number), sizeof number);  // the low byte first, as ONNX has it and every machine of today
  }
  return tensor.integer(2, 1).bytes(8, name).bytes(9, raw);
}

// ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1) or
// dim_param (2). The batch is named after the axis, so that the host knows which dimension it is.
Message port(const char *name, unsigned columns) {
  const Message shape = Message().message(1, Message().bytes(2, "batch")).message(1, Message().integer(1, columns));
  const Message type = Message().message(1, Message().integer(1, 1).message(2, shape));
  return Message().bytes(1, name).message(2, type);
}

// ModelProto: ir_version (1), producer_name (2), graph (7), opset_import (8). GraphProto: node (1), name (2), initializer (5), input (11),
// output (12).
std::string model() {
  uint32_t seed = 1;
  Message graph;
  graph.message(1, node("MatMul", {"x", "w1"}, "a"))
    .message(1, node("Add", {"a", "b1"}, "b"))
    .message(1, node("Relu", {"b"}, "c"))
    .message(1, node("MatMul", {"c", "w2"}, "d"))
    .message(1, node("Add", {"d", "b2"}, "y"))
    .bytes(2, "mlp");
  graph.message(5, weight("w1", {16, 32}, seed));
  graph.message(5, weight("b1", {32}, seed));
  graph.message(5, weight("w2", {32, 8}, seed));
  graph.message(5, weight("b2", {8}, seed));
  graph.message(11, port("x", 16)).message(12, port("y", 8));
  return Message().integer(1, 8).bytes(2, "@NAME@").message(7, graph).message(8, Message().integer(2, 17)).all();
}

void write(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw Error(SB_RESOURCE_EXHAUSTED, path + " cannot be written: is the disk full?");
}

class Models : public Skillset {
public:
  static constexpr const char *id = "@NAME@";
  static constexpr const char *summary = "A perceptron of two layers";

  // [any] Cheap: nothing is built to describe it.
  std::vector<std::string> describe() const override { return {skill}; }

  // [any] Into an empty folder, skill.json last. A build that takes long asks host.stopping() and tells host.phase(); this is done at once.
  void build(Host, const std::string &name, const Options &, const std::string &directory) const override {
    if (name != "@NAME@-mlp") throw Error(SB_NOT_FOUND, "there is no skill '" + name + "' here, only @NAME@-mlp");
    write(directory + "/model.onnx", model());
    write(directory + "/skill.json", skill);
  }
};

}  // namespace

SKILLBENCH_PLUGIN("@NAME@", "@NAME@", "0.1.0", skillbench::skillset<Models>)
