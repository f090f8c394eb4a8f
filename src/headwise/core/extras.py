"""The line that installs the libraries of an extra, for messages.

It names the libraries, as `pip install '.[serve]'` needs the source folder and compiles headwise again.
"""

EXTRAS = {
    "tables": ("openpyxl", "pyarrow", "defusedxml"),
    "spacy": ("spacy",),
    "pretrained": ("'transformers<6'",),
    "hub": ("huggingface-hub",),
    "serve": ("fastapi", "uvicorn"),
    "onnx": ("onnx", "onnxscript", "onnxruntime"),
}
"""The libraries of each extra whose absence a message reports, beside those of `train`."""


def install_line(extra: str) -> str:
    """The command that installs the libraries of an extra (a key of `EXTRAS`)."""
    return f"pip install {' '.join(EXTRAS[extra])}"
