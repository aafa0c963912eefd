"""Classes that Transformers dropped in version 5: exported with 4.57.6, which has them."""

from common import AUDIO, DECODER, DETECTION, HIDDEN, MULTI, POOLED, SEQ2SEQ, TEXT, VISION, ids, mask, pixels, text
from export.spec import Table

MODELS = Table()

MODELS.add("nezha-base", "NezhaModel", text(21128, True), POOLED, "sijunhe/nezha-cn-base", **TEXT)
MODELS.add("mega-base", "MegaModel", text(30522), HIDDEN, "mnaylor/mega-base-wikitext", **TEXT)
MODELS.add(
    "retribert-base",
    "RetriBertModel",
    text(30522),
    "embeddings",
    "yjernite/retribert-base-uncased",
    {"position_embedding_type": "absolute"},
    adapter="Submodule",
    args={"path": "embed_questions"},
    **TEXT,
)
MODELS.add(
    "transfo-xl-reduced",
    "TransfoXLModel",
    [ids(32000)],
    HIDDEN,
    "transfo-xl/transfo-xl-wt103",
    {
        "vocab_size": 32000,
        "cutoffs": [],
        "div_val": 1,
        "d_model": 512,
        "d_embed": 512,
        "n_head": 8,
        "d_inner": 2048,
        "n_layer": 8,
        "mem_len": 128,
        "same_length": False,
    },
    patches=["transfo_xl_causal", "triangles_of_numbers"],
    reduced="layers 18->8, hidden 1024->512, heads 16->8, vocabulary 267735->32000 with one width, memory 1600->128, "
    "same_length True->False",
    **dict(TEXT, arch="decoder-only", category="text decoders", family="text_generation"),
)
MODELS.add(
    "open-llama-reduced-kv",
    "OpenLlamaForCausalLM",
    [ids(100000), mask(length="past+sequence"), "position_ids:i64[batch,sequence]=range:past"],
    "logits",
    "openlm-research/open_llama_7b",
    {
        "hidden_size": 512,
        "intermediate_size": 1376,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "use_memory_efficient_attention": False,
    },
    reduced="layers 32->8, hidden 4096->512, heads 32->8",
    test={"sequence": (1, 16)},
    **dict(DECODER, adapter="TuplesDecoderKV"),
)
MODELS.add(
    "trajectory-transformer",
    "TrajectoryTransformerModel",
    ["trajectories:i64[batch,100]=ids:100"],
    "logits",
    "CarlCochet/trajectory-transformer-halfcheetah-medium-v2",
    const={"use_cache": False},
    **dict(DECODER, adapter="Plain", family="multimodal", category="multimodal", task="reinforcement-learning"),
)
MODELS.add(
    "speech-to-text-2-decoder",
    "Speech2Text2ForCausalLM",
    [ids(10000), mask(), "encoder_hidden_states:f32[batch,encoder_sequence,256]=normal"],
    "logits",
    "facebook/s2t-wav2vec2-large-en-de",
    {"use_cache": False},
    patches=["given_positions"],
    **dict(SEQ2SEQ, family="audio", category="speech-text", task="automatic-speech-recognition"),
)
MODELS.add(
    "xlm-prophetnet-reduced",
    "XLMProphetNetForConditionalGeneration",
    [ids(30522), mask(), ids(30522, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "microsoft/xprophetnet-large-wiki100-cased",
    {
        "vocab_size": 30522,
        "hidden_size": 512,
        "num_encoder_layers": 6,
        "num_decoder_layers": 6,
        "num_encoder_attention_heads": 8,
        "num_decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "use_cache": False,
    },
    tracer="torchscript",
    reduced="layers 12->6, hidden 1024->512, heads 16->8, vocabulary 250012->30522",
    **SEQ2SEQ,
)
MODELS.add(
    "gptsan-japanese-reduced",
    "GPTSanJapaneseForConditionalGeneration",
    [ids(35990), mask(), "token_type_ids:i64[batch,sequence]=ones"],
    "logits",
    "Tanrei/GPTSAN-japanese",
    {
        "d_model": 256,
        "d_ff": 1024,
        "d_ext": 512,
        "num_switch_layers": 4,
        "num_heads": 4,
        "num_experts": 4,
        "use_cache": False,
    },
    patches=["triangles_of_numbers"],
    tracer="torchscript",
    tried="dynamo with its triangular mask in numbers, and recorded from one run: both give a Gather out of its bounds",
    reduced="layers 10->4, hidden 1024->256, heads 16->4, experts 16->4",
    **dict(DECODER, adapter="Plain", arch="mixture-of-experts"),
)
MODELS.add(
    "van-base",
    "VanForImageClassification",
    [pixels()],
    "logits",
    "Visual-Attention-Network/van-base",
    {"num_labels": 1000},
    **VISION,
)
MODELS.add(
    "efficientformer-l1",
    "EfficientFormerForImageClassification",
    [pixels()],
    "logits",
    "snap-research/efficientformer-l1-300",
    {"num_labels": 1000},
    **VISION,
)
MODELS.add(
    "deta-reduced",
    "DetaForObjectDetection",
    [pixels(256), "pixel_mask:i64[batch,256,256]=ones"],
    "logits pred_boxes",
    "jozhang97/deta-resnet-50",
    {
        "backbone_config": {"model_type": "resnet", "out_features": ["stage2", "stage3", "stage4"]},
        "two_stage": False,
        "num_queries": 300,
        "encoder_layers": 3,
        "decoder_layers": 3,
    },
    tracer="torchscript",
    reduced="layers 6->3, queries 900->300, two-stage True->False, image 800->256",
    **DETECTION,
)
MODELS.add(
    "tvlt-base-reduced",
    "TvltModel",
    ["pixel_values:f32[batch,2,3,224,224]=normal", "audio_values:f32[batch,1,256,128]=normal"],
    "last_hidden_state last_pixel_hidden_state",
    "ZinengTang/tvlt-base",
    {"num_frames": 2, "spectrogram_length": 256},
    reduced="frames 8->2, spectrogram 2048->256",
    **dict(MULTI, category="video", task="video-classification"),
)
MODELS.add(
    "tvlt-base",
    "TvltModel",
    ["pixel_values:f32[batch,8,3,224,224]=normal", "audio_values:f32[batch,1,2048,128]=normal"],
    "last_hidden_state last_pixel_hidden_state",
    "ZinengTang/tvlt-base",
    **dict(MULTI, category="video", task="video-classification"),
)
MODELS.add(
    "m-ctc-t-large",
    "MCTCTForCTC",
    ["input_features:f32[batch,frames,80]=normal", mask(length="frames")],
    "logits",
    "speechbrain/m-ctc-t-large",
    axes={"frames": [16, 2700]},
    weightless=True,
    **AUDIO,
)
