/** Parses request parameters from text: a query string or command-line options. Pure. */
import { type Issue, validationFailed } from './errors.ts'
import { parseMoment } from './lib/duration.ts'

/** A plus sign of an offset that was not percent-encoded arrives as a space. */
const UNENCODED_PLUS = / (?=\d{2}(:?\d{2})?$)/

/** Raw parameters. */
export type QueryTexts = Record<string, string | string[] | undefined>

/** Default and maximum number of rows per page of a list. */
export const DEFAULT_LIMIT = 50
export const LIST_LIMIT = 1_000

export const LIST_FORMATS = ['json', 'csv'] as const
export type ListFormat = (typeof LIST_FORMATS)[number]

/** Page position, page size and format of a list request. */
export interface ListPage {
  limit: number
  /** The key of the last row before the page; undefined for the first one. */
  after: number | undefined
  format: ListFormat | undefined
}

/**
 * Reads parameters one by one and collects issues; `finish` throws 422 with all of them, under
 * `/query/<name>`. Absent parameters, and invalid ones until then, are undefined. Parameters that are present but empty
 * are invalid: a script with an unset variable would otherwise read, sum or change everything.
 */
export class Query {
  readonly #issues: Issue[] = []

  constructor(readonly texts: QueryTexts) {
    for (const [name, given] of Object.entries(texts)) {
      if (![given ?? []].flat().some((text) => text.trim() === '')) continue
      this.refuse(name, 'too_short', 'is empty; give it a value, or leave it out')
    }
  }

  text(name: string): string | undefined {
    const text = this.texts[name]
    return typeof text === 'string' && text !== '' ? this.#sane(name, [text])?.[0] : undefined
  }

  /** Any of several values. */
  list(name: string): string[] | undefined {
    const texts = [this.texts[name] ?? []].flat().filter((text) => text !== '')
    return texts.length > 0 ? this.#sane(name, texts) : undefined
  }

  /** PostgreSQL knows no U+0000 and fails where it is asked for one. */
  #sane(name: string, texts: string[]): string[] | undefined {
    if (!texts.some((text) => text.includes('\0'))) return texts
    return this.refuse(name, 'bad_format', 'must not contain the character U+0000')
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(name)
    if (text === undefined || allowed.includes(text as T)) return text as T | undefined
    return this.refuse(name, 'not_allowed', `must be one of ${allowed.join(', ')}`)
  }

  someOf<T extends string>(name: string, allowed: readonly T[]): T[] | undefined {
    const texts = this.list(name)
    if (!texts || texts.every((text) => allowed.includes(text as T))) return texts as T[] | undefined
    return this.refuse(name, 'not_allowed', `must be one of ${allowed.join(', ')}`)
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name)
    if (text === undefined || text === 'true' || text === 'false')
      return text === undefined ? undefined : text === 'true'
    return this.refuse(name, 'not_allowed', 'must be true or false')
  }

  /** A timestamp with its offset, or a date for its first moment in the time zone, in milliseconds since 1970. */
  moment(name: string, timeZone: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    return (
      parseMoment(text.replace(UNENCODED_PLUS, '+'), timeZone) ??
      this.refuse(name, 'bad_format', 'must be a date, or a timestamp with a UTC offset, such as 2026-12-01T00:00:00Z')
    )
  }

  /** How many rows a page has. */
  limit({ usual = DEFAULT_LIMIT, most = LIST_LIMIT } = {}): number {
    const text = this.text('limit') ?? String(usual)
    const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (limit >= 1 && limit <= most) return limit
    this.refuse('limit', 'not_allowed', `must be a whole number from 1 to ${most}`)
    return usual
  }

  /** The position after which the page begins, as parsed by `read`; undefined for the first page. */
  page<Position>(read: (page: string) => Position | undefined): Position | undefined {
    const page = this.text('page')
    if (page === undefined) return undefined
    return read(page) ?? this.#refuse(badPage('/query/page'))
  }

  format(): ListFormat | undefined {
    return this.oneOf('format', LIST_FORMATS)
  }

  listPage(): ListPage {
    return { limit: this.limit(), after: this.page(readKeyPage), format: this.format() }
  }

  refuse(name: string, code: string, message: string): undefined {
    this.#refuse({ pointer: `/query/${name}`, code, message })
  }

  #refuse(issue: Issue): undefined {
    this.#issues.push(issue)
  }

  finish(): void {
    if (this.#issues.length > 0) throw validationFailed(this.#issues)
  }
}

/** The issue of a page token that Tally did not issue. */
export function badPage(pointer: string): Issue {
  return { pointer, code: 'bad_page', message: 'must be the next_page of an earlier response' }
}

/** The page token for the page after the row with this key; `readKeyPage` is the inverse. */
export function writeKeyPage(key: number): string {
  return Buffer.from(String(key)).toString('base64url')
}

export function readKeyPage(page: string): number | undefined {
  const text = Buffer.from(page, 'base64url').toString('latin1')
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
