/** Finds what may be keys of tickets in names of branches and in summaries. Pure. */

/** The longest value of a label; a key further on in a summary is rarely what the summary is about. */
const TEXT_LIMIT = 256

/** More keys in one text say nothing about what the work was for. */
const KEYS_LIMIT = 20

/** `acme/web#17`: the words before the sign have no end that a search has to try again. */
const BY_NUMBER_SIGN = /(?<![a-z0-9_.-])(?:[a-z0-9][a-z0-9_.-]{0,99}\/)?[a-z0-9][a-z0-9_.-]{0,99}#\d{1,9}(?!\w)/gi

/** `ACME-42`, `my-app-42`. A letter begins it, so that dates and versions are none. */
const BY_HYPHEN = /(?<![a-z0-9])[a-z][a-z0-9]{0,39}(?:-[a-z][a-z0-9]{0,39}){0,3}-\d{1,9}(?![a-z0-9])/gi

/**
 * `['ACME-42']` of `feature/ACME-42-login`: candidates in the order of the text, each once. Of words that hyphens join,
 * the longest first: `fix-acme-42`, `acme-42`. Only a lookup tells tickets from `UTF-8` and `feature-123`.
 */
export function ticketKeysIn(text: string): string[] {
  const found = new Map<string, string>()
  const start = text.slice(0, TEXT_LIMIT)
  for (const [key] of start.matchAll(BY_NUMBER_SIGN)) {
    add(found, key)
    // `feature/web#17` names the ticket `web#17`.
    add(found, key.slice(key.indexOf('/') + 1))
  }
  for (const [joined] of start.matchAll(BY_HYPHEN)) {
    const words = joined.split('-')
    for (let first = 0; first < words.length - 1; first += 1) add(found, words.slice(first).join('-'))
  }
  return [...found.values()].slice(0, KEYS_LIMIT)
}

function add(found: Map<string, string>, key: string): void {
  const folded = key.toLowerCase()
  if (!found.has(folded)) found.set(folded, key)
}
