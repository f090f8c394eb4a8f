"""Models whose network is an ONNX file, which predict without torch.

`export` writes them and needs torch, onnx and onnxscript; `load` reads them and needs onnxruntime.
"""
