"""BERT, RoBERTa and their near kin, with heads."""

from common import HIDDEN, POOLED, RAG, TEXT, text
from export.spec import Table

MODELS = Table()

MODELS.add("bert-base", "BertModel", text(30522, True), POOLED, "bert-base-uncased", **TEXT)
MODELS.add(
    "bert-tiny",
    "BertModel",
    text(30522, True),
    POOLED,
    "prajjwal1/bert-tiny",
    {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512},
    **TEXT,
)
MODELS.add("distilbert", "DistilBertModel", text(30522), HIDDEN, "distilbert-base-uncased", **TEXT)
MODELS.add(
    "roberta-base",
    "RobertaModel",
    text(50265),
    POOLED,
    "roberta-base",
    {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
MODELS.add(
    "all-minilm-l6",
    "BertModel",
    text(30522, True),
    HIDDEN,
    "sentence-transformers/all-MiniLM-L6-v2",
    {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
    **TEXT,
)
MODELS.add(
    "bge-small",
    "BertModel",
    text(30522, True),
    HIDDEN,
    "BAAI/bge-small-en-v1.5",
    {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536},
    **TEXT,
)
MODELS.add(
    "albert-base",
    "AlbertModel",
    text(30000, True),
    POOLED,
    "albert/albert-base-v2",
    {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    **TEXT,
)
MODELS.add(
    "camembert-base",
    "CamembertModel",
    text(32005),
    POOLED,
    "almanach/camembert-base",
    {"vocab_size": 32005, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
MODELS.add(
    "data2vec-text-base",
    "Data2VecTextModel",
    text(50265),
    POOLED,
    "facebook/data2vec-text-base",
    {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
MODELS.add(
    "deberta-base",
    "DebertaModel",
    text(50265),
    HIDDEN,
    "microsoft/deberta-base",
    {
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": False,
        "max_relative_positions": -1,
        "type_vocab_size": 0,
        "vocab_size": 50265,
    },
    **TEXT,
)
MODELS.add(
    "deberta-v3-small",
    "DebertaV2Model",
    text(128100),
    HIDDEN,
    "microsoft/deberta-v3-small",
    {
        "hidden_size": 768,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "vocab_size": 128100,
        "relative_attention": True,
        "position_buckets": 256,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "type_vocab_size": 0,
        "max_relative_positions": -1,
        "position_biased_input": False,
    },
    **TEXT,
)
MODELS.add(
    "dpr-question",
    "DPRQuestionEncoder",
    text(30522, True),
    "pooler_output",
    "facebook/dpr-question_encoder-single-nq-base",
    **dict(TEXT, arch="rag"),
)
MODELS.add("electra-small", "ElectraModel", text(30522, True), HIDDEN, "google/electra-small-discriminator", **TEXT)
MODELS.add("ernie-base", "ErnieModel", text(30522, True), POOLED, "nghuyong/ernie-2.0-base-en", **TEXT)
MODELS.add(
    "megatron-bert-345m", "MegatronBertModel", text(29056, True), POOLED, "nvidia/megatron-bert-uncased-345m", **TEXT
)
MODELS.add("mobilebert", "MobileBertModel", text(30522, True), HIDDEN, "google/mobilebert-uncased", **TEXT)
MODELS.add(
    "modernbert-base",
    "ModernBertModel",
    text(50280),
    HIDDEN,
    "answerdotai/ModernBERT-base",
    axes={"sequence": [1, 8192]},
    **TEXT,
)
MODELS.add(
    "mpnet-base",
    "MPNetModel",
    text(30527),
    POOLED,
    "microsoft/mpnet-base",
    {"vocab_size": 30527, "max_position_embeddings": 514},
    **TEXT,
)
MODELS.add(
    "rembert",
    "RemBertModel",
    text(250300, True),
    POOLED,
    "google/rembert",
    weightless=True,
    **TEXT,
)
MODELS.add(
    "xlm-roberta-base",
    "XLMRobertaModel",
    text(250002),
    POOLED,
    "FacebookAI/xlm-roberta-base",
    {"vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1},
    **TEXT,
)
MODELS.add(
    "roberta-prelayernorm-large",
    "RobertaPreLayerNormModel",
    text(50265),
    POOLED,
    "andreasmadsen/efficient_mlm_m0.40",
    {
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "num_hidden_layers": 24,
        "hidden_size": 1024,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    weightless=True,
    **TEXT,
)
MODELS.add("nomic-bert", "NomicBertModel", text(30522), HIDDEN, "nomic-ai/nomic-embed-text-v1.5", **TEXT)
MODELS.add("eurobert-210m", "EuroBertModel", text(128256), HIDDEN, "EuroBERT/EuroBERT-210m", **TEXT)
MODELS.add(
    "dpr-context",
    "DPRContextEncoder",
    text(30522, True),
    "pooler_output",
    "facebook/dpr-ctx_encoder-single-nq-base",
    **dict(TEXT, **RAG),
)
MODELS.add(
    "dpr-reader",
    "DPRReader",
    text(30522),
    "start_logits end_logits relevance_logits",
    "facebook/dpr-reader-single-nq-base",
    **dict(TEXT, **RAG),
)
MODELS.add(
    "distilbert-sst2",
    "DistilBertForSequenceClassification",
    text(30522),
    "logits",
    "distilbert-base-uncased-finetuned-sst-2-english",
    **dict(TEXT, task="text-classification"),
)
MODELS.add(
    "bert-base-ner",
    "BertForTokenClassification",
    text(28996, True),
    "logits",
    "dslim/bert-base-NER",
    {"vocab_size": 28996, "num_labels": 9},
    **dict(TEXT, task="token-classification"),
)
MODELS.add(
    "bert-base-mlm", "BertForMaskedLM", text(30522, True), "logits", "bert-base-uncased", **dict(TEXT, task="fill-mask")
)
MODELS.add(
    "roberta-base-squad2",
    "RobertaForQuestionAnswering",
    text(50265),
    "start_logits end_logits",
    "deepset/roberta-base-squad2",
    {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    **dict(TEXT, task="question-answering"),
)
MODELS.add(
    "minilm-cross-encoder",
    "BertForSequenceClassification",
    text(30522, True),
    "logits",
    "cross-encoder/ms-marco-MiniLM-L6-v2",
    {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536, "num_labels": 1},
    **dict(TEXT, task="text-classification"),
)
MODELS.add(
    "distilroberta",
    "RobertaModel",
    text(50265),
    HIDDEN,
    "distilbert/distilroberta-base",
    {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1, "num_hidden_layers": 6},
    **TEXT,
)
MODELS.add(
    "multilingual-e5-small",
    "XLMRobertaModel",
    text(250037),
    HIDDEN,
    "intfloat/multilingual-e5-small",
    {
        "vocab_size": 250037,
        "hidden_size": 384,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    },
    **TEXT,
)
MODELS.add(
    "bert-large",
    "BertModel",
    text(30522, True),
    POOLED,
    "bert-large-uncased",
    {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
    **TEXT,
)
MODELS.add(
    "bert-mini",
    "BertModel",
    text(30522, True),
    POOLED,
    "prajjwal1/bert-mini",
    {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024},
    **TEXT,
)
MODELS.add(
    "electra-base",
    "ElectraModel",
    text(30522, True),
    HIDDEN,
    "google/electra-base-discriminator",
    {"hidden_size": 768, "embedding_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    **TEXT,
)
MODELS.add(
    "bert-generation-large",
    "BertGenerationEncoder",
    text(50358),
    HIDDEN,
    "google/bert_for_seq_generation_L-24_bbc_encoder",
    weightless=True,
    **TEXT,
)
