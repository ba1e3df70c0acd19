/** Parses request parameters from text: a query string or command-line options. Pure. */
import { type Issue, validationFailed } from '../errors.ts'
import { parseMoment } from '../lib/duration.ts'
import { ORDERS } from '../shared/report-table.ts'

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

/** What a list can be sorted by, and of which kind it is: texts by their bytes, numbers also of moments. */
export type Sorts = Readonly<Record<string, 'text' | 'number'>>

export { ORDERS }

/** A row's place in an order. */
export interface SortPosition {
  value: string | bigint | null
  id: number
}

/** An order that the caller chose instead of newest first. */
export interface SortedBy<Sort extends string = string> {
  sort: Sort
  order: (typeof ORDERS)[number]
  /** The last row before the page; undefined for the first one. */
  after: SortPosition | undefined
}

/** Where a page begins, and in which order. */
export interface PageRequest<Sort extends string = string> {
  limit: number
  /** The key of the last row before the page, newest first. */
  after: number | undefined
  by?: SortedBy<Sort> | undefined
}

export interface SortedListPage<Sort extends string> extends ListPage {
  by: SortedBy<Sort> | undefined
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

  /** As `listPage`, of a list that can be sorted. */
  sortedListPage<const Kinds extends Sorts>(kinds: Kinds): SortedListPage<keyof Kinds & string> {
    const sort = this.oneOf('sort', Object.keys(kinds) as (keyof Kinds & string)[])
    const order = this.oneOf('order', ORDERS)
    if (sort === undefined) {
      if (order !== undefined && this.texts.sort === undefined) {
        this.refuse('order', 'not_allowed', 'needs the parameter sort')
      }
      return { ...this.listPage(), by: undefined }
    }
    const by = { sort, order: order ?? ('desc' as const) }
    const after = this.page((page) => readSortPage(by, kinds[sort]!, page))
    return { limit: this.limit(), after: undefined, format: this.format(), by: { ...by, after } }
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
  return /^\d{1,16}$/.test(text) ? Number(text) : undefined
}

/** The token of the page that follows a row in this order; `readSortPage` is the inverse. */
export function writeSortPage({ sort, order }: Pick<SortedBy, 'sort' | 'order'>, { value, id }: SortPosition): string {
  return Buffer.from(JSON.stringify([sort, order, typeof value === 'bigint' ? String(value) : value, id])).toString(
    'base64url',
  )
}

/** Undefined for the page of another order as well, where the position would mean something else. */
export function readSortPage(
  { sort, order }: Pick<SortedBy, 'sort' | 'order'>,
  kind: Sorts[string],
  page: string,
): SortPosition | undefined {
  const [ofSort, ofOrder, value, id] = readTuple(page)
  if (ofSort !== sort || ofOrder !== order || !Number.isSafeInteger(id)) return undefined
  const position = { id: id as number }
  if (value === null) return { ...position, value }
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) return undefined
  if (kind === 'text') return { ...position, value }
  if (!/^-?\d{1,19}$/.test(value)) return undefined
  const number = BigInt(value)
  // No database could compare it otherwise.
  return BigInt.asIntN(64, number) === number ? { ...position, value: number } : undefined
}

function readTuple(page: string): unknown[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(page, 'base64url').toString())
    return Array.isArray(read) ? read : []
  } catch {
    return []
  }
}

/** A function that reads parameters with `read`, and throws 422 with every issue. */
export const queryReader =
  <Circumstances extends unknown[], Read>(read: (query: Query, ...circumstances: Circumstances) => Read) =>
  (texts: QueryTexts, ...circumstances: Circumstances): Read => {
    const query = new Query(texts)
    const result = read(query, ...circumstances)
    query.finish()
    return result
  }

/** The page of a list that has no filters. */
export const readListPage = queryReader((query) => query.listPage())
