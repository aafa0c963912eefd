"""Encoder-decoders as one graph."""

from common import HIDDEN, RAG, SEQ2SEQ, ids, mask, text
from export.spec import Table
from seq2seq import T5_TINY, bart

MODELS = Table()

MODELS.add(
    "t5-efficient-tiny",
    "T5ForConditionalGeneration",
    text(32100) + [ids(32100, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "google/t5-efficient-tiny",
    {**T5_TINY, "decoder_start_token_id": 0, "use_cache": False},
    **SEQ2SEQ,
)
MODELS.add(
    "longt5-local",
    "LongT5ForConditionalGeneration",
    text(32100) + [ids(32100, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "google/long-t5-local-base",
    {
        "d_model": 768,
        "d_ff": 2048,
        "num_layers": 12,
        "num_heads": 12,
        "d_kv": 64,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "use_cache": False,
        "decoder_start_token_id": 0,
        "encoder_attention_type": "local",
    },
    trace={"sequence": 256},
    test={"sequence": (256, 512)},
    weightless=True,
    **SEQ2SEQ,
)
MODELS.add(
    "led-base",
    "LEDForConditionalGeneration",
    text(50265) + [ids(50265, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "allenai/led-base-16384",
    bart(6, 768, 12, 3072, 50265, attention_window=1024, max_encoder_position_embeddings=16384, use_cache=False, onnx_export=True),
    trace={"sequence": 1024},
    test={"sequence": (1024, 2048)},
    patches=["no_global_attention"],
    **SEQ2SEQ,
)
MODELS.add(
    "prophetnet-large",
    "ProphetNetForConditionalGeneration",
    [ids(30522), "attention_mask:f32[batch,sequence]=ones", ids(30522, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "microsoft/prophetnet-large-uncased",
    {
        "use_cache": False,
    },
    optimize=False,
    **SEQ2SEQ,
)
MODELS.add(
    "fsmt-reduced",
    "FSMTForConditionalGeneration",
    text(42000)
    + [ids(42000, "decoder_input_ids", "decoder_sequence"), mask("decoder_attention_mask", "decoder_sequence")],
    "logits",
    "facebook/wmt19-en-ru",
    {
        "d_model": 512,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "use_cache": False,
        "langs": ["en", "ru"],
    },
    reduced="hidden 1024->512, heads 16->8",
    **SEQ2SEQ,
)
MODELS.add(
    "rag-token-generator",
    "RagTokenForGeneration",
    [
        "context_input_ids:i64[batch*5,sequence]=ids:50265",
        "context_attention_mask:i64[batch*5,sequence]=ones",
        "doc_scores:f32[batch,5]=normal",
        ids(50265, "decoder_input_ids", "decoder_sequence"),
    ],
    "logits",
    "facebook/rag-token-nq",
    {
        "question_encoder": {"model_type": "dpr", "num_hidden_layers": 1},
        "generator": {"model_type": "bart", **bart(12, 1024, 16, 4096, 50265, use_cache=False)},
    },
    const={"n_docs": 5, "do_marginalize": True, "use_cache": False},
    weightless=True,
    **dict(SEQ2SEQ, **RAG),
)
MODELS.add(
    "t5-small",
    "T5ForConditionalGeneration",
    text(32100) + [ids(32100, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "t5-small",
    {
        "d_model": 512,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "d_kv": 64,
        "decoder_start_token_id": 0,
        "use_cache": False,
    },
    **SEQ2SEQ,
)
MODELS.add(
    "bart-base",
    "BartForConditionalGeneration",
    text(50265) + [ids(50265, "decoder_input_ids", "decoder_sequence")],
    "logits encoder_last_hidden_state",
    "facebook/bart-base",
    bart(6, 768, 12, 3072, 50265, use_cache=False),
    **SEQ2SEQ,
)


def s2s(vocabulary, cls_inputs=None):
    return text(vocabulary) + [ids(vocabulary, "decoder_input_ids", "decoder_sequence")]


MODELS.add(
    "blenderbot-400m-distill",
    "BlenderbotForConditionalGeneration",
    s2s(8008),
    "logits encoder_last_hidden_state",
    "facebook/blenderbot-400M-distill",
    {
        "vocab_size": 8008,
        "d_model": 1280,
        "encoder_layers": 2,
        "decoder_layers": 12,
        "encoder_attention_heads": 32,
        "decoder_attention_heads": 32,
        "encoder_ffn_dim": 5120,
        "decoder_ffn_dim": 5120,
        "use_cache": False,
    },
    axes={"sequence": [1, 128], "decoder_sequence": [1, 128]},
    **SEQ2SEQ,
)
MODELS.add(
    "bigbird-pegasus",
    "BigBirdPegasusForConditionalGeneration",
    s2s(96103),
    "logits encoder_last_hidden_state",
    "google/bigbird-pegasus-large-arxiv",
    # As the published class goes up to 704 tokens; beyond, it attends in blocks.
    bart(16, 1024, 16, 4096, 96103, attention_type="original_full", use_cache=False),
    weightless=True,
    axes={"sequence": [1, 704]},
    **SEQ2SEQ,
)
MODELS.add(
    "pegasus-x",
    "PegasusXForConditionalGeneration",
    s2s(96103),
    "logits encoder_last_hidden_state",
    "google/pegasus-x-base",
    bart(12, 768, 12, 3072, 96103, use_cache=False, num_global_tokens=128, block_size=512),
    trace={"sequence": 1024},
    test={"sequence": (512, 1024)},
    weightless=True,
    axes={"sequence": [512, 4096]},
    **SEQ2SEQ,
)
MODELS.add(
    "nllb-moe-reduced",
    "NllbMoeForConditionalGeneration",
    s2s(256206),
    "logits encoder_last_hidden_state",
    "facebook/nllb-moe-54b",
    bart(
        4,
        256,
        4,
        1024,
        256206,
        use_cache=False,
        num_experts=8,
        encoder_sparse_step=2,
        decoder_sparse_step=2,
        expert_capacity=64,
    ),
    patches=["every_expert"],
    tracer="torchscript",
    reduced="layers 24->4, hidden 2048->256, heads 16->4, experts 128->8",
    settings={"_experts_implementation": "batched_mm"},
    **dict(SEQ2SEQ, arch="mixture-of-experts"),
)
MODELS.add(
    "switch-base-8",
    "SwitchTransformersForConditionalGeneration",
    s2s(32100),
    "logits",
    "google/switch-base-8",
    {
        "d_model": 768,
        "d_kv": 64,
        "d_ff": 3072,
        "num_layers": 12,
        "num_sparse_encoder_layers": 6,
        "num_decoder_layers": 12,
        "num_sparse_decoder_layers": 6,
        "num_heads": 12,
        "num_experts": 8,
        "use_cache": False,
        "decoder_start_token_id": 0,
    },
    patches=["every_expert"],
    tracer="torchscript",
    settings={"_experts_implementation": "batched_mm"},
    **dict(SEQ2SEQ, arch="mixture-of-experts"),
)
MODELS.add(
    "seamless-m4t-t2t-reduced",
    "SeamlessM4TForTextToText",
    s2s(256100),
    "logits encoder_last_hidden_state",
    "facebook/hf-seamless-m4t-medium",
    {
        "vocab_size": 256102,
        "hidden_size": 512,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "speech_encoder_layers": 1,
        "use_cache": False,
        "t2u_encoder_layers": 1,
        "t2u_decoder_layers": 1,
    },
    reduced="layers 12->6, hidden 1024->512, heads 16->8, ffn 4096->2048; text to text alone",
    **SEQ2SEQ,
)
MODELS.add(
    "rag-sequence-generator",
    "RagSequenceForGeneration",
    [
        "context_input_ids:i64[batch*5,sequence]=ids:50265",
        "context_attention_mask:i64[batch*5,sequence]=ones",
        "doc_scores:f32[batch,5]=normal",
        ids(50265, "decoder_input_ids", "decoder_sequence"),
    ],
    "logits",
    "facebook/rag-sequence-nq",
    {
        "question_encoder": {"model_type": "dpr", "num_hidden_layers": 1},
        "generator": {"model_type": "bart", **bart(12, 1024, 16, 4096, 50265, use_cache=False)},
    },
    const={"n_docs": 5, "use_cache": False},
    weightless=True,
    **dict(SEQ2SEQ, **RAG),
)
MODELS.add(
    "udop-large-text",
    "UdopForConditionalGeneration",
    [ids(33000), "bbox:f32[batch,sequence,4]=uniform:0:1", mask(), ids(33000, "decoder_input_ids", "decoder_sequence")],
    "logits",
    "microsoft/udop-large",
    {
        "d_model": 1024,
        "d_kv": 64,
        "d_ff": 4096,
        "num_layers": 24,
        "num_heads": 16,
        "use_cache": False,
        "decoder_start_token_id": 0,
    },
    weightless=True,
    **dict(SEQ2SEQ, family="multimodal", category="multimodal"),
)
