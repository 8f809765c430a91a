-- Few studies reuse answers, and entries in random order are dear: in SQLite the index is made when somebody first looks for
-- equal requests.
{{drop}} attempts_digest;
