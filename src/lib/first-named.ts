/** How many occurrences of the same issue are listed individually. */
const NAMED = 20

/** A sentence for each of the first rows that `list` returns, and one if there are more. */
export async function firstNamed<Row>(
  list: (limit: number) => Promise<Row[]>,
  sentence: (row: Row) => string,
): Promise<string[]> {
  const rows = await list(NAMED + 1)
  const sentences = rows.slice(0, NAMED).map(sentence)
  return rows.length > NAMED ? [...sentences, `More than these ${NAMED} are affected.`] : sentences
}
