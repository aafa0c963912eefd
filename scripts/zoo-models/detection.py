"""Detection, segmentation, depth, keypoints."""

from common import DETECTION, HIDDEN, SEGMENTATION, VISION, pixels
from export.spec import Table

MODELS = Table()

MODELS.add(
    "detr-resnet-50",
    "DetrForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "facebook/detr-resnet-50",
    {
        "use_timm_backbone": False,
        "use_pretrained_backbone": False,
        "backbone": None,
        "backbone_config": {"model_type": "resnet", "out_features": ["stage4"]},
    },
    **DETECTION,
)
RESNET_50 = {
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": None,
    "backbone_config": {"model_type": "resnet", "out_features": ["stage4"]},
}
MODELS.add(
    "conditional-detr",
    "ConditionalDetrForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "microsoft/conditional-detr-resnet-50",
    RESNET_50,
    **DETECTION,
)
MODELS.add(
    "deformable-detr",
    "DeformableDetrForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "SenseTime/deformable-detr",
    {**RESNET_50, "backbone_config": {"model_type": "resnet", "out_features": ["stage2", "stage3", "stage4"]}},
    **DETECTION,
)
MODELS.add(
    "dpt-large",
    "DPTForDepthEstimation",
    [pixels(384)],
    "predicted_depth",
    "Intel/dpt-large",
    {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "backbone_out_indices": [5, 11, 17, 23],
        "neck_hidden_sizes": [256, 512, 1024, 1024],
    },
    **dict(VISION, task="depth-estimation"),
)
MODELS.add(
    "depth-anything-small",
    "DepthAnythingForDepthEstimation",
    [pixels(392)],
    "predicted_depth",
    "LiheYoung/depth-anything-small-hf",
    {
        "backbone_config": {
            "model_type": "dinov2",
            "image_size": 518,
            "hidden_size": 384,
            "num_attention_heads": 6,
            "out_indices": [9, 10, 11, 12],
            "apply_layernorm": True,
            "reshape_hidden_states": False,
        },
        "reassemble_hidden_size": 384,
        "neck_hidden_sizes": [48, 96, 192, 384],
        "fusion_hidden_size": 64,
    },
    **dict(VISION, task="depth-estimation"),
)
MODELS.add(
    "glpn",
    "GLPNForDepthEstimation",
    [pixels(256)],
    "predicted_depth",
    "vinvino02/glpn-kitti",
    **dict(VISION, task="depth-estimation"),
)
SWIN_TINY = {"model_type": "swin", "out_features": ["stage1", "stage2", "stage3", "stage4"]}
MODELS.add(
    "mask2former-swin-tiny",
    "Mask2FormerForUniversalSegmentation",
    [pixels(256)],
    "class_queries_logits masks_queries_logits",
    "facebook/mask2former-swin-tiny-coco-instance",
    {"backbone_config": {**SWIN_TINY, "drop_path_rate": 0.3}},
    **SEGMENTATION,
)
MODELS.add(
    "maskformer-swin-tiny",
    "MaskFormerForInstanceSegmentation",
    [pixels(256)],
    "class_queries_logits masks_queries_logits",
    "facebook/maskformer-swin-tiny-coco",
    {"backbone_config": SWIN_TINY},
    **SEGMENTATION,
)
MODELS.add(
    "rt-detr-r18",
    "RTDetrForObjectDetection",
    [pixels(640)],
    "logits pred_boxes",
    "PekingU/rtdetr_r18vd",
    {
        "backbone_config": {
            "model_type": "rt_detr_resnet",
            "embedding_size": 64,
            "hidden_sizes": [64, 128, 256, 512],
            "depths": [2, 2, 2, 2],
            "layer_type": "basic",
            "out_features": ["stage2", "stage3", "stage4"],
        },
        "encoder_in_channels": [128, 256, 512],
        "decoder_layers": 3,
        "hidden_expansion": 0.5,
    },
    **DETECTION,
)
MODELS.add(
    "sam-vit-b-vision",
    "SamVisionModel",
    [pixels(1024)],
    HIDDEN,
    "facebook/sam-vit-base",
    {"image_size": 1024},
    **SEGMENTATION,
)
MODELS.add(
    "segformer-b0",
    "SegformerForSemanticSegmentation",
    [pixels(512)],
    "logits",
    "nvidia/segformer-b0-finetuned-ade-512-512",
    {"num_labels": 150},
    **SEGMENTATION,
)
MODELS.add(
    "superpoint",
    "SuperPointForKeypointDetection",
    ["pixel_values:f32[1,3,480,640]=uniform:0:1"],
    "keypoints scores descriptors",
    "magic-leap-community/superpoint",
    **dict(VISION, task="keypoint-detection"),
)
MODELS.add(
    "swin2sr-x2",
    "Swin2SRForImageSuperResolution",
    [pixels(64)],
    "reconstruction",
    "caidas/swin2SR-classical-sr-x2-64",
    **dict(VISION, task="image-to-image"),
)
MODELS.add(
    "table-transformer",
    "TableTransformerForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "microsoft/table-transformer-detection",
    {
        **RESNET_50,
        "backbone_config": {
            "model_type": "resnet",
            "out_features": ["stage4"],
            "hidden_sizes": [64, 128, 256, 512],
            "depths": [2, 2, 2, 2],
            "layer_type": "basic",
        },
        "num_queries": 15,
        "num_labels": 2,
    },
    **DETECTION,
)
MODELS.add(
    "upernet-convnext-tiny",
    "UperNetForSemanticSegmentation",
    [pixels(256)],
    "logits",
    "openmmlab/upernet-convnext-tiny",
    {
        "backbone_config": {
            "model_type": "convnext",
            "hidden_sizes": [96, 192, 384, 768],
            "depths": [3, 3, 9, 3],
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
        },
        "num_labels": 150,
    },
    **SEGMENTATION,
)
MODELS.add(
    "vitmatte-small",
    "VitMatteForImageMatting",
    [pixels(256, channels=4)],
    "alphas",
    "hustvl/vitmatte-small-composition-1k",
    {
        "backbone_config": {
            "model_type": "vitdet",
            "num_channels": 4,
            "image_size": 512,
            "pretrain_image_size": 224,
            "patch_size": 16,
            "hidden_size": 384,
            "num_attention_heads": 6,
            "use_relative_position_embeddings": True,
            "window_size": 14,
            "window_block_indices": [0, 1, 3, 4, 6, 7, 9, 10],
            "residual_block_indices": [2, 5, 8, 11],
            "out_features": ["stage12"],
        },
        "hidden_size": 384,
        "convstream_hidden_sizes": [48, 96, 192],
        "fusion_hidden_sizes": [256, 128, 64, 32],
    },
    **SEGMENTATION,
)
MODELS.add(
    "vitpose-base",
    "VitPoseForPoseEstimation",
    [pixels(256, 192)],
    "heatmaps",
    "usyd-community/vitpose-base-simple",
    {"backbone_config": {"model_type": "vitpose_backbone", "out_features": ["stage12"]}},
    **dict(VISION, task="keypoint-detection"),
)
MODELS.add(
    "yolos-tiny",
    "YolosForObjectDetection",
    [pixels(512)],
    "logits pred_boxes",
    "hustvl/yolos-tiny",
    {
        "hidden_size": 192,
        "num_attention_heads": 3,
        "intermediate_size": 768,
        "image_size": [800, 1333],
        "use_mid_position_embeddings": False,
    },
    **DETECTION,
)
MODELS.add(
    "dab-detr",
    "DabDetrForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "IDEA-Research/dab-detr-resnet-50",
    RESNET_50,
    **DETECTION,
)
MODELS.add(
    "zoedepth-reduced",
    "ZoeDepthForDepthEstimation",
    [pixels(256)],
    "predicted_depth",
    "Intel/zoedepth-nyu",
    {
        "backbone_config": {
            "model_type": "beit",
            "image_size": 256,
            "num_hidden_layers": 12,
            "hidden_size": 384,
            "intermediate_size": 1536,
            "num_attention_heads": 6,
            "use_relative_position_bias": True,
            "reshape_hidden_states": False,
            "out_features": ["stage3", "stage6", "stage9", "stage12"],
        },
        "backbone_hidden_size": 384,
        "neck_hidden_sizes": [96, 192, 384, 384],
    },
    optimize=False,
    reduced="layers 24->12, hidden 1024->384, image 384->256",
    **dict(VISION, task="depth-estimation"),
)
MODELS.add(
    "sam-mask-decoder",
    "SamModel",
    [
        "image_embeddings:f32[batch,256,64,64]=normal",
        "input_points:f32[batch,1,points,2]=uniform:0:1024",
        "input_labels:i64[batch,1,points]=ones",
    ],
    "iou_scores pred_masks",
    "facebook/sam-vit-base",
    const={"multimask_output": True},
    **SEGMENTATION,
)
MODELS.add(
    "detr-resnet-101",
    "DetrForObjectDetection",
    [pixels(512), "pixel_mask:i64[batch,512,512]=ones"],
    "logits pred_boxes",
    "facebook/detr-resnet-101",
    {**RESNET_50, "backbone_config": {"model_type": "resnet", "out_features": ["stage4"], "depths": [3, 4, 23, 3]}},
    **DETECTION,
)
MODELS.add(
    "sam-vit-base",
    "SamModel",
    [
        pixels(1024),
        "input_points:f32[batch,1,points,2]=uniform:0:1024",
        "input_labels:i64[batch,1,points]=ones",
    ],
    "iou_scores pred_masks",
    "facebook/sam-vit-base",
    const={"multimask_output": True},
    weightless=True,
    **SEGMENTATION,
)
