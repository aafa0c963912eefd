"""A model of Triton's Python backend that runs an ONNX file with ONNX Runtime."""

import json

import onnxruntime
import triton_python_backend_utils as triton


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        of = lambda name: parameters[name]["string_value"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(of("threads"))
        self.session = onnxruntime.InferenceSession(of("file"), options, providers=["CPUExecutionProvider"])

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        names = request.requested_output_names()
        feeds = {
            port.name: triton.get_input_tensor_by_name(request, port.name).as_numpy()
            for port in self.session.get_inputs()
        }
        values = self.session.run(names, feeds)
        return triton.InferenceResponse([triton.Tensor(name, value) for name, value in zip(names, values)])
