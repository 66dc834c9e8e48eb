"""Names of data sets: the built-in ones, and the prefixes of files of the user's own."""

__all__ = ["BUILT_IN", "CSV", "NPZ", "OWN_FILES", "PARQUET", "TABLES"]

BUILT_IN = ("digits", "mnist", "cifar10", "imagenette")
NPZ, CSV, PARQUET = "npz:", "csv:", "parquet:"  # followed by the path of the file
TABLES = (CSV, PARQUET)
OWN_FILES = (NPZ, *TABLES)
