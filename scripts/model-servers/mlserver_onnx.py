"""A model of MLServer that runs an ONNX file with ONNX Runtime."""

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor

DATATYPES = {
    "tensor(bool)": "BOOL",
    "tensor(float)": "FP32",
    "tensor(double)": "FP64",
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
}


def described(port):
    shape = [size if isinstance(size, int) else -1 for size in port.shape]
    return MetadataTensor(name=port.name, datatype=DATATYPES[port.type], shape=shape)


def encoded(name, value):
    output = NumpyCodec.encode_output(name, value)
    # The codec makes a column of a row.
    output.shape = list(value.shape)
    return output


class OnnxModel(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.settings.parameters.extra["threads"]
        path = self.settings.parameters.uri
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = [described(port) for port in self.session.get_inputs()]
        self.outputs = [described(port) for port in self.session.get_outputs()]
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feeds = {tensor.name: NumpyCodec.decode_input(tensor) for tensor in payload.inputs}
        names = [port.name for port in payload.outputs or self.outputs]
        values = self.session.run(names, feeds)
        outputs = [encoded(name, value) for name, value in zip(names, values)]
        return InferenceResponse(model_name=self.name, outputs=outputs)
