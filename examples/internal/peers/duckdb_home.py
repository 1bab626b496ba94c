"""Lays DuckDB's extensions, which came as Python packages, where DuckDB looks for installed ones in the home HOME."""

import importlib
import pathlib
import shutil
import sys

import duckdb

platform = duckdb.sql("pragma platform").fetchone()[0]
for package in ("duckdb_extension_avro", "duckdb_extension_httpfs", "duckdb_extension_iceberg"):
    for folder in importlib.import_module(package).__path__:
        files = list(pathlib.Path(folder).glob("extensions/*/*.duckdb_extension"))
        assert files, f"{package} holds no extension"
        for file in files:
            target = pathlib.Path(sys.argv[1], ".duckdb", "extensions", file.parent.name, platform)
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)

assert duckdb.sql("select count(*) from duckdb_extensions() where extension_name = 'iceberg'").fetchone() == (1,)
