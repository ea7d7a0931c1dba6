"""PyTorch's own encoder as an oracle: its weights under the names of the book's transformer."""

import torch


def encoder_weights(encoder):
    """The layers' weights of PyTorch's encoder under the book's names, detached.

    Embedding, positions and read-out are not part of that encoder and not of the result.
    """
    weights = {}
    for i, layer in enumerate(encoder.layers):
        heads = layer.self_attn
        names = ("query", "key", "value")
        matrices = heads.in_proj_weight.chunk(3)
        block = dict(zip(names, (m.mT for m in matrices), strict=True))
        block["project"] = heads.out_proj.weight.mT
        if heads.in_proj_bias is not None:
            biases = (f"{name}_bias" for name in names)
            block |= dict(zip(biases, heads.in_proj_bias.chunk(3), strict=True))
            block["project_bias"] = heads.out_proj.bias
        block |= {"hidden": layer.linear1.weight.mT, "hidden_bias": layer.linear1.bias}
        block |= {"output": layer.linear2.weight.mT, "output_bias": layer.linear2.bias}
        for norm in ("norm1", "norm2"):
            block |= {f"{norm}.gain": getattr(layer, norm).weight}
            block |= {f"{norm}.bias": getattr(layer, norm).bias}
        weights |= {f"layers.{i}.{name}": v.detach().clone() for name, v in block.items()}
    if isinstance(encoder.norm, torch.nn.LayerNorm):
        weights |= {"norm.gain": encoder.norm.weight.detach().clone()}
        weights |= {"norm.bias": encoder.norm.bias.detach().clone()}
    return weights
