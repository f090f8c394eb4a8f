"""ONNX export of trained models, and their inference without torch.

`export` writes a folder and needs torch, onnx and onnxscript; `load` reads it and needs onnxruntime.
"""
