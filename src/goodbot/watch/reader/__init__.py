"""Opens logs, compressed or not, and reads them in blocks of whole lines."""
