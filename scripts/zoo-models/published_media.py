"""Images, videos and sound with text, and codecs of sound, as one graph at the size at which they were published."""

from audio import WAVE
from common import AUDIO, MULTI, SPEECH_TEXT, VIDEO, VISION, VLM, ids, mask, pixels
from export.spec import Table
from published import TIED, UNTIED, rotary, unrun, widths

MODELS = Table()


def prompted(name, cls, published, media, config, vocabulary, adapter="MediaPrompt", billions=0, fields=VLM, **more):
    """A language model whose prompt begins with an image, a video or a sound."""
    MODELS.add(
        name,
        cls,
        [media, ids(vocabulary)],
        "logits",
        published,
        config,
        adapter=adapter,
        weightless=True,
        unrun=unrun(billions) if billions else "",
        **{"axes": {"sequence": [1, 2048]}, **fields, **more},
    )


CLIP_L_336 = {
    "model_type": "clip_vision_model",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
    "projection_dim": 768,
}
VICUNA = {"model_type": "llama", **widths(4096, 11008, 32, 32, 32, 32064, max_position_embeddings=4096, rms_norm_eps=1e-5)}
SO400M = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 26,
    "num_attention_heads": 16,
    "image_size": 384,
    "patch_size": 14,
    "vision_use_head": False,
}
QWEN2_HALF = {
    "model_type": "qwen2",
    **widths(896, 4864, 24, 14, 2, 152000, max_position_embeddings=32768, **rotary(1000000.0), **TIED),
}
prompted(
    "blip2-opt-2.7b",
    "Blip2ForConditionalGeneration",
    "Salesforce/blip2-opt-2.7b",
    pixels(),
    {
        "text_config": {
            "model_type": "opt",
            "hidden_size": 2560,
            "ffn_dim": 10240,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "word_embed_proj_dim": 2560,
            "vocab_size": 50304,
        },
        "num_query_tokens": 32,
    },
    50265,
    "QueriesPrompt",
    3.7,
    axes={"sequence": [1, 1024]},
)
prompted(
    "llava-onevision-0.5b",
    "LlavaOnevisionForConditionalGeneration",
    "llava-hf/llava-onevision-qwen2-0.5b-ov-hf",
    pixels(384),
    {"vision_config": SO400M, "text_config": QWEN2_HALF, **TIED},
    151646,
    "TowerPrompt",
    args={"tower": "vision_tower", "projector": "multi_modal_projector", "layer": -1},
)
prompted(
    "internvl3-1b",
    "InternVLForConditionalGeneration",
    "OpenGVLab/InternVL3-1B-hf",
    pixels(448),
    {
        "vision_config": {"attention_bias": True},
        "text_config": {**QWEN2_HALF, "vocab_size": 151674, **UNTIED},
        **UNTIED,
    },
    151643,
    args={"method": "get_image_features"},
)
prompted(
    "got-ocr2",
    "GotOcr2ForConditionalGeneration",
    "stepfun-ai/GOT-OCR-2.0-hf",
    pixels(1024),
    {
        "text_config": {
            "model_type": "qwen2",
            **widths(1024, 2816, 24, 16, 16, 151860, max_position_embeddings=32768, **rotary(1000000.0), **TIED),
        }
    },
    151643,
    args={"method": "get_image_features"},
)
prompted(
    "vip-llava-7b",
    "VipLlavaForConditionalGeneration",
    "llava-hf/vip-llava-7b-hf",
    pixels(336),
    {"vision_config": CLIP_L_336, "text_config": VICUNA},
    32000,
    billions=7.1,
    args={"method": "get_image_features"},
)
prompted(
    "fuyu-8b",
    "FuyuForCausalLM",
    "adept/fuyu-8b",
    "image_patches:f32[batch,frames,2700]=normal",
    {},
    262144,
    "PixelsPrompt",
    9.4,
    axes={"sequence": [1, 2048], "frames": [16, 1024]},
)
prompted(
    "gemma-3-4b",
    "Gemma3ForConditionalGeneration",
    "google/gemma-3-4b-it",
    pixels(896),
    {
        "vision_config": {**SO400M, "num_hidden_layers": 27, "image_size": 896},
        "text_config": {
            **widths(2560, 10240, 34, 8, 4, 262208, head_dim=256, sliding_window=1024),
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            },
        },
    },
    262144,
    billions=4.3,
    args={"method": "get_image_features"},
)
prompted(
    "smolvlm-2.2b",
    "Idefics3ForConditionalGeneration",
    "HuggingFaceTB/SmolVLM-Instruct",
    pixels(384),
    {
        "scale_factor": 3,
        "image_token_id": 49153,
        "vision_config": {
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_hidden_layers": 27,
            "num_attention_heads": 16,
            "image_size": 384,
            "patch_size": 14,
        },
        "text_config": {
            "model_type": "llama",
            **widths(2048, 8192, 24, 32, 32, 49155, max_position_embeddings=16384, rms_norm_eps=1e-5, pad_token_id=2, **rotary(273768.0)),
        },
    },
    49152,
    "TowerPrompt",
    2.2,
    args={"tower": "vision_model", "projector": "connector", "language": "text_model"},
)
prompted(
    "llava-next-video-7b",
    "LlavaNextVideoForConditionalGeneration",
    "llava-hf/LLaVA-NeXT-Video-7B-hf",
    "pixel_values_videos:f32[batch,8,3,336,336]=normal",
    {"vision_config": CLIP_L_336, "text_config": VICUNA},
    32000,
    billions=7.1,
    fields=dict(VLM, category="video", task="video-text-to-text"),
    args={"method": "get_video_features"},
)
MODELS.add(
    "florence2-base",
    "Florence2ForConditionalGeneration",
    [pixels(768), ids(50265), ids(50265, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "microsoft/Florence-2-base",
    {
        "vision_config": {"projection_dim": 768},
        "text_config": {
            "model_type": "bart",
            "d_model": 768,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "encoder_attention_heads": 12,
            "decoder_attention_heads": 12,
            "encoder_ffn_dim": 3072,
            "decoder_ffn_dim": 3072,
            "vocab_size": 51289,
            "max_position_embeddings": 1024,
            "use_cache": False,
        },
    },
    adapter="ImageToText",
    axes={"sequence": [1, 256], "decoder_sequence": [1, 1024]},
    weightless=True,
    **VLM,
)
MODELS.add(
    "pix2struct-base",
    "Pix2StructForConditionalGeneration",
    [
        "flattened_patches:f32[batch,frames,770]=uniform:1:20",
        mask(length="frames"),
        ids(50244, "decoder_input_ids", "decoder_sequence"),
    ],
    "logits encoder_last_hidden_state",
    "google/pix2struct-base",
    {"text_config": {"add_cross_attention": True}},
    test={"frames": (256, 512)},
    axes={"frames": [16, 2048]},
    weightless=True,
    **VLM,
)
MODELS.add(
    "mgp-str-base",
    "MgpstrForSceneTextRecognition",
    [pixels(32, 128)],
    "character_logits bpe_logits wordpiece_logits",
    "alibaba-damo/mgp-str-base",
    const={"return_dict": False},
    **dict(VISION, task="image-to-text"),
)
SOUND = "input_features:f32[batch,128,3000]=normal"
prompted(
    "qwen2-audio-7b",
    "Qwen2AudioForConditionalGeneration",
    "Qwen/Qwen2-Audio-7B-Instruct",
    SOUND,
    {
        "text_config": {
            "model_type": "qwen2",
            **widths(4096, 11008, 32, 32, 32, 156032, max_position_embeddings=8192, rms_norm_eps=1e-5, **rotary(10000.0), **UNTIED),
        },
    },
    151646,
    "TowerPrompt",
    8.4,
    fields=SPEECH_TEXT,
    args={"tower": "audio_tower", "projector": "multi_modal_projector"},
)
prompted(
    "voxtral-mini-3b",
    "VoxtralForConditionalGeneration",
    "mistralai/Voxtral-Mini-3B-2507",
    SOUND,
    {
        "text_config": {
            "model_type": "llama",
            **widths(
                3072, 8192, 30, 32, 8, 131072, head_dim=128, max_position_embeddings=131072, rms_norm_eps=1e-5, **rotary(100000000.0), **UNTIED
            ),
        },
    },
    131072,
    billions=4.7,
    fields=SPEECH_TEXT,
    args={"method": "get_audio_features"},
)
MODELS.add(
    "dia-1.6b",
    "DiaForConditionalGeneration",
    [ids(256), mask(), "decoder_input_ids:i64[batch,decoder_sequence,9]=ids:1024"],
    "logits",
    "nari-labs/Dia-1.6B-0626",
    {"use_cache": False},
    unrun=unrun(1.6),
    axes={"sequence": [1, 1024], "decoder_sequence": [1, 3072]},
    weightless=True,
    **dict(SPEECH_TEXT, task="text-to-speech"),
)
MODELS.add(
    "wav2vec2-xls-r-300m-en-to-15",
    "SpeechEncoderDecoderModel",
    [WAVE, ids(250054, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "facebook/wav2vec2-xls-r-300m-en-to-15",
    {
        "encoder": {
            "model_type": "wav2vec2",
            "hidden_size": 1024,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "intermediate_size": 4096,
            "feat_extract_norm": "layer",
            "conv_bias": True,
            "do_stable_layer_norm": True,
            "num_codevector_groups": 2,
            "add_adapter": True,
        },
        "decoder": {
            "model_type": "mbart",
            "decoder_layers": 12,
            "d_model": 1024,
            "decoder_attention_heads": 16,
            "decoder_ffn_dim": 4096,
            "vocab_size": 250054,
            "is_decoder": True,
            "add_cross_attention": True,
            "is_encoder_decoder": False,
            "scale_embedding": True,
            "use_cache": False,
        },
    },
    const={"use_cache": False},
    weightless=True,
    unrun=unrun(0.8),
    **SPEECH_TEXT,
)
MODELS.add(
    "parakeet-ctc-0.6b",
    "ParakeetForCTC",
    ["input_features:f32[batch,frames,80]=normal", "attention_mask:bool[batch,frames]=ones"],
    "logits",
    "nvidia/parakeet-ctc-0.6b",
    weightless=True,
    **AUDIO,
)
MODELS.add(
    "dac-16khz",
    "DacModel",
    ["input_values:f32[batch,1,samples]=normal:0:0.1"],
    "audio_values",
    "descript/dac_16khz",
    {"sampling_rate": 16000, "n_codebooks": 12, "downsampling_ratios": [2, 4, 5, 8], "upsampling_ratios": [8, 5, 4, 2]},
    trace={"samples": 16000},
    **dict(AUDIO, task="audio-to-audio"),
)
MODELS.add(
    "vjepa2-vitl",
    "VJEPA2Model",
    ["pixel_values_videos:f32[batch,64,3,256,256]=normal"],
    "last_hidden_state predicted=predictor_output.last_hidden_state",
    "facebook/vjepa2-vitl-fpc64-256",
    patches=["every_patch_predicted"],
    unrun="64 frames are 8,192 rows, whose attention takes more memory than the exporter lets one model hold",
    weightless=True,
    **VIDEO,
)
MODELS.add(
    "moonshine-streaming-tiny",
    "MoonshineStreamingForConditionalGeneration",
    [WAVE, ids(32768, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "UsefulSensors/moonshine-streaming-tiny",
    {"use_cache": False, "num_key_value_heads": 8, **TIED},
    **SPEECH_TEXT,
)
MODELS.add(
    "medasr",
    "LasrForCTC",
    ["input_features:f32[batch,frames,128]=normal", "attention_mask:bool[batch,frames]=ones"],
    "logits",
    "google/medasr",
    **AUDIO,
)
MODELS.add(
    "fastspeech2-hifigan",
    "FastSpeech2ConformerHifiGan",
    ["spectrogram:f32[batch,frames,80]=normal"],
    "waveform",
    "espnet/fastspeech2_conformer_hifigan",
    test={"frames": (50, 100)},
    **dict(AUDIO, task="text-to-speech"),
)
MODELS.add(
    "tvp-base",
    "TvpForVideoGrounding",
    [ids(30522), "pixel_values:f32[batch,48,3,448,448]=normal", mask()],
    "logits",
    "Intel/tvp-base",
    {
        "backbone_config": {"model_type": "resnet", "out_features": ["stage4"]},
        "use_timm_backbone": False,
        "backbone": None,
        "num_frames": 48,
        "max_img_size": 448,
    },
    axes={"sequence": [1, 128], "batch": [1, 8]},
    patches=["clips_of_any_number"],
    unrun="two clips of 48 frames take more memory than the exporter lets one model hold",
    **dict(MULTI, category="video", task="video-grounding"),
)
