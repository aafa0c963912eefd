"""Image classifiers and encoders: transformers and mixers."""

from common import HIDDEN, POOLED, VISION, ids, pixels
from convnets import IMAGENET
from export.spec import Table

MODELS = Table()

MODELS.add(
    "vit-base",
    "ViTForImageClassification",
    [pixels()],
    "logits",
    "google/vit-base-patch16-224",
    {"num_labels": 1000},
    **VISION,
)
MODELS.add(
    "deit-tiny",
    "DeiTForImageClassification",
    [pixels()],
    "logits",
    "facebook/deit-tiny-patch16-224",
    {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768, "num_labels": 1000},
    **VISION,
)
MODELS.add(
    "beit-base",
    "BeitForImageClassification",
    [pixels()],
    "logits",
    "microsoft/beit-base-patch16-224",
    {**IMAGENET, "use_relative_position_bias": True, "layer_scale_init_value": 0.1},
    **VISION,
)
MODELS.add("cvt-13", "CvtForImageClassification", [pixels()], "logits", "microsoft/cvt-13", IMAGENET, **VISION)
MODELS.add(
    "data2vec-vision-base",
    "Data2VecVisionForImageClassification",
    [pixels()],
    "logits",
    "facebook/data2vec-vision-base",
    {**IMAGENET, "use_relative_position_bias": True},
    **VISION,
)
MODELS.add(
    "deit-small",
    "DeiTForImageClassification",
    [pixels()],
    "logits",
    "facebook/deit-small-patch16-224",
    {"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536, "num_labels": 1000},
    **VISION,
)
MODELS.add(
    "dinat-mini",
    "DinatForImageClassification",
    [pixels()],
    "logits",
    "shi-labs/dinat-mini-in1k-224",
    IMAGENET,
    tried="nothing further: the operators of natten are in no ONNX operator set",
    **VISION,
)
MODELS.add(
    "dinov2-small",
    "Dinov2Model",
    [pixels()],
    POOLED,
    "facebook/dinov2-small",
    {"hidden_size": 384, "num_attention_heads": 6},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "dinov2-base",
    "Dinov2Model",
    [pixels()],
    POOLED,
    "facebook/dinov2-base",
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "dinov3-vits16",
    "DINOv3ViTModel",
    [pixels()],
    POOLED,
    "facebook/dinov3-vits16-pretrain-lvd1689m",
    {"num_register_tokens": 4},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "dinov3-convnext-tiny",
    "DINOv3ConvNextModel",
    [pixels()],
    POOLED,
    "facebook/dinov3-convnext-tiny-pretrain-lvd1689m",
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "focalnet-tiny",
    "FocalNetForImageClassification",
    [pixels()],
    "logits",
    "microsoft/focalnet-tiny",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "hiera-tiny",
    "HieraForImageClassification",
    [pixels()],
    "logits",
    "facebook/hiera-tiny-224-in1k-hf",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "imagegpt-small",
    "ImageGPTModel",
    [ids(512)],
    HIDDEN,
    "openai/imagegpt-small",
    {"use_cache": False},
    axes={"sequence": [1, 1024]},
    **dict(VISION, arch="decoder-only"),
)
MODELS.add("levit-128s", "LevitForImageClassification", [pixels()], "logits", "facebook/levit-128S", IMAGENET, **VISION)
MODELS.add(
    "mobilevit-small",
    "MobileViTForImageClassification",
    [pixels(256)],
    "logits",
    "apple/mobilevit-small",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "mobilevitv2",
    "MobileViTV2ForImageClassification",
    [pixels(256)],
    "logits",
    "apple/mobilevitv2-1.0-imagenet1k-256",
    IMAGENET,
    **VISION,
)
MODELS.add("pvt-tiny", "PvtForImageClassification", [pixels()], "logits", "Zetatech/pvt-tiny-224", IMAGENET, **VISION)
MODELS.add("pvt-v2-b0", "PvtV2ForImageClassification", [pixels()], "logits", "OpenGVLab/pvt_v2_b0", IMAGENET, **VISION)
MODELS.add(
    "segformer-b0-classifier",
    "SegformerForImageClassification",
    [pixels()],
    "logits",
    "nvidia/mit-b0",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "swiftformer-xs",
    "SwiftFormerForImageClassification",
    [pixels()],
    "logits",
    "MBZUAI/swiftformer-xs",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "swin-tiny",
    "SwinForImageClassification",
    [pixels()],
    "logits",
    "microsoft/swin-tiny-patch4-window7-224",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "swinv2-tiny",
    "Swinv2ForImageClassification",
    [pixels(256)],
    "logits",
    "microsoft/swinv2-tiny-patch4-window8-256",
    {**IMAGENET, "image_size": 256, "window_size": 8},
    **VISION,
)
MODELS.add(
    "vit-mae-base",
    "ViTMAEModel",
    [pixels(), "noise:f32[batch,196]=uniform:0:1"],
    HIDDEN,
    "facebook/vit-mae-base",
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "vit-msn-base",
    "ViTMSNModel",
    [pixels()],
    HIDDEN,
    "facebook/vit-msn-base",
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "vit-small",
    "ViTModel",
    [pixels()],
    POOLED,
    "WinKawaks/vit-small-patch16-224",
    {"hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "vitdet-base",
    "VitDetModel",
    [pixels()],
    HIDDEN,
    "facebook/vitdet-base",
    {"window_size": 14, "window_block_indices": [0, 1, 3, 4, 6, 7, 9, 10], "use_relative_position_embeddings": True},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "clip-vit-b16-vision",
    "CLIPVisionModelWithProjection",
    [pixels()],
    "image_embeds",
    "openai/clip-vit-base-patch16",
    {"patch_size": 16},
    **dict(VISION, family="multimodal", task="image-feature-extraction"),
)
MODELS.add(
    "vit-large",
    "ViTForImageClassification",
    [pixels()],
    "logits",
    "google/vit-large-patch16-224",
    {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "num_labels": 1000,
    },
    **VISION,
)
MODELS.add(
    "vit-tiny",
    "ViTForImageClassification",
    [pixels()],
    "logits",
    "WinKawaks/vit-tiny-patch16-224",
    {"hidden_size": 192, "num_attention_heads": 3, "intermediate_size": 768, "num_labels": 1000},
    **VISION,
)
MODELS.add(
    "dinov2-registers-small",
    "Dinov2WithRegistersModel",
    [pixels()],
    POOLED,
    "facebook/dinov2-with-registers-small",
    {"hidden_size": 384, "num_attention_heads": 6},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "ijepa-huge",
    "IJepaModel",
    [pixels()],
    HIDDEN,
    "facebook/ijepa_vith14_1k",
    {
        "hidden_size": 1280,
        "num_hidden_layers": 32,
        "num_attention_heads": 16,
        "intermediate_size": 5120,
        "patch_size": 14,
    },
    weightless=True,
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "mgp-str-characters",
    "MgpstrForSceneTextRecognition",
    [pixels(32, 128)],
    "logits",
    "alibaba-damo/mgp-str-base",
    **dict(VISION, task="image-to-text"),
)
MODELS.add(
    "vitdet-backbone",
    "VitDetBackbone",
    [pixels()],
    "feature_maps",
    "facebook/vitdet-base",
    {"out_features": ["stage12"]},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "swin-base",
    "SwinModel",
    [pixels()],
    POOLED,
    "microsoft/swin-base-patch4-window7-224",
    {"embed_dim": 128, "depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32]},
    **dict(VISION, task="image-feature-extraction"),
)
MODELS.add(
    "mlp-mixer-b16",
    "timm.mixer_b16_224",
    [pixels()],
    "logits",
    "timm/mixer_b16_224.goog_in21k_ft_in1k",
    adapter="Sequence",
    **VISION,
)
MODELS.add(
    "beit3-base-image",
    "timm.beit3_base_patch16_224",
    [pixels()],
    "logits",
    "timm/beit3_base_patch16_224.in22k_ft_in1k",
    adapter="Sequence",
    **VISION,
)
