/**
 * Texts that may mean a person but do not fold to a name or address of theirs. A dry run shows them, so that somebody can
 * decide: nothing of it is erased by itself.
 */
import type { ErasedWords } from '../../../database/schema/records.ts'
import { editsBetween } from '../../../lib/nearest-names.ts'
import { foldCharacters, foldSpelling, INVISIBLE, originalRange } from './folding.ts'
import { localPartOf } from './words.ts'

export const NEAR_MATCHES = {
  order: 'the parts of a name in another order',
  initials: 'a name with initials, or without its middle names',
  joined: 'the parts of a name, joined, separated otherwise, or with other accents',
  misspelled: 'a name with another letter',
  address: 'the first part of an address, alone or at another domain',
} as const
export type NearMatchKind = keyof typeof NEAR_MATCHES

export interface NearMatch {
  spelling: string
  kind: NearMatchKind
}

export interface CountedMatch extends NearMatch {
  count: number
}

/** By what the spellings fold to. */
export type NearCounts = Map<string, CountedMatch>

/** Whoever reports texts can invent any number of them. */
const COUNTED_SPELLINGS = 10_000
/** Longer ones can't be further words of an erasure. */
const SPELLING_CHARACTERS = 200

export function addMatches(counts: NearCounts, matches: readonly (NearMatch & { count?: number })[]): void {
  for (const { spelling, kind, count = 1 } of matches) {
    const folded = foldSpelling(spelling)
    const known = counts.get(folded)
    if (known) known.count += count
    else if (counts.size < COUNTED_SPELLINGS) counts.set(folded, { spelling, kind, count })
  }
}

/** Shorter parts of names and addresses are in too many words. */
const PART_CHARACTERS = 3

const WORD = /[\p{L}\p{N}\p{M}\u200b]+/gu

/** Letters without accents. */
const bare = (folded: string) => folded.replaceAll(INVISIBLE, '').replace(/\p{M}/gu, '')

const wordsOf = (folded: string) => folded.match(WORD) ?? []

export interface NearMatching {
  in(text: string): NearMatch[]
  /** Parts of which a text of plain characters with a near match contains one. */
  hints: string[][]
}

export function nearMatching({ emails, names, accountNames, others = [] }: ErasedWords): NearMatching {
  const full = names.map((name) => wordsOf(bare(foldSpelling(name)))).filter((name) => name.length > 1)
  const forms = full.flatMap(formsOf)
  const locals = [...new Set(emails.map((email) => localPartOf(email).replace(/\+.*/, '')))].filter(isLong)
  const ofAddress = locals.length === 0 ? undefined : addressesOf(locals)
  const decided = new Set([...emails, ...names, ...accountNames, ...others].map(foldSpelling))

  const parts = [...full.flatMap((name) => [...name.filter(isLong), name.join('')]), ...locals]

  return {
    in(text) {
      const folded = foldCharacters(text)
      const letters = bare(folded)
      if (!parts.some((part) => letters.includes(part))) return []
      const rangeOf = originalRange(text)
      const found = [...nearNames(folded, forms), ...nearAddresses(folded, ofAddress)].map(({ start, end, kind }) => ({
        spelling: text.slice(...rangeOf(start, end)),
        kind,
      }))
      return found.filter(({ spelling }) => isShown(spelling) && !decided.has(foldSpelling(spelling)))
    },
    hints: parts.map((part) => part.match(/[a-z0-9]+/g) ?? []).filter((pieces) => pieces.length > 0),
  }
}

const isShown = (spelling: string) => spelling.length <= SPELLING_CHARACTERS && !/\p{Cc}/u.test(spelling)

const isLong = (part: string) => part.length >= PART_CHARACTERS

/** Words that mean a name, and what is different about them. */
interface Form {
  words: string[]
  kind: NearMatchKind
}

const form = (kind: NearMatchKind, ...words: string[]): Form => ({ kind, words })

function formsOf(name: string[]): Form[] {
  const [first, last] = [name[0]!, name.at(-1)!]
  const joined = [name.join(''), last + first, first[0]! + last, first + last[0]!, last + first[0]!]
  return [
    form('joined', ...name),
    form('order', last, ...name.slice(0, -1)),
    ...(name.length > 2 ? [form('initials', first, last), form('order', last, first)] : []),
    ...joined.filter((word) => word.length > PART_CHARACTERS).map((word) => form('joined', word)),
  ]
}

interface Found {
  start: number
  end: number
  kind: NearMatchKind
}

/** More than this between two words, besides spaces, separates sentences. */
const GAP_CHARACTERS = 1

function* nearNames(folded: string, forms: readonly Form[]): Generator<Found> {
  if (forms.length === 0) return
  const words = [...folded.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: bare(word),
    start: index,
    end: index + word.length,
  }))
  for (const [index, { start }] of words.entries()) {
    for (const form of forms) {
      const group = words.slice(index, index + form.words.length)
      if (group.length < form.words.length) continue
      const texts = group.map(({ text }) => text)
      const gaps = group.slice(1).map((word, at) => folded.slice(group[at]!.end, word.start).trim())
      const kind = kindOf(texts, form)
      if (kind !== undefined && gaps.every((gap) => gap.length <= GAP_CHARACTERS)) {
        yield { start, end: group.at(-1)!.end, kind }
      }
    }
  }
}

function kindOf(words: readonly string[], form: Form): NearMatchKind | undefined {
  const different = words.flatMap((word, at) => (word === form.words[at] ? [] : [[word, form.words[at]!] as const]))
  if (different.length === 0) return form.kind
  if (different.length === words.length) return undefined
  if (different.every(([word, part]) => word.length === 1 && part.startsWith(word))) return 'initials'
  const [[word, part]] = different as [readonly [string, string]]
  const isMisspelled =
    different.length === 1 && isLong(word) && isLong(part) && editsBetween(word, part, 1) !== undefined
  return isMisspelled ? 'misspelled' : undefined
}

/** One of these before an `@`, with a tag or none, or alone. */
function addressesOf(locals: readonly string[]): RegExp {
  const local = locals.map((text) => RegExp.escape(text)).join('|')
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}\p{M}._%+\-])(?:${local})(?:(?:\+[\p{L}\p{N}\p{M}._\-]{0,64})?@[\p{L}\p{N}\p{M}.\-]{0,100}[\p{L}\p{N}\p{M}])?(?![\p{L}\p{N}\p{M}@])`,
    'gu',
  )
}

function* nearAddresses(folded: string, pattern: RegExp | undefined): Generator<Found> {
  if (pattern === undefined) return
  for (const { 0: found, index } of folded.matchAll(pattern)) {
    yield { start: index, end: index + found.length, kind: 'address' }
  }
}
