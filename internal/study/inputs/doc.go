// Package inputs streams the items of a study's named inputs.
//
// One input goes through these steps, in this order:
//
//	read    the rows of the source, in the order of the file (the files of a folder by path)
//	id      from the field `id:` names, else from `id`, else made from the row or the file
//	rows    `rows:` counts the rows of the source from 1, kept or not, as made ids do
//	join    `join:` puts a row of another source under a field
//	dress   `text:`, `cluster:` and `expect:`, which may reach inside what was joined
//	where   `where:` drops items
//	sample  `sample:` keeps the n items whose hash of seed and id is smallest, in the order of the file
//	limit   `limit:` keeps the first n
//
// An input `of` another begins with that one's result instead of a file: its `rows:` count the items of that result, and
// the ids stay those of the whole.
//
// Made ids: in a single file the number of the row; for a file that is one item its path in the folder without the
// suffix; for rows of a file in a folder, and for the elements of `inputs` in a JSON object, that path, a dash and the
// number. Ids are kept as they are written; a number becomes its decimal text.
//
// Values: CSV and plain text give strings. JSON and parquet keep their types: int64 for integers that fit, json.Number
// for numbers that fit neither int64 nor float64, float64 for the rest.
//
// Nothing is held whole: a value may have 32 MB, the far side of a join 256 MB, and the search for equal ids takes at
// most 16 bytes an item.
package inputs
