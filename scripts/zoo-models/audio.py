"""Audio encoders, codecs, vocoders, audio-token decoders."""

from common import AUDIO, HIDDEN, STEP, ids, mask
from export.spec import Table

MODELS = Table()

MODELS.add(
    "wav2vec2-base",
    "Wav2Vec2ForCTC",
    ["input_values:f32[batch,samples]=normal"],
    "logits",
    "facebook/wav2vec2-base-960h",
    **AUDIO,
)
WAVE = "input_values:f32[batch,samples]=normal"
MODELS.add(
    "ast",
    "ASTForAudioClassification",
    ["input_values:f32[batch,1024,128]=normal"],
    "logits",
    "MIT/ast-finetuned-audioset-10-10-0.4593",
    {"num_labels": 527},
    **dict(AUDIO, task="audio-classification"),
)
MODELS.add("hubert-base", "HubertForCTC", [WAVE], "logits", "facebook/hubert-base-ls960", **AUDIO)
MODELS.add("data2vec-audio-base", "Data2VecAudioForCTC", [WAVE], "logits", "facebook/data2vec-audio-base", **AUDIO)
MODELS.add("wavlm-base", "WavLMForCTC", [WAVE], "logits", "microsoft/wavlm-base", **AUDIO)
MODELS.add(
    "unispeech-large",
    "UniSpeechForCTC",
    [WAVE],
    "logits",
    "microsoft/unispeech-1350-en-17h-ky-ft-1h",
    {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "feat_extract_norm": "layer",
        "conv_bias": True,
        "do_stable_layer_norm": True,
    },
    **AUDIO,
)
MODELS.add("unispeech-sat-base", "UniSpeechSatForCTC", [WAVE], "logits", "microsoft/unispeech-sat-base", **AUDIO)
MODELS.add(
    "sew-tiny",
    "SEWForCTC",
    [WAVE],
    "logits",
    "asapp/sew-tiny-100k",
    {"hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 2048},
    **AUDIO,
)
MODELS.add(
    "sew-d-tiny",
    "SEWDForCTC",
    [WAVE],
    "logits",
    "asapp/sew-d-tiny-100k",
    {"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536},
    **AUDIO,
)
MODELS.add(
    "wav2vec2-conformer-large",
    "Wav2Vec2ConformerForCTC",
    [WAVE],
    "logits",
    "facebook/wav2vec2-conformer-rel-pos-large-960h-ft",
    {
        "position_embeddings_type": "relative",
        "vocab_size": 32,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "feat_extract_norm": "layer",
        "conv_bias": True,
    },
    **AUDIO,
)
MODELS.add(
    "wav2vec2-bert",
    "Wav2Vec2BertForCTC",
    ["input_features:f32[batch,frames,160]=normal", mask(length="frames")],
    "logits",
    "facebook/w2v-bert-2.0",
    {"vocab_size": 32},
    weightless=True,
    **AUDIO,
)
MODELS.add(
    "encodec-24khz-encoder",
    "EncodecModel",
    ["input_values:f32[batch,1,samples]=normal:0:0.1"],
    "embeddings",
    "facebook/encodec_24khz",
    adapter="Sequence",
    args={"path": "encoder"},
    patches=["encodec_padding"],
    **dict(AUDIO, task="audio-to-audio"),
)
MODELS.add(
    "encodec-24khz-decoder",
    "EncodecModel",
    ["embeddings:f32[batch,128,frames]=normal"],
    "audio_values",
    "facebook/encodec_24khz",
    adapter="Sequence",
    args={"path": "decoder"},
    test={"frames": (75, 150)},
    patches=["encodec_padding"],
    **dict(AUDIO, task="audio-to-audio"),
)
MODELS.add(
    "dac-16khz-decoder",
    "DacModel",
    ["embeddings:f32[batch,1024,frames]=normal"],
    "audio_values",
    "descript/dac_16khz",
    {"sampling_rate": 16000, "n_codebooks": 12, "downsampling_ratios": [2, 4, 5, 8], "upsampling_ratios": [8, 5, 4, 2]},
    adapter="Sequence",
    args={"path": "decoder"},
    trace={"frames": 20},
    test={"frames": (20, 50)},
    **dict(AUDIO, task="audio-to-audio"),
)
MODELS.add(
    "mimi-encoder-transformer",
    "MimiModel",
    ["hidden_states:f32[batch,frames,512]=normal"],
    HIDDEN,
    "kyutai/mimi",
    adapter="Sequence",
    args={"path": "encoder_transformer"},
    test={"frames": (25, 75)},
    **dict(AUDIO, task="audio-to-audio"),
)
MODELS.add(
    "parakeet-ctc-reduced",
    "ParakeetForCTC",
    ["input_features:f32[batch,frames,80]=normal", "attention_mask:bool[batch,frames]=ones"],
    "logits",
    "nvidia/parakeet-ctc-1.1b",
    {"encoder_config": {"num_hidden_layers": 6}},
    reduced="layers 42->6",
    **AUDIO,
)
MODELS.add(
    "speecht5-hifigan",
    "SpeechT5HifiGan",
    ["spectrogram:f32[batch,frames,80]=normal"],
    "waveform",
    "microsoft/speecht5_hifigan",
    test={"frames": (50, 100)},
    **dict(AUDIO, task="text-to-speech"),
)
MODELS.add(
    "vits",
    "VitsModel",
    [ids(38), mask()],
    "waveform",
    "facebook/mms-tts-eng",
    tracer="torchscript",
    patches=["vits_spline"],
    **dict(AUDIO, task="text-to-speech"),
)
MODELS.add(
    "musicgen-small-decoder",
    "MusicgenForCausalLM",
    ["input_ids:i64[batch*4,sequence]=ids:2048", "encoder_hidden_states:f32[batch,encoder_sequence,1024]=normal"],
    "logits",
    "facebook/musicgen-small",
    {"use_cache": False},
    weightless=True,
    **dict(AUDIO, arch="decoder-only", task="text-to-audio"),
)
MODELS.add(
    "clap-audio",
    "ClapAudioModelWithProjection",
    ["input_features:f32[batch,1,1001,64]=normal", "is_longer:bool[batch,1]=zeros"],
    "audio_embeds",
    "laion/clap-htsat-unfused",
    **dict(AUDIO, task="audio-classification"),
)
MODELS.add(
    "wav2vec2-base-encoder",
    "Wav2Vec2Model",
    [WAVE],
    "last_hidden_state extract_features",
    "facebook/wav2vec2-base",
    **dict(AUDIO, task="feature-extraction"),
)
MODELS.add(
    "univnet",
    "UnivNetModel",
    ["input_features:f32[batch,frames,100]=normal", "noise_sequence:f32[batch,frames,64]=normal"],
    "waveforms",
    "dg845/univnet-dev",
    test={"frames": (50, 100)},
    trace={"frames": 60},
    axes={"frames": [16, 1000]},
    **dict(AUDIO, task="text-to-speech"),
)
MODELS.add(
    "vits-decoder",
    "VitsModel",
    ["latents:f32[batch,192,frames]=normal"],
    "waveform",
    "facebook/mms-tts-eng",
    adapter="Sequence",
    args={"path": "decoder"},
    trace={"frames": 60},
    test={"frames": (50, 100)},
    **dict(AUDIO, task="text-to-speech"),
)
MODELS.add(
    "bark-small-semantic-kv",
    "BarkSemanticModel",
    [ids(129600), mask(length="past+sequence"), "position_ids:i64[batch,sequence]=range:past"],
    "logits",
    "suno/bark-small",
    {
        "input_vocab_size": 129600,
        "output_vocab_size": 10048,
        "num_layers": 12,
        "num_heads": 12,
        "hidden_size": 768,
        "block_size": 1024,
    },
    adapter="DecoderKV",
    args={"layers": 12, "kv_heads": 12, "head_dim": 64},
    test=STEP,
    **dict(AUDIO, arch="decoder-only", task="text-to-audio"),
)
MODELS.add(
    "bark-small-fine",
    "BarkFineModel",
    ["input_ids:i64[batch,sequence,8]=ids:1024"],
    "logits",
    "suno/bark-small",
    {
        "num_layers": 12,
        "num_heads": 12,
        "hidden_size": 768,
        "block_size": 1024,
        "n_codes_total": 8,
        "n_codes_given": 1,
        "input_vocab_size": 1056,
        "output_vocab_size": 1056,
    },
    const={"codebook_idx": 7},
    **dict(AUDIO, arch="decoder-only", task="text-to-audio"),
)
