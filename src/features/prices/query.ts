/** Parameters of calls about prices, read from text: every fault is told under `/query/<name>`. Pure. */
import { type Fault, validationFailed } from '../../errors.ts'
import { parseMoment } from '../../lib/duration.ts'
import { TABLE_FORMATS, type TableFormat } from './formats/table-file.ts'
import { ALWAYS } from './formats/tally.ts'
import type { LoadOptions } from './load-plan.ts'
import { PRICE_SOURCES, type PriceSource } from './resolve.ts'
import type { PriceFilter } from './store.ts'

/** How many rows a list answers where nothing else is asked for, and at most. */
export const DEFAULT_LIMIT = 50
export const LIST_LIMIT = 1_000

export const LIST_FORMATS = ['json', 'csv'] as const

type Texts = Record<string, string | string[] | undefined>

/** Reads parameters and collects their faults. Empty texts count as not given. */
class Query {
  readonly #faults: Fault[] = []

  constructor(readonly texts: Texts) {}

  text(name: string): string | undefined {
    const text = this.texts[name]
    return typeof text === 'string' && text !== '' ? text : undefined
  }

  list(name: string): string[] | undefined {
    const texts = [this.texts[name] ?? []].flat().filter((text) => text !== '')
    return texts.length > 0 ? texts : undefined
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(name)
    if (text === undefined || allowed.includes(text as T)) return text as T | undefined
    return this.refuse(name, 'not_allowed', `must be one of ${allowed.join(', ')}`)
  }

  flag(name: string): boolean {
    return this.oneOf(name, ['true', 'false']) === 'true'
  }

  moment(name: string): number | undefined {
    const text = this.text(name)
    // A plus that was not percent-encoded arrives as a space.
    return text === undefined
      ? undefined
      : (parseMoment(text.replace(' ', '+')) ?? this.refuse(name, 'bad_format', MOMENT))
  }

  refuse(name: string, code: string, message: string): undefined {
    this.#faults.push({ pointer: `/query/${name}`, code, message })
  }

  finish(): void {
    if (this.#faults.length > 0) throw validationFailed(this.#faults)
  }
}

const MOMENT = 'must be a date, or a timestamp with its offset, such as 2026-12-01T00:00:00Z'

export interface PriceListQuery {
  filter: PriceFilter
  limit: number
  /** The key behind which the page begins. */
  after: number | undefined
  format: (typeof LIST_FORMATS)[number] | undefined
}

/** Throws 422 with every fault. */
export function readPriceList(texts: Texts): PriceListQuery {
  const query = new Query(texts)
  const sources = query.list('source')
  if (sources?.some((source) => !PRICE_SOURCES.includes(source as PriceSource))) {
    query.refuse('source', 'not_allowed', `must be one of ${PRICE_SOURCES.join(', ')}`)
  }
  const read: PriceListQuery = {
    filter: {
      search: query.text('search'),
      providers: query.list('provider'),
      models: query.list('model'),
      sources: sources as PriceSource[] | undefined,
    },
    limit: limitOf(query),
    after: afterOf(query),
    format: query.oneOf('format', LIST_FORMATS),
  }
  query.finish()
  return read
}

function limitOf(query: Query): number {
  const text = query.text('limit') ?? String(DEFAULT_LIMIT)
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIST_LIMIT)
    query.refuse('limit', 'not_allowed', `must be a whole number from 1 to ${LIST_LIMIT}`)
  return limit
}

/** The position behind the last row of a page. */
export function writePage(id: number): string {
  return Buffer.from(String(id)).toString('base64url')
}

function afterOf(query: Query): number | undefined {
  const page = query.text('page')
  if (page === undefined) return undefined
  const text = Buffer.from(page, 'base64url').toString('latin1')
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return query.refuse('page', 'bad_page', 'must be the next_page of an earlier answer')
}

/** Throws 422 with every fault. */
export function readResolve(texts: Texts): { model: string; provider: string | null; at: number | undefined } {
  const query = new Query(texts)
  const model = query.text('model')
  if (model === undefined) query.refuse('model', 'required', 'is required')
  const read = { model: model ?? '', provider: query.text('provider') ?? null, at: query.moment('at') }
  query.finish()
  return read
}

export interface LoadQuery extends LoadOptions {
  format: TableFormat | undefined
  dryRun: boolean
}

/** Throws 422 with every fault. */
export function readLoad(texts: Texts): LoadQuery {
  const query = new Query(texts)
  const read: LoadQuery = {
    format: query.oneOf('format', TABLE_FORMATS),
    effectiveFrom: query.text('effective_from') === ALWAYS ? null : query.moment('effective_from'),
    dryRun: query.flag('dry_run'),
    force: query.flag('force'),
    allowFree: query.flag('allow_free'),
  }
  query.finish()
  return read
}

/** The name of an alias. Throws 422 where it is missing. */
export function readAliasName(texts: Texts): string {
  const query = new Query(texts)
  const alias = query.text('alias')
  if (alias === undefined) query.refuse('alias', 'required', 'is required')
  query.finish()
  return alias!
}
