/** How many of the same issue are named one by one; more of them say nothing new. */
const NAMED = 20

/** A sentence for each of the first rows that `list` answers, and one that there are more. */
export async function firstNamed<Row>(
  list: (limit: number) => Promise<Row[]>,
  sentence: (row: Row) => string,
): Promise<string[]> {
  const rows = await list(NAMED + 1)
  const sentences = rows.slice(0, NAMED).map(sentence)
  return rows.length > NAMED ? [...sentences, `The same holds for more than these ${NAMED}.`] : sentences
}
