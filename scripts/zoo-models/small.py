"""Small variants of the key classes that have none: the same architecture with few layers and narrow widths."""

from common import AUDIO, DECODER, DETECTION, MULTI, STEP, decoder_inputs, ids, mask, pixels
from decoders import QWEN2
from export.spec import Table
from vision_parts import LLAVA, LLAVA_NEXT, llava

MODELS = Table()

TEXT_TINY = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION_TINY = {"hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 3}
TEXT_BATCH = {"batch": "text_batch"}

MODELS.add(
    "clip-tiny",
    "CLIPModel",
    [ids(49000, **TEXT_BATCH), pixels(), mask(**TEXT_BATCH)],
    "logits_per_image logits_per_text text_embeds image_embeds",
    "openai/clip-vit-base-patch32",
    {"text_config": TEXT_TINY, "vision_config": VISION_TINY, "projection_dim": 128},
    axes={"sequence": [1, 77]},
    reduced="text layers 12->2, hidden 512->128, heads 8->2; vision layers 12->4, hidden 768->192, heads 12->3",
    **MULTI,
)
MODELS.add(
    "xclip-tiny",
    "XCLIPModel",
    [ids(49000, **TEXT_BATCH), "pixel_values:f32[batch,8,3,224,224]=normal", mask(**TEXT_BATCH)],
    "logits_per_video text_embeds video_embeds",
    "microsoft/xclip-base-patch32",
    {
        "text_config": TEXT_TINY,
        "vision_config": {
            **VISION_TINY,
            "num_hidden_layers": 2,
            "mit_hidden_size": 128,
            "mit_intermediate_size": 512,
            "mit_num_attention_heads": 2,
        },
        "projection_dim": 128,
        "prompt_num_attention_heads": 2,
    },
    axes={"sequence": [1, 77]},
    reduced="text layers 12->2, hidden 512->128, heads 8->2; vision layers 12->2, hidden 768->192, heads 12->3",
    **dict(MULTI, category="video", task="zero-shot-video-classification"),
)
MODELS.add(
    "clap-tiny",
    "ClapModel",
    [
        ids(50000, **TEXT_BATCH),
        "input_features:f32[batch,1,1001,64]=normal",
        "is_longer:bool[batch,1]=zeros",
        mask(**TEXT_BATCH),
    ],
    "logits_per_audio logits_per_text text_embeds audio_embeds",
    "laion/clap-htsat-unfused",
    {
        "text_config": TEXT_TINY,
        "audio_config": {
            "patch_embeds_hidden_size": 32,
            "hidden_size": 256,
            "depths": [1, 1, 2, 1],
            "num_attention_heads": [2, 2, 4, 8],
        },
        "projection_dim": 128,
    },
    axes={"sequence": [1, 512]},
    reduced="text layers 12->2, hidden 768->128, heads 12->2; audio depths 2,2,6,2->1,1,2,1, hidden 96->32",
    **dict(MULTI, task="zero-shot-audio-classification"),
)
MODELS.add(
    "detr-tiny",
    "DetrForObjectDetection",
    [pixels(256), "pixel_mask:i64[batch,256,256]=ones"],
    "logits pred_boxes",
    "facebook/detr-resnet-50",
    {
        "use_timm_backbone": False,
        "use_pretrained_backbone": False,
        "backbone": None,
        "backbone_config": {
            "model_type": "resnet",
            "out_features": ["stage4"],
            "embedding_size": 32,
            "hidden_sizes": [32, 64, 128, 256],
            "depths": [2, 2, 2, 2],
            "layer_type": "basic",
        },
        "d_model": 128,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 512,
        "decoder_ffn_dim": 512,
    },
    reduced="backbone 50->18 layers of half the width, layers 6->2, hidden 256->128, heads 8->4, image 512->256",
    **DETECTION,
)
MODELS.add(
    "wav2vec2-tiny",
    "Wav2Vec2ForCTC",
    ["input_values:f32[batch,samples]=normal"],
    "logits",
    "facebook/wav2vec2-base-960h",
    {
        "hidden_size": 192,
        "intermediate_size": 768,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "conv_dim": [128] * 7,
    },
    reduced="layers 12->3, hidden 768->192, heads 12->3, convolution channels 512->128",
    **AUDIO,
)
MODELS.add(
    "llama-50m-kv",
    "LlamaForCausalLM",
    decoder_inputs(32000),
    "logits",
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    {
        "hidden_size": 512,
        "intermediate_size": 1408,
        "num_hidden_layers": 6,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 32000,
        "max_position_embeddings": 2048,
    },
    reduced="layers 22->6, hidden 2048->512, ffn 5632->1408, heads 32->8",
    test=STEP,
    axes={"sequence": [1, 2048], "past": [0, 2047]},
    **DECODER,
)
MODELS.add(
    "qwen2-tiny-kv",
    "Qwen2ForCausalLM",
    decoder_inputs(151000),
    "logits",
    "Qwen/Qwen2-0.5B",
    {
        **QWEN2,
        "hidden_size": 256,
        "intermediate_size": 1408,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    reduced="layers 24->4, hidden 896->256, ffn 4864->1408, heads 14->4",
    test=STEP,
    **DECODER,
)


def tiny(config):
    """LLaVA with the published image size and patches, so that an image is as many tokens as it is there."""
    text = {**TEXT_TINY, "intermediate_size": 352, "num_hidden_layers": 4, "num_attention_heads": 4}
    heads = {"num_key_value_heads": 4 * config["text_config"]["num_key_value_heads"] // 16}
    return {
        **config,
        "text_config": {**config["text_config"], **text, **heads},
        "vision_config": {**config["vision_config"], **VISION_TINY, "projection_dim": 128},
    }


TINY = "text layers 32->4, hidden 4096->128, heads 32->4; vision layers 24->4, hidden 1024->192, heads 16->3"
llava(MODELS, "llava-tiny", "LlavaForConditionalGeneration", "llava-hf/llava-1.5-7b-hf", tiny(LLAVA), TINY)
llava(
    MODELS,
    "llava-next-tiny",
    "LlavaNextForConditionalGeneration",
    "llava-hf/llava-v1.6-mistral-7b-hf",
    tiny(LLAVA_NEXT),
    TINY,
)
