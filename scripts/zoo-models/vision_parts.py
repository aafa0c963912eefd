"""Image and text in, text out, in the parts in which they run: image, embeddings, decoder."""

from common import HIDDEN, STEP, VLM, embeds, ids, pixels
from export.spec import Table

MODELS = Table()

LLAVA = {
    "image_token_id": 32000,
    "text_config": {
        "model_type": "llama",
        "hidden_size": 1024,
        "intermediate_size": 2752,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "vocab_size": 32064,
    },
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 12,
        "num_attention_heads": 16,
        "image_size": 336,
        "patch_size": 14,
        "projection_dim": 768,
    },
}
LLAVA_REDUCED = "text layers 32->8, hidden 4096->1024, heads 32->16; vision layers 24->12"


def llava(table, name, cls, published, config, reduced, **fields):
    """The three parts in which these models are run: image to features, tokens to embeddings, embeddings to logits."""
    image, language = config["vision_config"]["image_size"], config["text_config"]
    for part, adapter, inputs, output, more in (
        ("vision", "VisionProjector", [pixels(image)], "image_features", {}),
        ("embed", "Embedding", [ids(language["vocab_size"])], "inputs_embeds", {}),
        ("decoder-kv", "EmbedsDecoderKV", embeds(language["hidden_size"]), "logits", {"test": STEP}),
    ):
        about = {**VLM, **more, **fields, "reduced": reduced}
        table.add(f"{name}-{part}", cls, inputs, output, published, config, adapter=adapter, **about)


llava(MODELS, "llava-reduced", "LlavaForConditionalGeneration", "llava-hf/llava-1.5-7b-hf", LLAVA, LLAVA_REDUCED)
LLAVA_NEXT = {
    **LLAVA,
    "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]],
    "text_config": {
        **LLAVA["text_config"],
        "model_type": "mistral",
        "intermediate_size": 3584,
        "num_key_value_heads": 4,
        "sliding_window": None,
    },
}
llava(
    MODELS,
    "llava-next-reduced",
    "LlavaNextForConditionalGeneration",
    "llava-hf/llava-v1.6-mistral-7b-hf",
    LLAVA_NEXT,
    LLAVA_REDUCED,
)
PALIGEMMA = {
    "text_config": {
        "model_type": "gemma",
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_hidden_layers": 6,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 128,
        "vocab_size": 257216,
    },
    "vision_config": {
        "model_type": "siglip_vision_model",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 9,
        "num_attention_heads": 16,
        "patch_size": 14,
        "image_size": 224,
        "projection_dim": 512,
    },
    "projection_dim": 512,
}
PALIGEMMA_REDUCED = "text layers 18->6, hidden 2048->512, heads 8->4; vision layers 27->9"
MODELS.add(
    "paligemma-reduced-vision",
    "PaliGemmaForConditionalGeneration",
    [pixels()],
    "image_features",
    "google/paligemma-3b-pt-224",
    PALIGEMMA,
    adapter="ImageFeatures",
    reduced=PALIGEMMA_REDUCED,
    **VLM,
)
MODELS.add(
    "paligemma-reduced-embed",
    "PaliGemmaForConditionalGeneration",
    [ids(257216)],
    "inputs_embeds",
    "google/paligemma-3b-pt-224",
    PALIGEMMA,
    adapter="Embedding",
    reduced=PALIGEMMA_REDUCED,
    **VLM,
)
MODELS.add(
    "paligemma-reduced-decoder-kv",
    "PaliGemmaForConditionalGeneration",
    embeds(512),
    "logits",
    "google/paligemma-3b-pt-224",
    PALIGEMMA,
    adapter="EmbedsDecoderKV",
    reduced=PALIGEMMA_REDUCED,
    test=STEP,
    **VLM,
)
MODELS.add(
    "smolvlm-vision",
    "SmolVLMVisionTransformer",
    [pixels(512)],
    HIDDEN,
    "HuggingFaceTB/SmolVLM-256M-Instruct",
    {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "image_size": 512,
        "patch_size": 16,
    },
    **VLM,
)
SMOLVLM_TEXT = {
    "vocab_size": 49280,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
}
MODELS.add(
    "smolvlm-image-features",
    "SmolVLMForConditionalGeneration",
    [pixels(512)],
    "image_features",
    "HuggingFaceTB/SmolVLM-256M-Instruct",
    {
        "scale_factor": 4,
        "text_config": {"model_type": "llama", **SMOLVLM_TEXT, "num_hidden_layers": 1},
        "vision_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "image_size": 512,
            "patch_size": 16,
        },
    },
    adapter="VisionConnector",
    **VLM,
)
MODELS.add(
    "smolvlm-embed",
    "LlamaForCausalLM",
    [ids(49280)],
    "inputs_embeds",
    "HuggingFaceTB/SmolVLM-256M-Instruct",
    SMOLVLM_TEXT,
    adapter="Embedding",
    **VLM,
)
MODELS.add(
    "smolvlm-decoder-kv",
    "LlamaForCausalLM",
    embeds(576),
    "logits",
    "HuggingFaceTB/SmolVLM-256M-Instruct",
    SMOLVLM_TEXT,
    adapter="DecoderKV",
    test=STEP,
    **VLM,
)
MODELS.add(
    "blip2-reduced-vision",
    "Blip2ForConditionalGeneration",
    [pixels()],
    "image_features",
    "Salesforce/blip2-opt-2.7b",
    {
        "vision_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
        },
        "qformer_config": {"encoder_hidden_size": 768, "num_hidden_layers": 6},
        "text_config": {"model_type": "opt"},
        "num_query_tokens": 32,
    },
    adapter="QueryingTransformer",
    reduced="vision layers 39->12, hidden 1408->768; Q-Former layers 12->6; for a text decoder of width 768, not 2560",
    **VLM,
)
