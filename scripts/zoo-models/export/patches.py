"""Changes to a library while one model is exported, where its code asks the data for something a graph must know before."""

import contextlib
import math

import torch

PATCHES = {}


def patch(function):
    """Registers a generator that changes a library, yields, and changes it back."""
    PATCHES[function.__name__] = contextlib.contextmanager(function)
    return function


@contextlib.contextmanager
def applied(names):
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(PATCHES[name]())
        yield


@contextlib.contextmanager
def replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@patch
def no_global_attention():
    """Longformer and LED ask whether any token attends to all others. None does: the mask has no such mark."""
    item = torch.Tensor.item
    with replaced(torch.Tensor, "item", lambda tensor: False if tensor.dtype == torch.bool else item(tensor)):
        yield


@patch
def encodec_padding():
    """EnCodec keeps kernel size and stride in tensors; here they are the numbers of its convolutions."""
    from transformers.models.encodec.modeling_encodec import EncodecConv1d

    def sizes(layer):
        kernel = (layer.conv.kernel_size[0] - 1) * layer.conv.dilation[0] + 1
        return kernel, layer.conv.stride[0]

    def forward(self, hidden_states):
        kernel, stride = sizes(self)
        total, length = kernel - stride, hidden_states.shape[-1]
        frames = (length + stride - 1) // stride
        extra = frames * stride - length
        left = total if self.causal else total - total // 2
        hidden_states = self._pad1d(hidden_states, (left, total - left + extra), mode=self.pad_mode)
        hidden_states = self.conv(hidden_states)
        return self.norm(hidden_states) if self.norm_type == "time_group_norm" else hidden_states

    with replaced(EncodecConv1d, "forward", forward):
        yield


@patch
def vilt_whole_image():
    """ViLT draws patches at random among those inside the image; of an image that fills the frame it takes all."""
    from transformers.models.vilt.modeling_vilt import ViltEmbeddings

    def visual_embed(self, pixel_values, pixel_mask, max_image_length=200):
        patches = self.patch_embeddings(pixel_values)
        batch, channels, height, width = patches.shape
        side = self.config.image_size // self.config.patch_size
        positions = self.position_embeddings[:, 1:].transpose(1, 2).view(1, channels, side, side)
        positions = torch.nn.functional.interpolate(positions, (height, width), mode="bilinear", align_corners=True)
        embedded = (patches + positions).flatten(2).transpose(1, 2)
        first = (self.cls_token + self.position_embeddings[:, :1]).expand(batch, -1, -1)
        mask = torch.nn.functional.interpolate(pixel_mask[:, None].float(), (height, width)).flatten(1).long()
        mask = torch.cat([torch.ones_like(mask[:, :1]), mask], 1)
        return torch.cat([first, embedded], 1), mask, None

    with replaced(ViltEmbeddings, "visual_embed", visual_embed):
        yield


@patch
def every_patch_predicted():
    """V-JEPA 2 counts the patches to predict in its mask; without one it predicts all of the video, as many as it sees."""
    from transformers.models.vjepa2 import modeling_vjepa2 as vjepa

    def forward(self, hidden_states, context_mask, target_mask, mask_index=1):
        batch, rows, _ = hidden_states.shape
        context = self.predictor_embeddings(hidden_states)
        target = self.mask_tokens[mask_index % self.num_mask_tokens].expand(batch, rows, -1)
        return torch.cat([context, target], 1), torch.cat([*context_mask, *target_mask], 1)

    with replaced(vjepa.VJEPA2PredictorEmbeddings, "forward", forward):
        yield


@patch
def both_tables():
    """IDEFICS looks up added tokens in a table of their own, after it has asked which ones there are; here each is looked up in both."""
    from transformers.models.idefics.modeling_idefics import IdeficsDecoupledEmbedding

    def forward(self, tokens):
        is_added = tokens >= self.num_embeddings
        own = torch.nn.functional.embedding(torch.where(is_added, 0, tokens), self.weight)
        added = self.additional_embedding(torch.where(is_added, tokens - self.num_embeddings, 0))
        return torch.where(is_added[..., None], added, own)

    with replaced(IdeficsDecoupledEmbedding, "forward", forward):
        yield


@patch
def clips_of_any_number():
    """TVP repeats its frame around the clips as often as there are clips while it is traced, and views its positions of columns as if
    each clip had its own, which only one clip fits; here both are the same for all."""
    from transformers.models.tvp import modeling_tvp as tvp

    def framed(self, pixel_values, interpolate_pad_encoding=False):
        inside = torch.zeros(1, self.num_frames, 3, self.base_size, self.base_size)
        frame = torch.cat([self.pad_left, inside, self.pad_right], 4)
        return pixel_values + torch.cat([self.pad_up, frame, self.pad_down], 3)

    def placed(self, grid, interpolate_pos_encoding=False):
        rows, columns = (
            table.weight[:length]
            for table, length in zip((self.row_position_embeddings, self.col_position_embeddings), grid.shape[1:3])
        )
        return grid + (rows[None, :, None] + columns[None, None])

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(tvp.TvpFramePadPrompter, "forward", framed))
        stack.enter_context(replaced(tvp.TvpVisualInputEmbedding, "add_2d_positional_embeddings", placed))
        yield


@patch
def vits_spline():
    """VITS computes its spline only of the values inside an interval; here of all, and those outside are put back."""
    from transformers.models.vits import modeling_vits as vits

    def unconstrained(inputs, widths, heights, derivatives, reverse, tail_bound):
        least = {"min_bin_width": 1e-3, "min_bin_height": 1e-3, "min_derivative": 1e-3}
        edge = math.log(math.exp(1 - least["min_derivative"]) - 1)
        inside = (inputs >= -tail_bound) & (inputs <= tail_bound)
        outputs, log_abs_det = vits._rational_quadratic_spline(
            inputs=inputs.clamp(-tail_bound, tail_bound),
            unnormalized_widths=widths,
            unnormalized_heights=heights,
            unnormalized_derivatives=torch.nn.functional.pad(derivatives, (1, 1), value=edge),
            reverse=reverse,
            tail_bound=tail_bound,
            **least,
        )
        return torch.where(inside, outputs, inputs), torch.where(inside, log_abs_det, torch.zeros_like(inputs))

    with replaced(vits, "_unconstrained_rational_quadratic_spline", unconstrained):
        with replaced(vits, "torch_compilable_check", lambda *what: None):
            yield


@patch
def autoformer_without_masks():
    """Outside of tracing Autoformer runs without attention masks: they would not fit its correlations over time."""
    from transformers.models.autoformer.modeling_autoformer import AutoformerAttention

    forward = AutoformerAttention.forward

    def unmasked(self, *args, attention_mask=None, **keywords):
        return forward(self, *args, **keywords)

    with replaced(AutoformerAttention, "forward", unmasked):
        yield


@patch
def transfo_xl_causal():
    """Transformer-XL asks whether its mask hides anything, which it does; and gives `type_as` a type, not a tensor."""
    type_as = torch.Tensor.type_as

    def convert(tensor, other=None, dtype=None):
        return type_as(tensor, other) if dtype is None else tensor.to(dtype)

    with replaced(torch.Tensor, "type_as", convert), replaced(torch.Tensor, "item", lambda tensor: True):
        yield


@patch
def given_positions():
    """Speech2Text2 never makes its computed positions, and initializes them as if they were weights."""
    from transformers.models.deprecated.speech_to_text_2 import modeling_speech_to_text_2 as speech

    initialize = speech.Speech2Text2PreTrainedModel._init_weights

    def with_positions(self, module):
        if isinstance(module, speech.Speech2Text2SinusoidalPositionalEmbedding):
            count = self.config.max_target_positions + module.offset
            module.make_weights(count, module.embedding_dim, module.padding_idx)
        else:
            initialize(self, module)

    with replaced(speech.Speech2Text2PreTrainedModel, "_init_weights", with_positions):
        yield


@patch
def idle_squeeze():
    """PixArt squeezes a dimension that is not 1, which does nothing; the exporter writes an operator that fails."""
    squeeze = torch.Tensor.squeeze

    def only_ones(tensor, dim):
        return squeeze(tensor, dim) if tensor.shape[dim] == 1 else tensor

    with replaced(torch.Tensor, "squeeze", only_ones):
        yield


@patch
def triangles_of_numbers():
    """No engine cuts triangles out of truth values or bytes: here they are numbers for that long."""

    def of_numbers(function):
        def cut(tensor, diagonal=0):
            if tensor.dtype in (torch.bool, torch.uint8):
                return function(tensor.to(torch.int64), diagonal).to(tensor.dtype)
            return function(tensor, diagonal)

        return cut

    with replaced(torch, "triu", of_numbers(torch.triu)), replaced(torch, "tril", of_numbers(torch.tril)):
        yield


@patch
def every_expert():
    """Switch Transformers and NLLB ask which experts have a token to work on; here all are asked, some with none.

    They also move their router to a type that it has already, which tracing does not allow.
    """
    from transformers.models.nllb_moe.modeling_nllb_moe import NllbMoeExperts
    from transformers.models.switch_transformers.modeling_switch_transformers import SwitchTransformersExperts

    def shared(experts, hidden_states, chosen, weights):
        """chosen and weights: tokens by experts"""
        result = torch.zeros_like(hidden_states)
        for number in range(experts.num_experts):
            (tokens,) = torch.where(chosen[:, number])
            answer = experts[f"expert_{number}"](hidden_states[tokens]) * weights[tokens, number, None]
            result = result.index_add(0, tokens, answer)
        return result

    def switch(self, hidden_states, selected_experts, routing_weights):
        weights = routing_weights.expand(-1, self.num_experts)
        return shared(self, hidden_states, selected_experts[:, 0], weights)

    def nllb(self, hidden_states, router_mask, router_probs):
        # The class takes its mask for indices; the router's weights say where it sent a token.
        return shared(self, hidden_states, router_probs > 0, router_probs) * (1 - self.moe_token_dropout)

    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(torch.nn.Module, "to", lambda module, *args, **keywords: module))
        stack.enter_context(replaced(SwitchTransformersExperts, "forward", switch))
        stack.enter_context(replaced(NllbMoeExperts, "forward", nllb))
        yield
