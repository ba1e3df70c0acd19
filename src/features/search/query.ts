/** Query parameters of the search. Issues are reported under `/query/<name>`. Pure. */
import { hasMoreCharacters } from '../../lib/characters.ts'
import { queryReader } from '../../schema/query.ts'

export interface SearchQuery {
  text: string
  /** Hits per type. */
  limit: number
}

/** Longer than any name, id or key; of a text, nobody types more to find it again. */
export const TEXT_LIMIT = 200

export const USUAL_HITS = 5
export const MOST_HITS = 20

export const readSearchQuery = queryReader((query): SearchQuery => {
  const text = query.text('q')?.trim()
  if (query.texts.q === undefined) query.refuse('q', 'required', 'is missing; give it the text to search for')
  if (text !== undefined && hasMoreCharacters(text, TEXT_LIMIT)) {
    query.refuse('q', 'too_long', `must have at most ${TEXT_LIMIT} characters`)
  }
  const limit = query.limit({ usual: USUAL_HITS, most: MOST_HITS })
  return { text: text!, limit }
})
