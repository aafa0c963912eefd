"""Between a class and a graph: modules that take flat tensors and give flat tensors.

Every `forward` takes `*tensors`, because the exporter wants the dynamic shapes in the form of the arguments.
"""

import torch
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from .spec import Input


def flatten(value):
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in flatten(item)]
    return []


def at(module, path):
    for part in path.split("."):
        module = module[int(part)] if part.isdigit() else getattr(module, part)
    return module


class Plain(torch.nn.Module):
    """forward(**inputs), then the named attributes of the result."""

    def __init__(self, model, spec):
        super().__init__()
        self.model, self.spec = model, spec
        self.inputs = [Input.parse(text) for text in spec.inputs]
        self.outputs = [output.split("=")[0] for output in spec.outputs]
        self.attributes = [output.split("=")[-1] for output in spec.outputs]

    def target(self):
        return self.model

    def keywords(self, tensors):
        """Arguments by name; those in args nested={argument: [inputs]} as dictionaries, those in args listed as lists of one."""
        given = {i.name: t for i, t in zip(self.inputs, tensors)}
        for argument, names in self.spec.args.get("nested", {}).items():
            given[argument] = {name: given.pop(name) for name in names}
        given.update({name: [given[name]] for name in self.spec.args.get("listed", [])})
        return {**self.spec.const, **given}

    def pick(self, result):
        if torch.is_tensor(result):
            return (result,)
        if isinstance(result, (tuple, list)):
            return tuple(flatten(result)[: len(self.outputs)])
        picked = []
        for name in self.attributes:
            value = result
            for part in name.split("."):
                value = getattr(value, part, None)
            if value is None and isinstance(result, dict):
                value = result.get(name)
            if value is None:
                raise KeyError(f"no output {name}; there are {list(result.keys())}")
            picked += flatten(value)[:1]
        return tuple(picked)

    def forward(self, *tensors):
        return self.pick(self.target()(**self.keywords(tensors)))


class Submodule(Plain):
    """As Plain, on a part of the model: args path="model.encoder"."""

    def target(self):
        return at(self.model, self.spec.args["path"]) if "path" in self.spec.args else self.model


class Sequence(Submodule):
    """As Submodule, with the tensors passed by position."""

    def forward(self, *tensors):
        return self.pick(self.target()(*tensors, **self.spec.const))


class Embedding(Plain):
    """The token embeddings, as the decoder takes them."""

    def forward(self, *tensors):
        return (self.model.get_input_embeddings()(*tensors),)


def cache_shape(config, args):
    """Layers, key/value heads and head width of a decoder's cache."""
    config = config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else config
    heads = getattr(config, "num_attention_heads", None) or getattr(config, "decoder_attention_heads", None)
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    layers = getattr(config, "num_hidden_layers", None)
    return args.get("layers", layers), args.get("kv_heads", kv_heads), args.get("head_dim", width)


class DecoderKV(Plain):
    """Tokens through a decoder with its key/value cache as flat inputs and outputs."""

    def __init__(self, model, spec):
        super().__init__(model, spec)
        self.layers, heads, width = cache_shape(model.config, spec.args)
        self.flat = len(self.inputs)
        for layer in range(self.layers):
            for part in ("key", "value"):
                dims = ["batch", heads, "past", width]
                self.inputs.append(Input(f"past_key_values.{layer}.{part}", "f32", dims, "normal"))
                self.outputs.append(f"present.{layer}.{part}")

    def cache(self, pairs):
        return DynamicCache(pairs)

    def grown(self, cache):
        return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]

    def decoder(self):
        return self.model

    def logits(self, result):
        return result.logits if hasattr(result, "logits") else result[0]

    def forward(self, *tensors):
        keywords, past = self.keywords(tensors[: self.flat]), tensors[self.flat :]
        cache = self.cache([(past[2 * n], past[2 * n + 1]) for n in range(self.layers)])
        result = self.decoder()(**keywords, past_key_values=cache, use_cache=True)
        return (self.logits(result), *self.grown(result.past_key_values))


class Pairs(tuple):
    """A cache as a tuple of keys and values, for classes that are half-way to the newer one."""

    def get_seq_length(self):
        return self[0][0].shape[-2]


class TuplesDecoderKV(DecoderKV):
    """As DecoderKV, of an older class whose cache is a tuple of pairs."""

    def cache(self, pairs):
        return Pairs(pairs)

    def grown(self, cache):
        return flatten(cache)


class EmbedsDecoderKV(DecoderKV):
    """The language model of a vision-language model: embeddings in, logits out."""

    def decoder(self):
        return getattr(self.model, "model", self.model).language_model

    def logits(self, result):
        return self.model.lm_head(result.last_hidden_state)


class CrossDecoderKV(Plain):
    """Tokens through the decoder of an encoder-decoder: its own cache grows, that of cross-attention is given."""

    def __init__(self, model, spec):
        super().__init__(model, spec)
        args = spec.args
        self.layers, self.flat = args["layers"], len(self.inputs)
        for layer in range(self.layers):
            for place, length in (("decoder", "past"), ("encoder", "encoder_sequence")):
                for part in ("key", "value"):
                    dims = ["batch", args["kv_heads"], length, args["head_dim"]]
                    self.inputs.append(Input(f"past_key_values.{layer}.{place}.{part}", "f32", dims, "normal"))
            self.outputs += [f"present.{layer}.decoder.key", f"present.{layer}.decoder.value"]

    def forward(self, *tensors):
        keywords, past = self.keywords(tensors[: self.flat]), tensors[self.flat :]
        own = DynamicCache([(past[4 * n], past[4 * n + 1]) for n in range(self.layers)])
        cross = DynamicCache([(past[4 * n + 2], past[4 * n + 3]) for n in range(self.layers)])
        batch, length = past[2].shape[0], past[2].shape[2]
        encoded = BaseModelOutput(last_hidden_state=past[2].new_zeros(batch, length, self.spec.args["hidden"]))
        cache = EncoderDecoderCache(own, cross)
        result = self.model(encoder_outputs=encoded, past_key_values=cache, use_cache=True, **keywords)
        grown = [t for layer in result.past_key_values.self_attention_cache.layers for t in (layer.keys, layer.values)]
        return (result.logits, *grown)


class EncoderKV(Plain):
    """The encoder, and of what it gives, the keys and values that cross-attention of every decoder layer reads.

    args: path of the encoder, and of the layers of the decoder; attention within a layer; names of its two projections.
    """

    def __init__(self, model, spec):
        super().__init__(model, spec)
        for layer in range(spec.args["layers"]):
            self.outputs += [f"present.{layer}.encoder.key", f"present.{layer}.encoder.value"]

    def forward(self, *tensors):
        args = self.spec.args
        hidden = at(self.model, args["path"])(**self.keywords(tensors)).last_hidden_state
        split = (*hidden.shape[:2], args["kv_heads"], args["head_dim"])
        picked = []
        for layer in at(self.model, args["decoder"])[: args["layers"]]:
            attention = at(layer, args["attention"])
            for projection in args["projections"]:
                picked.append(getattr(attention, projection)(hidden).view(split).transpose(1, 2))
        return tuple(picked)


class StateStep(Plain):
    """One token through a state-space decoder: its convolution and recurrent states in and out."""

    def __init__(self, model, spec):
        super().__init__(model, spec)
        for layer in range(spec.args["layers"]):
            for part in ("conv", "state"):
                dims = ["batch", *spec.args[part]]
                self.inputs.append(Input(f"past_{part}.{layer}", "f32", dims, "normal:0:0.1"))
                self.outputs.append(f"present_{part}.{layer}")

    def forward(self, *tensors):
        tokens, *past = tensors
        cache = DynamicCache(config=self.model.config)
        for number, layer in enumerate(cache.layers):
            layer.conv_states[0], layer.recurrent_states[0] = past[2 * number].clone(), past[2 * number + 1].clone()
            layer.is_conv_states_initialized[0] = True
            layer.is_recurrent_states_initialized[0] = True
            layer.has_previous_state[0] = True
            layer.conv_kernel_size[0] = self.spec.args["conv"][-1]
            layer.device, layer.dtype = past[0].device, past[0].dtype
        result = self.model(input_ids=tokens, cache_params=cache, use_cache=True)
        states = [t for layer in cache.layers for t in (layer.conv_states[0], layer.recurrent_states[0])]
        return (result.logits, *states)


class RwkvStep(Plain):
    """One token through RWKV: five states of [1, hidden, layers] in and out. The class mixes up a larger batch."""

    def __init__(self, model, spec):
        super().__init__(model, spec)
        for name in ("ffn", "attention", "numerator", "denominator", "maximum"):
            fill = "uniform:0.5:1.5" if name == "denominator" else "normal:0:0.1"
            dims = [1, spec.args["hidden"], spec.args["layers"]]
            self.inputs.append(Input(f"past_{name}", "f32", dims, fill))
            self.outputs.append(f"present_{name}")

    def forward(self, *tensors):
        tokens, *past = tensors
        result = self.model(input_ids=tokens, state=[t.clone() for t in past], use_cache=True)
        return (result.logits, *result.state)


class VisionProjector(Plain):
    """LLaVA's image side: vision tower, then the projector."""

    def forward(self, *tensors):
        inner = getattr(self.model, "model", self.model)
        hidden = inner.vision_tower(*tensors, output_hidden_states=True).hidden_states[-2][:, 1:]
        return (inner.multi_modal_projector(hidden),)


class VisionConnector(Plain):
    """SmolVLM's image side: vision tower, then the connector that folds patches together."""

    def forward(self, *tensors):
        hidden = self.model.model.vision_model(*tensors).last_hidden_state
        return (self.model.model.connector(hidden),)


class QueryingTransformer(Plain):
    """BLIP-2's image side: vision tower, querying transformer, projection to the width of the text decoder."""

    def forward(self, *tensors):
        hidden = self.model.vision_model(*tensors).last_hidden_state
        queries = self.model.query_tokens.expand(hidden.shape[0], -1, -1)
        seen = self.model.qformer(query_embeds=queries, encoder_hidden_states=hidden).last_hidden_state
        return (self.model.language_projection(seen),)


class ImageFeatures(Plain):
    """The image side of a vision-language model, by its own method."""

    def forward(self, *tensors):
        inner = getattr(self.model, "model", self.model)
        result = inner.get_image_features(**self.keywords(tensors))
        if not torch.is_tensor(result):
            pooled = getattr(result, "pooler_output", None)
            result = result[0] if pooled is None else pooled
        return tuple(flatten(result)[:1])


class BeforeLast(Plain):
    """A text encoder of which the layer before the last is read, and what else is named."""

    def forward(self, *tensors):
        result = self.model(**self.keywords(tensors))
        return (result.hidden_states[-2], *(getattr(result, name) for name in self.attributes[1:]))


class Decode(Plain):
    """The way from latents to an image of an autoencoder."""

    def forward(self, *tensors):
        return (self.model.decode(*tensors, return_dict=False)[0],)


class RoundTrip(Plain):
    """An autoencoder whole: an image to latents, and back. Of a distribution the most likely latents are taken."""

    def forward(self, *tensors):
        latents = self.model.encode(*tensors, return_dict=False)[0]
        latents = latents if torch.is_tensor(latents) else latents.mode()
        return (self.model.decode(latents, return_dict=False)[0],)


class MediaPrompt(Plain):
    """A prompt that begins with an image, a video or a sound: the rows that its tower makes of it, then the text, through the language
    model. args: which method makes the rows, and the name of the language model."""

    def rows(self, inner, media):
        return getattr(inner, self.spec.args["method"])(media, **self.spec.args.get("options", {})).pooler_output

    def forward(self, *tensors):
        media, tokens = tensors
        inner = getattr(self.model, "model", self.model)
        language = getattr(inner, self.spec.args.get("language", "language_model"))
        embedded = language.get_input_embeddings()(tokens)
        rows = self.rows(inner, media)
        rows = torch.cat(list(rows)) if isinstance(rows, (tuple, list)) else rows
        rows = rows.reshape(embedded.shape[0], -1, embedded.shape[-1])
        result = language(inputs_embeds=torch.cat([rows, embedded], 1), use_cache=False)
        logits = result.logits if hasattr(result, "logits") else self.model.lm_head(result.last_hidden_state)
        return (logits,)


class TowerPrompt(MediaPrompt):
    """As MediaPrompt, where the tower and what fits its rows to the text are used themselves: args say their names, the layer of the
    tower that is read, and its first row."""

    def rows(self, inner, media):
        args = self.spec.args
        seen = at(inner, args["tower"])(media, output_hidden_states=True)
        layer = args.get("layer")
        rows = seen.last_hidden_state if layer is None else seen.hidden_states[layer]
        return at(inner, args["projector"])(rows[:, args.get("first", 0) :])


class QueriesPrompt(MediaPrompt):
    """As MediaPrompt, for BLIP-2."""

    def rows(self, inner, media):
        return QueryingTransformer.forward(self, media)[0]


class KosmosPrompt(MediaPrompt):
    """As MediaPrompt, for Kosmos-2, whose whole class has no method for the rows of an image."""

    def rows(self, inner, media):
        seen = inner.vision_model(media).last_hidden_state
        seen = torch.nn.functional.normalize(inner.vision_model.model.post_layernorm(seen), dim=-1)
        return inner.image_to_text_projection(seen)[0]


class PixelsPrompt(MediaPrompt):
    """As MediaPrompt, for a model that projects the patches of an image and has no tower."""

    def rows(self, inner, media):
        return inner.vision_embed_tokens(media)


class ImageToText(Plain):
    """A vision tower before an encoder-decoder of text: its rows and the prompt through the encoder, then the decoder."""

    def forward(self, *tensors):
        pixels, tokens, decoder_tokens = tensors
        inner = self.model.model
        rows = inner.get_image_features(pixels).pooler_output
        embedded = torch.cat([rows, inner.get_input_embeddings()(tokens)], 1)
        encoded = inner.language_model.encoder(inputs_embeds=embedded).last_hidden_state
        decoded = inner.language_model.decoder(
            input_ids=decoder_tokens, encoder_hidden_states=encoded, use_cache=False
        ).last_hidden_state
        return (self.model.lm_head(decoded),)


class PatchFeatures(Plain):
    """The image side of a Qwen vision-language model, for one image whose grid of patches is given; and what its decoder sees of it
    in its first layers."""

    def __init__(self, model, spec):
        from transformers import vision_utils  # which version 4 does not have

        super().__init__(model, spec)
        grid, config = torch.tensor([spec.args["grid"]]), model.model.visual.config
        merge = config.spatial_merge_size
        side = int(config.num_position_embeddings**0.5)
        indices, weights = vision_utils.get_vision_interpolation_indices_and_weights(
            grid, side, mode="bilinear", align_corners=True, spatial_merge_size=merge
        )
        lengths, longest = vision_utils.get_vision_attention_seqlens(grid, config)
        self.known = {
            "position_ids": vision_utils.get_vision_position_ids(grid, merge),
            "interp_indices": indices,
            "interp_weights": weights,
            "cu_seqlens": lengths.numpy(),  # at which the class splits; the numbers of a tensor are not known while it is traced
            "max_seqlen": longest,
        }
        self.grid = grid

    def forward(self, *tensors):
        seen = self.model.model.visual(*tensors, grid_thw=self.grid, return_dict=True, **self.known)
        return tuple(features[None] for features in (seen.pooler_output, *seen.deepstack_features))


ADAPTERS = {
    adapter.__name__: adapter
    for adapter in (
        Plain,
        Submodule,
        Sequence,
        Embedding,
        DecoderKV,
        TuplesDecoderKV,
        EmbedsDecoderKV,
        CrossDecoderKV,
        EncoderKV,
        StateStep,
        RwkvStep,
        VisionProjector,
        VisionConnector,
        QueryingTransformer,
        ImageFeatures,
        BeforeLast,
        Decode,
        RoundTrip,
        MediaPrompt,
        TowerPrompt,
        QueriesPrompt,
        KosmosPrompt,
        PixelsPrompt,
        ImageToText,
        PatchFeatures,
    )
}
