"""Several encoders, or one over several kinds of input."""

from common import MULTI, POOLED, ids, mask, pixels
from export.spec import Table

MODELS = Table()

MODELS.add(
    "clip-vit-b32",
    "CLIPModel",
    [ids(49000, batch="text_batch"), pixels(), mask(batch="text_batch")],
    "logits_per_image logits_per_text text_embeds image_embeds",
    "openai/clip-vit-base-patch32",
    axes={"sequence": [1, 77]},
    **MULTI,
)
MODELS.add(
    "clap",
    "ClapModel",
    [
        ids(50000, batch="text_batch"),
        "input_features:f32[batch,1,1001,64]=normal",
        "is_longer:bool[batch,1]=zeros",
        mask(batch="text_batch"),
    ],
    "logits_per_audio logits_per_text text_embeds audio_embeds",
    "laion/clap-htsat-unfused",
    axes={"sequence": [1, 512]},
    **dict(MULTI, family="multimodal", task="zero-shot-audio-classification"),
)
MODELS.add(
    "lxmert-base",
    "LxmertModel",
    [ids(30522), "visual_feats:f32[batch,36,2048]=normal", "visual_pos:f32[batch,36,4]=uniform:0:1", mask()],
    "language_output vision_output pooled_output",
    "unc-nlp/lxmert-base-uncased",
    **dict(MULTI, category="vision-language", task="visual-question-answering"),
)
MODELS.add(
    "visual-bert",
    "VisualBertModel",
    [
        ids(30522),
        mask(),
        "token_type_ids:i64[batch,sequence]=zeros",
        "visual_embeds:f32[batch,36,2048]=normal",
        "visual_attention_mask:f32[batch,36]=ones",
        "visual_token_type_ids:i64[batch,36]=ones",
    ],
    POOLED,
    "uclanlp/visualbert-vqa-coco-pre",
    {"visual_embedding_dim": 2048},
    **dict(MULTI, category="vision-language", task="visual-question-answering"),
)
MODELS.add(
    "align-base",
    "AlignModel",
    [
        ids(30522, batch="text_batch"),
        pixels(289),
        mask(batch="text_batch"),
        "token_type_ids:i64[text_batch,sequence]=zeros",
    ],
    "logits_per_image text_embeds image_embeds",
    "kakaobrain/align-base",
    {"vision_config": {"image_size": 289}},
    **MULTI,
)
MODELS.add(
    "blip-itm-base-towers",
    "BlipModel",
    [ids(30522, batch="text_batch"), pixels(384), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "Salesforce/blip-itm-base-coco",
    **MULTI,
)
MODELS.add(
    "bridgetower-base",
    "BridgeTowerModel",
    [ids(50265), mask(), pixels(288)],
    "pooler_output text_features",
    "BridgeTower/bridgetower-base",
    **dict(MULTI, category="vision-language", task="visual-question-answering"),
)
MODELS.add(
    "chinese-clip-b16",
    "ChineseCLIPModel",
    [ids(21128, batch="text_batch"), pixels(), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "OFA-Sys/chinese-clip-vit-base-patch16",
    {
        "text_config": {"vocab_size": 21128},
        "vision_config": {
            "patch_size": 16,
            "num_hidden_layers": 12,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
        },
    },
    **MULTI,
)
MODELS.add(
    "clipseg-rd64",
    "CLIPSegForImageSegmentation",
    [ids(49000), pixels(352), mask()],
    "logits",
    "CIDAS/clipseg-rd64-refined",
    {"vision_config": {"patch_size": 16}},
    axes={"sequence": [1, 77]},
    **dict(MULTI, category="vision-language", task="image-segmentation"),
)
MODELS.add(
    "flava", "FlavaModel", [ids(30522), pixels(), mask()], "multimodal_embeddings", "facebook/flava-full", **MULTI
)
MODELS.add(
    "groupvit",
    "GroupViTModel",
    [ids(49000, batch="text_batch"), pixels(), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "nvidia/groupvit-gcc-yfcc",
    axes={"sequence": [1, 77]},
    **MULTI,
)
MODELS.add(
    "owlvit-b32",
    "OwlViTForObjectDetection",
    [ids(49000, batch="batch*2"), pixels(768), mask(batch="batch*2")],
    "logits pred_boxes",
    "google/owlvit-base-patch32",
    axes={"sequence": [1, 16]},
    test={"sequence": (16, 16)},
    trace={"sequence": 16},
    **dict(MULTI, category="vision-language", task="zero-shot-object-detection"),
)
MODELS.add(
    "siglip-b16",
    "SiglipModel",
    [ids(32000, batch="text_batch"), pixels()],
    "logits_per_image text_embeds image_embeds",
    "google/siglip-base-patch16-224",
    {"text_config": {"bos_token_id": 1, "eos_token_id": 1}},
    axes={"sequence": [1, 64]},
    **MULTI,
)
MODELS.add(
    "siglip2-b16",
    "Siglip2Model",
    [
        ids(256000, batch="text_batch"),
        "pixel_values:f32[1,256,768]=normal",
        "pixel_attention_mask:i64[1,256]=ones",
        "spatial_shapes:i64[1,2]=const:16",
    ],
    "logits_per_image text_embeds image_embeds",
    "google/siglip2-base-patch16-naflex",
    {"text_config": {"vocab_size": 256000, "bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0}},
    axes={"sequence": [1, 64]},
    **MULTI,
)
MODELS.add(
    "vilt-b32",
    "ViltModel",
    [ids(30522), mask(), "token_type_ids:i64[batch,sequence]=zeros", pixels(384), "pixel_mask:i64[batch,384,384]=ones"],
    POOLED,
    "dandelin/vilt-b32-mlm",
    axes={"sequence": [1, 40]},
    test={"sequence": (16, 40)},
    patches=["vilt_whole_image"],
    **dict(MULTI, category="vision-language", task="visual-question-answering"),
)
MODELS.add(
    "owlv2-b16",
    "Owlv2Model",
    [ids(49000, batch="text_batch"), pixels(960), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "google/owlv2-base-patch16",
    {"vision_config": {"image_size": 960}},
    axes={"sequence": [1, 16]},
    test={"sequence": (8, 16)},
    trace={"sequence": 12},
    weightless=True,
    **MULTI,
)
MODELS.add(
    "altclip-reduced",
    "AltCLIPModel",
    [ids(250002, batch="text_batch"), pixels(), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "BAAI/AltCLIP",
    {
        "text_config": {
            "hidden_size": 384,
            "num_hidden_layers": 6,
            "num_attention_heads": 6,
            "intermediate_size": 1536,
        },
        "vision_config": {"patch_size": 16},
    },
    reduced="text layers 24->6, hidden 1024->384; vision large->base",
    **MULTI,
)
MODELS.add(
    "clip-italian",
    "VisionTextDualEncoderModel",
    [ids(31102, batch="text_batch"), pixels(), mask(batch="text_batch")],
    "logits_per_image text_embeds image_embeds",
    "clip-italian/clip-italian",
    {
        "vision_config": {
            "model_type": "clip_vision_model",
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
            "patch_size": 32,
        },
        "text_config": {"model_type": "bert", "vocab_size": 31102},
    },
    **MULTI,
)
