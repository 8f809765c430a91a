"""Reads logs and writes them anew with Inspect's own writer."""
import os
import sys

from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

os.makedirs(sys.argv[2])
for info in list_eval_logs(sys.argv[1]):
    write_eval_log(read_eval_log(info.name), os.path.join(sys.argv[2], os.path.basename(info.name)))
