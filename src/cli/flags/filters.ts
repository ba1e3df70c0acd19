/** What a list prints that is empty. */

/** The flags that choose the database, and how and from where on a list is printed. */
const NOT_FILTERS = new Set([
  'envFile',
  'data',
  'databaseUrl',
  'databaseUrlFile',
  'as',
  'json',
  'csv',
  'columns',
  'wide',
  'limit',
  'page',
  'all',
])

/**
 * `No matching bills.` where flags limit the list, since what is missing may well exist; otherwise `No bills.` and
 * how one is made.
 */
export function emptyText(flags: object, many: string, howToAdd: string): string {
  const isFiltered = Object.entries(flags).some(([name, value]) => value !== undefined && !NOT_FILTERS.has(name))
  return isFiltered ? `No matching ${many}.` : `No ${many}. ${howToAdd}`
}
