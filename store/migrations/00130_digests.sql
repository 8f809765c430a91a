-- Few studies reuse answers, and entries in random order are dear: the index is made when somebody first looks for equal requests.
DROP INDEX attempts_digest;
