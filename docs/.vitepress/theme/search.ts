/** How the manual's search reads a question, and weighs what it finds. */
import type { SearchOptions } from 'minisearch'

/** Words of questions that say nothing about their subject: most sections contain them, and many titles begin so. */
const PHRASE_WORDS = new Set(
  'a about an and are as at be by can could do does for from get has have how i if in is it its me my of on or our should so that the there they this to use we what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** In shorter words, another letter makes another word. */
const FUZZY_FROM_LETTERS = 5

/** Shorter beginnings are those of too many words. */
const PREFIX_FROM_LETTERS = 3

/** How the design and the references count beside the pages that explain. */
const FURTHER_READING = [
  { part: '/design/', weight: 0.4 },
  { part: '/reference/', weight: 0.6 },
]

export const SEARCH_OPTIONS: SearchOptions = {
  processTerm: (term) => {
    const word = term.toLowerCase()
    return PHRASE_WORDS.has(word) ? null : word
  },
  // What contains most words of a question comes before what contains one of them often.
  fuzzy: (term) => (term.length >= FUZZY_FROM_LETTERS ? 0.2 : false),
  prefix: (term) => term.length >= PREFIX_FROM_LETTERS,
  // A title that contains what one looks for counts more than a text that mentions it.
  boost: { title: 4, text: 1, titles: 2 },
  boostDocument: (id) => FURTHER_READING.find(({ part }) => String(id).includes(part))?.weight ?? 1,
}
