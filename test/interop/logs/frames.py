"""Runs what docs/data.md shows for DuckDB, pandas and polars, in a folder with an export, and looks at the types."""
import datetime
import decimal
import re
import sys

import duckdb
import pandas

blocks = re.findall(r"```(sql|python)\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
assert [kind for kind, _ in blocks] == ["sql", "python", "python"], blocks
for kind, text in blocks:
    if kind == "sql":
        rows = duckdb.sql(text).fetchall()
        assert len(rows) >= 2 and all(isinstance(row[2], decimal.Decimal) for row in rows), rows
    else:
        exec(compile(text, "docs/data.md", "exec"), {})
answers = pandas.read_parquet("tables/answers.parquet")
assert str(answers["settled_at"].dtype).startswith("datetime64") and str(answers["settled_at"].dtype).endswith("UTC]"), answers["settled_at"].dtype
assert isinstance(answers["cost_usd"].dropna().iloc[0], decimal.Decimal)
assert answers["settled_at"].max() < pandas.Timestamp(datetime.datetime.now(datetime.timezone.utc))
print(f"frames: {len(answers)} answers, {answers['cost_usd'].dropna().sum()} USD")
