"""Image and text in, text out, as one graph."""

from common import HIDDEN, VLM, ids, mask, pixels
from export.spec import Table

MODELS = Table()

MODELS.add(
    "blip-captioning-base",
    "BlipForConditionalGeneration",
    [pixels(384), ids(30522), mask()],
    "logits",
    "Salesforce/blip-image-captioning-base",
    **VLM,
)
MODELS.add(
    "git-base",
    "GitForCausalLM",
    [ids(30522), mask(), pixels()],
    "logits",
    "microsoft/git-base",
    {"use_cache": False},
    **VLM,
)
MODELS.add(
    "trocr-base-decoder",
    "TrOCRForCausalLM",
    [ids(50265), mask(), "encoder_hidden_states:f32[batch,577,768]=normal"],
    "logits",
    "microsoft/trocr-base-printed",
    {
        "cross_attention_hidden_size": 768,
        "use_cache": False,
        "decoder_layers": 12,
        "d_model": 1024,
        "decoder_attention_heads": 16,
        "decoder_ffn_dim": 4096,
    },
    weightless=True,
    **VLM,
)
MODELS.add(
    "pix2struct-base-encoder",
    "Pix2StructForConditionalGeneration",
    ["flattened_patches:f32[batch,frames,770]=uniform:1:20", mask(length="frames")],
    HIDDEN,
    "google/pix2struct-base",
    adapter="Submodule",
    args={"path": "encoder"},
    test={"frames": (256, 512)},
    axes={"frames": [16, 2048]},
    **VLM,
)
MODELS.add(
    "donut-swin-encoder",
    "DonutSwinModel",
    [pixels(2560, 1920)],
    HIDDEN,
    "naver-clova-ix/donut-base",
    {
        "image_size": [2560, 1920],
        "window_size": 10,
        "embed_dim": 128,
        "depths": [2, 2, 14, 2],
        "num_heads": [4, 8, 16, 32],
    },
    **VLM,
)
MODELS.add(
    "florence2-vision",
    "Florence2VisionBackbone",
    [pixels(224, name="hidden_states")],
    HIDDEN,
    "microsoft/Florence-2-base",
    **VLM,
)
MODELS.add(
    "vit-gpt2-captioning",
    "VisionEncoderDecoderModel",
    [pixels(), ids(50257, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "nlpconnect/vit-gpt2-image-captioning",
    {
        "encoder": {"model_type": "vit"},
        "decoder": {"model_type": "gpt2", "add_cross_attention": True, "is_decoder": True, "use_cache": False},
    },
    const={"use_cache": False},
    axes={"decoder_sequence": [1, 1024]},
    **VLM,
)
MODELS.add(
    "trocr-base",
    "VisionEncoderDecoderModel",
    [pixels(384), ids(50265, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "microsoft/trocr-base-printed",
    {
        "encoder": {"model_type": "vit", "image_size": 384, "qkv_bias": False},
        "decoder": {
            "model_type": "trocr",
            "cross_attention_hidden_size": 768,
            "is_decoder": True,
            "add_cross_attention": True,
            "use_cache": False,
        },
    },
    const={"use_cache": False},
    axes={"decoder_sequence": [1, 512]},
    weightless=True,
    **VLM,
)
MODELS.add(
    "donut-base",
    "VisionEncoderDecoderModel",
    [pixels(2560, 1920), ids(57525, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "naver-clova-ix/donut-base",
    {
        "encoder": {
            "model_type": "donut-swin",
            "image_size": [2560, 1920],
            "window_size": 10,
            "embed_dim": 128,
            "depths": [2, 2, 14, 2],
            "num_heads": [4, 8, 16, 32],
        },
        "decoder": {
            "model_type": "mbart",
            "decoder_layers": 4,
            "d_model": 1024,
            "decoder_attention_heads": 16,
            "decoder_ffn_dim": 4096,
            "vocab_size": 57525,
            "max_position_embeddings": 1536,
            "scale_embedding": True,
            "add_final_layer_norm": True,
            "is_decoder": True,
            "add_cross_attention": True,
            "is_encoder_decoder": False,
            "use_cache": False,
        },
    },
    const={"use_cache": False},
    unrun="an image of that size takes more memory in attention than the exporter lets one model hold",
    **VLM,
)
MODELS.add(
    "nougat-base",
    "VisionEncoderDecoderModel",
    [pixels(896, 672), ids(50000, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "facebook/nougat-base",
    {
        "encoder": {
            "model_type": "donut-swin",
            "image_size": [896, 672],
            "window_size": 7,
            "embed_dim": 128,
            "depths": [2, 2, 14, 2],
            "num_heads": [4, 8, 16, 32],
        },
        "decoder": {
            "model_type": "mbart",
            "decoder_layers": 10,
            "d_model": 1024,
            "decoder_attention_heads": 16,
            "decoder_ffn_dim": 4096,
            "vocab_size": 50000,
            "max_position_embeddings": 4096,
            "scale_embedding": True,
            "add_final_layer_norm": True,
            "is_decoder": True,
            "add_cross_attention": True,
            "is_encoder_decoder": False,
            "use_cache": False,
        },
    },
    const={"use_cache": False},
    **VLM,
)
MODELS.add(
    "idefics-9b",
    "IdeficsForVisionText2Text",
    [
        ids(32000),
        mask(),
        "pixel_values:f32[batch,1,3,224,224]=normal",
        "image_attention_mask:i64[batch,sequence,1]=ones",
    ],
    "logits",
    "HuggingFaceM4/idefics-9b",
    {
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "cross_layer_interval": 4,
        "additional_vocab_size": 2,
        "qk_layer_norms": True,
        "use_resampler": True,
        "use_cache": False,
        "perceiver_config": {
            "resampler_depth": 6,
            "resampler_n_heads": 16,
            "resampler_head_dim": 96,
            "resampler_n_latents": 64,
            "qk_layer_norms_perceiver": True,
        },
        "vision_config": {
            "embed_dim": 1280,
            "num_hidden_layers": 32,
            "num_attention_heads": 16,
            "intermediate_size": 5120,
            "patch_size": 14,
        },
    },
    patches=["both_tables"],
    weightless=True,
    unrun="its weights take 36 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **VLM,
)
MODELS.add(
    "kosmos-2",
    "Kosmos2ForConditionalGeneration",
    [pixels(), ids(65037)],
    "logits",
    "microsoft/kosmos-2-patch14-224",
    {
        "text_config": {"use_cache": False},
        "latent_query_num": 64,
    },
    adapter="KosmosPrompt",
    args={"language": "text_model"},
    axes={"sequence": [1, 1024]},
    weightless=True,
    unrun="its weights take 6.7 GB in float32, which loading holds twice: more than the exporter lets one model hold",
    **VLM,
)
