"""Image classifiers: convolution networks."""

from common import VISION, pixels
from export.spec import Table

MODELS = Table()

MODELS.add(
    "resnet-50",
    "ResNetForImageClassification",
    [pixels()],
    "logits",
    "microsoft/resnet-50",
    {"num_labels": 1000},
    **VISION,
)
MODELS.add(
    "convnext-tiny",
    "ConvNextForImageClassification",
    [pixels()],
    "logits",
    "facebook/convnext-tiny-224",
    {"num_labels": 1000},
    **VISION,
)
IMAGENET = {"num_labels": 1000}
MODELS.add("bit-50", "BitForImageClassification", [pixels()], "logits", "google/bit-50", IMAGENET, **VISION)
MODELS.add(
    "convnextv2-tiny",
    "ConvNextV2ForImageClassification",
    [pixels()],
    "logits",
    "facebook/convnextv2-tiny-1k-224",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "efficientnet-b0",
    "EfficientNetForImageClassification",
    [pixels()],
    "logits",
    "google/efficientnet-b0",
    {**IMAGENET, "width_coefficient": 1.0, "depth_coefficient": 1.0, "image_size": 224, "hidden_dim": 1280},
    **VISION,
)
MODELS.add(
    "mobilenet-v1",
    "MobileNetV1ForImageClassification",
    [pixels()],
    "logits",
    "google/mobilenet_v1_1.0_224",
    {"num_labels": 1001},
    **VISION,
)
MODELS.add(
    "mobilenet-v2",
    "MobileNetV2ForImageClassification",
    [pixels()],
    "logits",
    "google/mobilenet_v2_1.0_224",
    {"num_labels": 1001},
    **VISION,
)
MODELS.add(
    "poolformer-s12",
    "PoolFormerForImageClassification",
    [pixels()],
    "logits",
    "sail/poolformer_s12",
    IMAGENET,
    **VISION,
)
MODELS.add(
    "regnet-y-040", "RegNetForImageClassification", [pixels()], "logits", "facebook/regnet-y-040", IMAGENET, **VISION
)
MODELS.add(
    "resnet-18",
    "ResNetForImageClassification",
    [pixels()],
    "logits",
    "microsoft/resnet-18",
    {**IMAGENET, "hidden_sizes": [64, 128, 256, 512], "depths": [2, 2, 2, 2], "layer_type": "basic"},
    **VISION,
)
MODELS.add(
    "resnet-101",
    "ResNetForImageClassification",
    [pixels()],
    "logits",
    "microsoft/resnet-101",
    {"num_labels": 1000, "depths": [3, 4, 23, 3]},
    **VISION,
)
MODELS.add(
    "convnext-small",
    "ConvNextForImageClassification",
    [pixels()],
    "logits",
    "facebook/convnext-small-224",
    {"num_labels": 1000, "depths": [3, 3, 27, 3]},
    **VISION,
)
MODELS.add(
    "textnet-tiny",
    "TextNetForImageClassification",
    [pixels()],
    "logits",
    "czczup/textnet-tiny",
    {"num_labels": 1000},
    **VISION,
)
MODELS.add(
    "hgnet-v2",
    "HGNetV2ForImageClassification",
    [pixels()],
    "logits",
    "ustc-community/hgnet-v2",
    {"num_labels": 1000},
    **VISION,
)
