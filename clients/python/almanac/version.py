"""The version of the package, which it sends as its User-Agent."""
__version__ = "0.1.0"
