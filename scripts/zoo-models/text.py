"""Other text encoders."""

from common import HIDDEN, POOLED, TEXT, ids, mask, pixels, text
from export.spec import Table

MODELS = Table()

MODELS.add(
    "bigbird-base",
    "BigBirdModel",
    text(50358),
    POOLED,
    "google/bigbird-roberta-base",
    # As the published class goes up to 704 tokens; beyond, it attends in blocks.
    {"attention_type": "original_full"},
    axes={"sequence": [1, 704]},
    **TEXT,
)
MODELS.add(
    "canine-s",
    "CanineModel",
    text(100000, True),
    POOLED,
    "google/canine-s",
    trace={"sequence": 256},
    test={"sequence": (128, 256)},
    axes={"sequence": [128, 2048]},
    **TEXT,
)
MODELS.add("convbert-base", "ConvBertModel", text(30522, True), HIDDEN, "YituTech/conv-bert-base", **TEXT)
MODELS.add(
    "esm2-35m",
    "EsmModel",
    text(33),
    HIDDEN,
    "facebook/esm2_t12_35M_UR50D",
    {
        "vocab_size": 33,
        "hidden_size": 480,
        "num_hidden_layers": 12,
        "num_attention_heads": 20,
        "intermediate_size": 1920,
        "position_embedding_type": "rotary",
        "token_dropout": True,
        "emb_layer_norm_before": False,
        "pad_token_id": 1,
        "mask_token_id": 32,
        "max_position_embeddings": 1026,
    },
    **TEXT,
)
MODELS.add(
    "flaubert-base",
    "FlaubertModel",
    [ids(68000), mask()],
    HIDDEN,
    "flaubert/flaubert_base_cased",
    {"n_layers": 12, "n_heads": 12, "emb_dim": 768, "vocab_size": 68729},
    **TEXT,
)
MODELS.add(
    "fnet-base",
    "FNetModel",
    [ids(32000), "token_type_ids:i64[batch,sequence]=zeros"],
    POOLED,
    "google/fnet-base",
    **TEXT,
)
MODELS.add(
    "funnel-small",
    "FunnelModel",
    text(30522, True),
    HIDDEN,
    "funnel-transformer/small",
    trace={"sequence": 64},
    test={"sequence": (64, 96)},
    **TEXT,
)
MODELS.add(
    "ibert-base",
    "IBertModel",
    text(50265),
    POOLED,
    "kssteven/ibert-roberta-base",
    {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
BBOX = "bbox:i64[batch,sequence,4]=boxes:1000"
MODELS.add(
    "layoutlm-base", "LayoutLMModel", [ids(30522), BBOX, mask()], POOLED, "microsoft/layoutlm-base-uncased", **TEXT
)
MODELS.add(
    "layoutlmv3-base",
    "LayoutLMv3Model",
    [ids(50265), BBOX, mask(), pixels()],
    HIDDEN,
    "microsoft/layoutlmv3-base",
    {"max_position_embeddings": 514, "type_vocab_size": 1},
    **dict(TEXT, family="multimodal", arch="multimodal", category="multimodal"),
)
MODELS.add(
    "lilt-base",
    "LiltModel",
    [ids(50265), BBOX, mask()],
    POOLED,
    "SCUT-DLVCLab/lilt-roberta-en-base",
    {"vocab_size": 50265, "max_position_embeddings": 514},
    **TEXT,
)
MODELS.add(
    "longformer-base",
    "LongformerModel",
    text(50265),
    HIDDEN,
    "allenai/longformer-base-4096",
    {
        "vocab_size": 50265,
        "max_position_embeddings": 4098,
        "type_vocab_size": 1,
        "attention_window": 512,
        "onnx_export": True,
    },
    trace={"sequence": 512},
    test={"sequence": (512, 1024)},
    patches=["no_global_attention"],
    **TEXT,
)
MODELS.add(
    "luke-base-words",
    "LukeModel",
    text(50267),
    POOLED,
    "studio-ousia/luke-base",
    {"vocab_size": 50267, "entity_vocab_size": 500000, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
MODELS.add(
    "nystromformer-512",
    "NystromformerModel",
    text(30000),
    HIDDEN,
    "uw-madison/nystromformer-512",
    trace={"sequence": 128},
    test={"sequence": (128, 256)},
    **TEXT,
)
MODELS.add(
    "perceiver-language",
    "PerceiverForMaskedLM",
    ["inputs:i64[batch,sequence]=ids:262", mask()],
    "logits",
    "deepmind/language-perceiver",
    trace={"sequence": 2048},
    test={"sequence": (2048, 2048)},
    **TEXT,
)
MODELS.add(
    "roc-bert-base",
    "RoCBertModel",
    [
        ids(21128),
        "input_shape_ids:i64[batch,sequence]=ids:24858",
        "input_pronunciation_ids:i64[batch,sequence]=ids:910",
        mask(),
    ],
    POOLED,
    "weiweishi/roc-bert-base-zh",
    {"vocab_size": 21128},
    **TEXT,
)
MODELS.add("roformer-base", "RoFormerModel", text(50000, True), HIDDEN, "junnyu/roformer_chinese_base", **TEXT)
MODELS.add("splinter-base", "SplinterModel", text(30522, True), HIDDEN, "tau/splinter-base", **TEXT)
MODELS.add("squeezebert", "SqueezeBertModel", text(30522, True), POOLED, "squeezebert/squeezebert-uncased", **TEXT)
MODELS.add(
    "tapas-base",
    "TapasModel",
    [ids(30522), mask(), "token_type_ids:i64[batch,sequence,7]=zeros"],
    POOLED,
    "google/tapas-base",
    **TEXT,
)
MODELS.add(
    "xlm-mlm-en",
    "XLMModel",
    [ids(30145), mask()],
    HIDDEN,
    "FacebookAI/xlm-mlm-en-2048",
    {"emb_dim": 2048, "n_words": 30145, "n_heads": 16, "n_layers": 12},
    **TEXT,
)
MODELS.add(
    "xlnet-base",
    "XLNetModel",
    [ids(32000), "attention_mask:f32[batch,sequence]=ones"],
    HIDDEN,
    "xlnet/xlnet-base-cased",
    {"d_model": 768, "n_layer": 12, "n_head": 12, "d_inner": 3072, "use_mems_eval": False},
    **TEXT,
)
MODELS.add(
    "xmod-base-adapter",
    "XmodModel",
    text(250002),
    POOLED,
    "facebook/xmod-base",
    {
        "vocab_size": 250002,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "languages": ["en_XX"],
        "default_language": "en_XX",
        "adapter_reduction_factor": 2,
    },
    **TEXT,
)
MODELS.add(
    "yoso",
    "YosoModel",
    text(50265),
    HIDDEN,
    "uw-madison/yoso-4096",
    {"vocab_size": 50265},
    trace={"sequence": 64},
    test={"sequence": (64, 96)},
    **TEXT,
)
MODELS.add(
    "reformer-reduced",
    "ReformerModel",
    [ids(320), mask()],
    HIDDEN,
    "google/reformer-crime-and-punishment",
    trace={"sequence": 256},
    test={"sequence": (256, 512)},
    tried="recorded from one run (torchscript): the exporter fails with IndexError: unordered_map::at",
    reduced="is_decoder True->False",
    **TEXT,
)
MODELS.add(
    "clip-text",
    "CLIPTextModelWithProjection",
    [ids(49000), mask()],
    "text_embeds",
    "openai/clip-vit-base-patch32",
    axes={"sequence": [1, 77]},
    **TEXT,
)
MODELS.add(
    "esm2-8m",
    "EsmModel",
    text(33),
    HIDDEN,
    "facebook/esm2_t6_8M_UR50D",
    {
        "vocab_size": 33,
        "hidden_size": 320,
        "num_hidden_layers": 6,
        "num_attention_heads": 20,
        "intermediate_size": 1280,
        "position_embedding_type": "rotary",
        "token_dropout": True,
        "emb_layer_norm_before": False,
        "pad_token_id": 1,
        "mask_token_id": 32,
        "max_position_embeddings": 1026,
    },
    **TEXT,
)
MODELS.add(
    "bros-base",
    "BrosModel",
    [ids(30522), "bbox:f32[batch,sequence,4]=uniform:0:1", mask()],
    POOLED,
    "jinho8345/bros-base-uncased",
    **TEXT,
)
MODELS.add(
    "markuplm-base",
    "MarkupLMModel",
    [
        ids(50265),
        "xpath_tags_seq:i64[batch,sequence,50]=ids:216",
        "xpath_subs_seq:i64[batch,sequence,50]=ids:1001",
        mask(),
    ],
    POOLED,
    "microsoft/markuplm-base",
    {"vocab_size": 50267, "max_position_embeddings": 514},
    **TEXT,
)
MODELS.add(
    "luke-base",
    "LukeModel",
    text(50267)
    + [
        "entity_ids:i64[batch,4]=ids:500000",
        "entity_attention_mask:i64[batch,4]=ones",
        "entity_position_ids:i64[batch,4,30]=zeros",
    ],
    "last_hidden_state entity_last_hidden_state pooler_output",
    "studio-ousia/luke-base",
    {"vocab_size": 50267, "entity_vocab_size": 500000, "max_position_embeddings": 514, "type_vocab_size": 1},
    weightless=True,
    **TEXT,
)
