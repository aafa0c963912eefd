"""Image and text in, text out, at the size at which they were published: image, embeddings, decoder."""

from common import STEP, VLM, embeds, ids, pixels
from export.spec import Table
from published import LONGEST, TIED, lengths, rotary, unrun, widths
from vision_parts import LLAVA, LLAVA_NEXT, PALIGEMMA, llava

MODELS = Table()


def large(config, **text):
    """A 7B language model behind the large CLIP tower."""
    language = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
    return {
        **config,
        "text_config": {**config["text_config"], **language, **text},
        "vision_config": {**config["vision_config"], "num_hidden_layers": 24},
    }


VICUNA = large(LLAVA, intermediate_size=11008, num_key_value_heads=32, max_position_embeddings=4096)
MISTRAL = large(
    LLAVA_NEXT,
    intermediate_size=14336,
    num_key_value_heads=8,
    max_position_embeddings=32768,
    **rotary(1000000.0),
)
for name, cls, published, config, positions in (
    ("llava-1.5-7b", "LlavaForConditionalGeneration", "llava-hf/llava-1.5-7b-hf", VICUNA, 4096),
    ("llava-1.6-mistral-7b", "LlavaNextForConditionalGeneration", "llava-hf/llava-v1.6-mistral-7b-hf", MISTRAL, 32768),
):
    llava(MODELS, name, cls, published, config, "", weightless=True)
    MODELS[-1].unrun = unrun(7.2)
    MODELS[-1].axes = lengths(positions)

PALIGEMMA_3B = {
    **PALIGEMMA,
    "text_config": {
        **PALIGEMMA["text_config"],
        "hidden_size": 2048,
        "intermediate_size": 16384,
        "num_hidden_layers": 18,
        "num_attention_heads": 8,
        "head_dim": 256,
    },
    "vision_config": {
        **PALIGEMMA["vision_config"],
        "num_hidden_layers": 27,
        "projection_dim": 2048,
        "vision_use_head": False,
    },
    "projection_dim": 2048,
}
for part, adapter, inputs, output, more in (
    ("vision", "ImageFeatures", [pixels()], "image_features", {}),
    ("embed", "Embedding", [ids(257216)], "inputs_embeds", {}),
    ("decoder-kv", "EmbedsDecoderKV", embeds(2048), "logits", {"test": STEP, "unrun": unrun(2.5), "axes": lengths(8192)}),
):
    MODELS.add(
        f"paligemma-3b-{part}",
        "PaliGemmaForConditionalGeneration",
        inputs,
        output,
        "google/paligemma-3b-pt-224",
        PALIGEMMA_3B,
        adapter=adapter,
        weightless=True,
        **{**VLM, **more},
    )

# An image of 448 x 448, in patches of 16 that are folded by 2: 196 rows of the prompt. Each patch is given as the processor cuts it,
# three colours of two frames.
PATCHES, ONE = 28 * 28, {"batch": [1, 1]}
QWEN3_VL = {
    "text_config": widths(
        2048,
        6144,
        28,
        16,
        8,
        151936,
        head_dim=128,
        max_position_embeddings=262144,
        **rotary(5000000.0, mrope_section=[24, 20, 20], mrope_interleaved=True),
        **TIED,
    ),
    "vision_config": {
        "depth": 24,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_heads": 16,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 2048,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [5, 11, 17],
    },
    **TIED,
}
for part, adapter, inputs, output, more in (
    (
        "vision",
        "PatchFeatures",
        [f"pixel_values:f32[{PATCHES},1536]=normal"],
        "image_features deep_features.0 deep_features.1 deep_features.2",
        {"args": {"grid": [1, 28, 28]}},
    ),
    ("embed", "Embedding", [ids(151936)], "inputs_embeds", {"axes": ONE}),
    ("decoder-kv", "EmbedsDecoderKV", embeds(2048), "logits", {"test": STEP, "axes": {**lengths(2 * LONGEST), **ONE}}),
):
    MODELS.add(
        f"qwen3-vl-2b-{part}",
        "Qwen3VLForConditionalGeneration",
        inputs,
        output,
        "Qwen/Qwen3-VL-2B-Instruct",
        QWEN3_VL,
        adapter=adapter,
        weightless=True,
        **{**VLM, **more},
    )
