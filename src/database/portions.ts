/**
 * Rows or keys per statement. SQLite accepts 32,766 values and PostgreSQL 65,535, which is enough for a thousand rows
 * of thirty columns; the time to prepare a statement grows with them.
 */
const PORTION = 1_000

export function portionsOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / PORTION) }, (_, index) =>
    items.slice(index * PORTION, (index + 1) * PORTION),
  )
}
