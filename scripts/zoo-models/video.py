"""Video."""

from common import HIDDEN, MULTI, VIDEO, ids, mask
from export.spec import Table

MODELS = Table()

MODELS.add(
    "xclip",
    "XCLIPModel",
    [ids(49000, batch="text_batch"), "pixel_values:f32[batch,8,3,224,224]=normal", mask(batch="text_batch")],
    "logits_per_video text_embeds video_embeds",
    "microsoft/xclip-base-patch32",
    axes={"sequence": [1, 77]},
    **dict(MULTI, category="video", task="zero-shot-video-classification"),
)
MODELS.add(
    "timesformer-base",
    "TimesformerForVideoClassification",
    ["pixel_values:f32[batch,8,3,224,224]=normal"],
    "logits",
    "facebook/timesformer-base-finetuned-k400",
    {"num_labels": 400},
    **VIDEO,
)
MODELS.add(
    "videomae-base",
    "VideoMAEForVideoClassification",
    ["pixel_values:f32[batch,16,3,224,224]=normal"],
    "logits",
    "MCG-NJU/videomae-base-finetuned-kinetics",
    {"num_labels": 400},
    **VIDEO,
)
MODELS.add(
    "vivit-base",
    "VivitForVideoClassification",
    ["pixel_values:f32[batch,32,3,224,224]=normal"],
    "logits",
    "google/vivit-b-16x2-kinetics400",
    {"num_labels": 400, "num_frames": 32},
    **VIDEO,
)
MODELS.add(
    "vjepa2-reduced",
    "VJEPA2Model",
    ["pixel_values_videos:f32[batch,16,3,256,256]=normal"],
    HIDDEN,
    "facebook/vjepa2-vitl-fpc64-256",
    {
        "frames_per_clip": 16,
        "hidden_size": 768,
        "num_attention_heads": 12,
        "num_hidden_layers": 6,
        "pred_num_hidden_layers": 4,
    },
    const={"skip_predictor": True},
    reduced="frames 64->16, layers 24->6, hidden 1024->768",
    **VIDEO,
)
