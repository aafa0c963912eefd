"""A model of a class and a configuration, with weights that make a graph worth looking at."""

import contextlib
import json

import torch
import transformers

CONVOLUTIONS = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
TRANSPOSED = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d)
BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)


def build(spec):
    """The model; of one that is too big for this machine, with weights that take no memory."""
    with weightless() if spec.weightless else contextlib.nullcontext():
        model = construct(spec)
    model = model.eval().requires_grad_(False)
    if spec.weightless:
        stand_in(model)
    else:
        prepare(model)
    return model


def construct(spec):
    if spec.cls.startswith("diffusers."):
        import diffusers

        return getattr(diffusers, spec.cls.split(".")[1])(**spec.config)
    if spec.cls.startswith("timm."):
        import timm

        return timm.create_model(spec.cls.split(".")[1], pretrained=False, **spec.config)
    cls = getattr(transformers, spec.cls)
    # A class may change what it was given; the table stays as it is.
    config = cls.config_class(**json.loads(json.dumps(spec.config)))
    for path, value in spec.settings.items():
        *parents, last = path.split(".")
        target = config
        for parent in parents:
            target = getattr(target, parent)
        setattr(target, last, value)
    if spec.attention:
        config._attn_implementation = spec.attention
    return cls(config)


def model_type(model, spec):
    return getattr(getattr(model, "config", None), "model_type", None) or spec.cls


@contextlib.contextmanager
def weightless():
    """Parameters made inside are on the meta device; buffers, which a class computes, are real."""
    register = torch.nn.Module.register_parameter

    def on_meta(module, name, parameter):
        register(module, name, parameter)
        if parameter is not None:
            made = module._parameters[name]
            module._parameters[name] = torch.nn.Parameter(made.to("meta"), requires_grad=made.requires_grad)

    torch.nn.Module.register_parameter = on_meta
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def stand_in(model):
    """Every parameter of the meta device becomes one number seen from everywhere, another for each, so that none are merged."""
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None and parameter.is_meta:
                number = torch.randn(()) * 0.02
                module._parameters[name] = torch.nn.Parameter(number.expand(parameter.shape), requires_grad=False)
    if hasattr(model, "tie_weights"):
        model.tie_weights()


def prepare(model):
    """Makes parameters distinct, finite and well scaled.

    Equal biases or norms would be merged into one initializer by the exporter; convolutions are scaled by what flows into
    them, so that a deep network with batch norms neither vanishes nor explodes.
    """
    for module in model.modules():
        if isinstance(module, CONVOLUTIONS + TRANSPOSED) and not hasattr(module, "parametrizations"):
            weight = module.weight
            fan_in = weight[0].numel()
            if isinstance(module, TRANSPOSED):
                fan_in = weight.shape[0] * weight[0][0].numel() / max(1, module.stride[0])
            weight.normal_(0, (2.0 / max(1, fan_in)) ** 0.5)
        buffers = dict(module.named_buffers(recurse=False))
        if isinstance(module, BATCH_NORMS) or {"running_mean", "running_var"} <= set(buffers):
            if buffers.get("running_var") is not None:
                module.running_mean.normal_(0, 0.05)
                module.running_var.normal_(1, 0.02)
    for parameter in model.parameters():
        if not parameter.is_floating_point():
            continue
        if not torch.isfinite(parameter).all() or parameter.abs().max() > 1e6:
            parameter.normal_(0, 0.02)
        elif parameter.ndim <= 1 or parameter.numel() <= 1 << 16 or parameter.flatten()[0] == parameter.flatten()[-1]:
            parameter.add_(torch.randn_like(parameter) * 0.02)
