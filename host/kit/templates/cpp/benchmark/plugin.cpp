// @NAME@: a skillbench benchmark in one file of C++17. It measures how long one run of a model takes, and how long a burst of runs takes,
// one after the other, as a service does that works off a queue.
//
// The host owns what has to be the same for all benchmarks: it loads the model and times that, fills the inputs, compares the outputs with
// another engine, says how many samples it wants and when there are enough, and makes figures of them. What is left is the work.
#include "skillbench.hpp"

namespace {

using namespace skillbench;

class Burst : public Benchmark {
public:
  static constexpr const char *id = "@NAME@";
  static constexpr const char *version = "1";  // a result of one version is never compared with one of another
  static constexpr const char *category = "performance";
  static constexpr const char *summary = "Time of a run, and of a burst of runs";
  static constexpr const char *options_schema = R"({
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "runs": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10, "description": "How many runs a burst has"}
    }
  })";
  // No figure tells of loading, so that the host may lend a model that is there already.
  static constexpr uint32_t flags = SB_BENCHMARK_NEEDS_TARGET | SB_BENCHMARK_SHARES_MODELS;

  // [main] Once for each cell. What it throws is the cell's outcome, and no sample of it counts then.
  void run(const Context &context) override {
    const Target &target = *context.target;
    if (target.parts().size() != 1) throw Error(SB_UNIMPLEMENTED, "this benchmark measures models of one part: take `inference` for others");
    const double batch = static_cast<double>(target.axis("batch").value_or(1));
    const unsigned long runs = std::stoul(context.options.get("runs").value_or("10"));

    // Model and request are let go in the right order when this ends, however it ends.
    const TargetModel model = target.load(target.parts().front());
    TargetRequest request = model.request();
    request.prepare(0);
    request.run();
    request.verify();  // before it no round is measured: there is no figure of a model that computes the wrong thing

    // `latency` is a name that the host knows, so that it fills the usual columns. Any other name stands among the series. In a round
    // nothing is done that stands in no sample, since the host times the round as a whole, too.
    context.reporter.time(context.reporter.durations("latency", batch), [&] { request.run(); });
    context.reporter.time(context.reporter.durations("burst", batch * static_cast<double>(runs)), [&] {
      for (unsigned long i = 0; i < runs; i++) request.run();
    });
  }
};

}  // namespace

SKILLBENCH_PLUGIN("@NAME@", "@NAME@", "0.1.0", skillbench::benchmarks<Burst>)
