/** The order of rows that are all here, by the values of a column. */

export type SortValue = string | number | boolean | null | undefined

const texts = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Rows without a value come last in both orders. Rows with equal values keep their order. */
export function inOrder<Row>(
  rows: readonly Row[],
  value: (row: Row) => SortValue,
  order: 'asc' | 'desc',
): readonly Row[] {
  const sign = order === 'asc' ? 1 : -1
  return rows.toSorted((one, other) => {
    const [first, second] = [value(one) ?? null, value(other) ?? null]
    if (first === null || second === null) return Number(first === null) - Number(second === null)
    return sign * compare(first, second)
  })
}

function compare(one: string | number | boolean, other: string | number | boolean): number {
  if (typeof one === 'string' && typeof other === 'string') return texts.compare(one, other)
  return Number(one) - Number(other)
}
