"""Speech to text and text to speech."""

from audio import WAVE
from common import BART_CROSS, HIDDEN, SPEECH_TEXT, TEXT, ids, mask
from export.spec import Table

MODELS = Table()

WHISPER_TINY = {
    "vocab_size": 51865,
    "d_model": 384,
    "encoder_layers": 4,
    "decoder_layers": 4,
    "encoder_attention_heads": 6,
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 1536,
    "decoder_ffn_dim": 1536,
}
MODELS.add(
    "whisper-tiny-encoder",
    "WhisperModel",
    ["input_features:f32[batch,80,3000]=normal"],
    HIDDEN,
    "openai/whisper-tiny",
    WHISPER_TINY,
    adapter="Submodule",
    args={"path": "encoder"},
    **dict(SPEECH_TEXT),
)
MODELS.add(
    "whisper-tiny-encoder-kv",
    "WhisperForConditionalGeneration",
    ["input_features:f32[batch,80,3000]=normal"],
    [],
    "openai/whisper-tiny",
    WHISPER_TINY,
    adapter="EncoderKV",
    args={**BART_CROSS, "layers": 4, "kv_heads": 6, "head_dim": 64},
    **SPEECH_TEXT,
)
MODELS.add(
    "whisper-tiny-decoder-kv",
    "WhisperForConditionalGeneration",
    [ids(50000, "decoder_input_ids")],
    "logits",
    "openai/whisper-tiny",
    WHISPER_TINY,
    adapter="CrossDecoderKV",
    args={"layers": 4, "kv_heads": 6, "head_dim": 64, "hidden": 384},
    trace={"encoder_sequence": 1500},
    test={"sequence": (1, 8), "encoder_sequence": (1500, 1500)},
    axes={"sequence": [1, 448], "past": [1, 440], "encoder_sequence": [1500, 1500]},
    **SPEECH_TEXT,
)
WHISPER_BASE = {
    **WHISPER_TINY,
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
}
MODELS.add(
    "whisper-base-encoder",
    "WhisperModel",
    ["input_features:f32[batch,80,3000]=normal"],
    HIDDEN,
    "openai/whisper-base",
    WHISPER_BASE,
    adapter="Submodule",
    args={"path": "encoder"},
    **SPEECH_TEXT,
)
MODELS.add(
    "whisper-base-encoder-kv",
    "WhisperForConditionalGeneration",
    ["input_features:f32[batch,80,3000]=normal"],
    [],
    "openai/whisper-base",
    WHISPER_BASE,
    adapter="EncoderKV",
    args={**BART_CROSS, "layers": 6, "kv_heads": 8, "head_dim": 64},
    **SPEECH_TEXT,
)
MODELS.add(
    "whisper-base-decoder-kv",
    "WhisperForConditionalGeneration",
    [ids(50000, "decoder_input_ids")],
    "logits",
    "openai/whisper-base",
    WHISPER_BASE,
    adapter="CrossDecoderKV",
    args={"layers": 6, "kv_heads": 8, "head_dim": 64, "hidden": 512},
    trace={"encoder_sequence": 1500},
    test={"sequence": (1, 8), "encoder_sequence": (1500, 1500)},
    axes={"sequence": [1, 448], "past": [1, 440], "encoder_sequence": [1500, 1500]},
    **SPEECH_TEXT,
)
WHISPER_LARGE = {
    **WHISPER_TINY,
    "vocab_size": 51866,
    "num_mel_bins": 128,
    "d_model": 1280,
    "encoder_layers": 32,
    "decoder_layers": 32,
    "encoder_attention_heads": 20,
    "decoder_attention_heads": 20,
    "encoder_ffn_dim": 5120,
    "decoder_ffn_dim": 5120,
}
MODELS.add(
    "whisper-large-v3-encoder-kv",
    "WhisperForConditionalGeneration",
    ["input_features:f32[batch,128,3000]=normal"],
    [],
    "openai/whisper-large-v3",
    WHISPER_LARGE,
    adapter="EncoderKV",
    args={**BART_CROSS, "layers": 32, "kv_heads": 20, "head_dim": 64},
    weightless=True,
    **SPEECH_TEXT,
)
MODELS.add(
    "whisper-large-v3-decoder-kv",
    "WhisperForConditionalGeneration",
    [ids(50000, "decoder_input_ids")],
    "logits",
    "openai/whisper-large-v3",
    WHISPER_LARGE,
    adapter="CrossDecoderKV",
    args={"layers": 32, "kv_heads": 20, "head_dim": 64, "hidden": 1280},
    trace={"encoder_sequence": 1500},
    test={"sequence": (1, 8), "encoder_sequence": (1500, 1500)},
    axes={"sequence": [1, 224], "past": [0, 224], "encoder_sequence": [1500, 1500]},
    weightless=True,
    **SPEECH_TEXT,
)
MODELS.add(
    "speech-to-text-small",
    "Speech2TextForConditionalGeneration",
    [
        "input_features:f32[batch,frames,80]=normal",
        mask(length="frames"),
        ids(10000, "decoder_input_ids", "decoder_sequence"),
    ],
    "logits encoder_last_hidden_state",
    "facebook/s2t-small-librispeech-asr",
    {"use_cache": False},
    **SPEECH_TEXT,
)
MODELS.add(
    "speecht5-asr",
    "SpeechT5ForSpeechToText",
    [WAVE, ids(81, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "microsoft/speecht5_asr",
    {"use_cache": False},
    **SPEECH_TEXT,
)
MODELS.add(
    "speecht5-tts",
    "SpeechT5ForTextToSpeech",
    [
        ids(81),
        mask(),
        "decoder_input_values:f32[batch,decoder_sequence,80]=normal",
        "speaker_embeddings:f32[batch,512]=normal",
    ],
    "spectrogram",
    "microsoft/speecht5_tts",
    {"use_cache": False},
    **dict(SPEECH_TEXT, task="text-to-speech"),
)
MODELS.add(
    "moonshine-tiny",
    "MoonshineForConditionalGeneration",
    [WAVE, ids(32768, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "UsefulSensors/moonshine-tiny",
    {"use_cache": False},
    **SPEECH_TEXT,
)
MODELS.add(
    "whisper-tiny",
    "WhisperForConditionalGeneration",
    ["input_features:f32[batch,80,3000]=normal", ids(50000, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "openai/whisper-tiny",
    {**WHISPER_TINY, "use_cache": False},
    **SPEECH_TEXT,
)
MODELS.add(
    "pop2piano",
    "Pop2PianoForConditionalGeneration",
    ["input_features:f32[batch,frames,512]=normal", ids(2400, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "sweetcocoa/pop2piano",
    {"use_cache": False},
    test={"frames": (50, 100)},
    axes={"frames": [16, 1024]},
    **dict(SPEECH_TEXT, task="audio-to-music"),
)
MODELS.add(
    "seamless-m4t-s2t-reduced",
    "SeamlessM4TForSpeechToText",
    [
        "input_features:f32[batch,frames,160]=normal",
        mask(length="frames"),
        ids(256100, "decoder_input_ids", "decoder_sequence"),
    ],
    "logits",
    "facebook/hf-seamless-m4t-medium",
    {
        "vocab_size": 256102,
        "hidden_size": 512,
        "encoder_layers": 1,
        "decoder_layers": 6,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "speech_encoder_layers": 6,
        "speech_encoder_attention_heads": 8,
        "speech_encoder_intermediate_size": 2048,
        "use_cache": False,
        "t2u_encoder_layers": 1,
        "t2u_decoder_layers": 1,
    },
    reduced="layers 12->6, hidden 1024->512, heads 16->8, ffn 4096->2048; speech to text alone",
    **SPEECH_TEXT,
)
MODELS.add(
    "wav2vec2-mbart-reduced",
    "SpeechEncoderDecoderModel",
    ["input_values:f32[batch,samples]=normal", ids(250054, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "facebook/wav2vec2-xls-r-300m-en-to-15",
    {
        "encoder": {"model_type": "wav2vec2"},
        "decoder": {
            "model_type": "mbart",
            "decoder_layers": 6,
            "d_model": 512,
            "decoder_attention_heads": 8,
            "decoder_ffn_dim": 2048,
            "vocab_size": 250054,
            "is_decoder": True,
            "add_cross_attention": True,
            "is_encoder_decoder": False,
            "use_cache": False,
        },
    },
    const={"use_cache": False},
    reduced="encoder layers 24->12, hidden 1024->768; decoder layers 12->6, hidden 1024->512",
    **SPEECH_TEXT,
)
MODELS.add(
    "clvp-text-encoder",
    "ClvpModelForConditionalGeneration",
    [ids(255), mask()],
    "text_embeds=embeds",
    "susnato/clvp_dev",
    adapter="Submodule",
    args={"path": "text_encoder_model"},
    **dict(TEXT, family="audio", category="speech-text", task="text-to-speech"),
)
