/** Counts in sentences: `1 entry`, `1,204 entries`. */

/** `1,204`, of a whole number, which may be an exact number of JSON as well. */
export const countText = (count: number): string => grouped(JSON.stringify(count))

/** With commas between thousands. By hand, since a locale takes longer to load than a short command runs. */
export const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`
