"""The operator ladder: each ONNX operator alone in a tiny graph, with inputs and the outputs it must give. See scripts/ladder-make."""
