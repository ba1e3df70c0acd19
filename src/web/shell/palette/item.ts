/** What the command palette offers, and which of it matches a text. Pure. */

export interface Item {
  /** Unique in the palette. */
  key: string
  title: string
  /** What distinguishes it from others of the same title. */
  detail?: string | null
  /** Its page; none for an action that stays on the page. */
  href?: string
  /** Whether the server answers the address with something that is not a page of the application. */
  isOutside?: boolean
  run?: () => void
  isMuted?: boolean
}

export interface Group {
  title: string
  items: Item[]
}

/** The items of which every word of the text begins a word, those whose title begins with the text first. */
export function matching(items: readonly Item[], text: string): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...items]
  const begins = (title: string, word: string) =>
    title.startsWith(word) || title.includes(` ${word}`) || title.includes(`-${word}`)
  const found = items.filter(({ title }) => words.every((word) => begins(title.toLowerCase(), word)))
  const isFirst = ({ title }: Item) => title.toLowerCase().startsWith(words.join(' '))
  return [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))]
}
