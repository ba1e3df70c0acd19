/** Tolerant access to the values of a record: agents send the same number as text, integer or double. */
import { hasMoreCharacters } from '../../../lib/characters.ts'
import { NANO_DIGITS, parseDecimal } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import { recordedService } from '../../../lib/service-names.ts'
import type { Attributes } from '../signals.ts'

/**
 * A record with usage that can't be counted. Its message is sent to the client: it names fields and never quotes
 * values.
 */
export class Unusable extends Error {}

/** As for reports: more than any model call or session has. */
export const COUNT_LIMIT = 1_000_000_000_000

/** A billion dollars: sums of such amounts stay far below 64 bits. */
export const COST_LIMIT_NANOS = 1_000_000_000_000_000_000n

const NAME_LIMIT = 200
const CONTROL_CHARACTER = /\p{Cc}/u

/** A name as entries store it; undefined if it is not valid. */
export function nameOf(text: string | undefined): string | undefined {
  const name = text === undefined ? '' : composeName(text)
  if (name === '' || hasMoreCharacters(name, NAME_LIMIT) || CONTROL_CHARACTER.test(name) || !name.isWellFormed())
    return undefined
  return name
}

/** An integer from 0 to the limit, sent as any type. */
export function countOf(value: unknown, name: string): number {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isInteger(count) || count < 0 || count > COUNT_LIMIT || typeof value === 'boolean') {
    throw new Unusable(`${name} is not a whole number from 0 to ${COUNT_LIMIT}`)
  }
  return count
}

/** Converts dollars to nano-dollars: a double has the value of its shortest decimal text. */
export function costNanosOf(value: unknown, name: string): bigint {
  const nanos = typeof value === 'boolean' ? undefined : parseDecimal(String(value), NANO_DIGITS)
  if (nanos === undefined || nanos < 0n || nanos > COST_LIMIT_NANOS) {
    throw new Unusable(`${name} is not a dollar amount from 0 to a billion`)
  }
  return nanos
}

const NANOS_PER_MS = 1_000_000n

/** Milliseconds; null for 0, which means that the time is unknown. */
export function momentOf(nanos: bigint): number | null {
  return nanos > 0n ? Number(nanos / NANOS_PER_MS) : null
}

export class Fields {
  constructor(
    readonly attributes: Attributes,
    readonly resource: Attributes,
  ) {}

  /** The first of these attributes that is not empty, of the record and then of its resource. */
  text(...names: string[]): string | undefined {
    for (const attributes of [this.attributes, this.resource]) {
      for (const name of names) {
        const value = attributes.get(name)
        if (value !== undefined && value !== '') return String(value)
      }
    }
    return undefined
  }

  /** The record's tier, speed or region under the first of these names; null if it is the standard one. */
  service(...names: string[]): string | null {
    const name = names.find((each) => this.attributes.has(each))
    return (name === undefined ? undefined : recordedService(String(this.attributes.get(name)))) ?? null
  }

  has(name: string): boolean {
    return this.attributes.has(name)
  }

  /** The record's count under the first of these names; undefined if it has none. */
  count(...names: string[]): number | undefined {
    const name = names.find((each) => this.attributes.has(each))
    return name === undefined ? undefined : countOf(this.attributes.get(name), name)
  }

  cost(name: string): bigint | undefined {
    return this.attributes.has(name) ? costNanosOf(this.attributes.get(name), name) : undefined
  }

  /** Milliseconds of an ISO timestamp; null if there is none. */
  moment(name: string): number | null {
    const value = this.attributes.get(name)
    const moment = typeof value === 'string' ? Date.parse(value) : Number.NaN
    return Number.isNaN(moment) || moment <= 0 ? null : moment
  }

  /** Throws {@link Unusable} if all of these are missing: without a session, usage can't be deduplicated. */
  session(...names: string[]): string {
    return this.#required(names, `missing ${names.join(' or ')}`)
  }

  model(...names: string[]): string {
    return this.#required(names, `missing ${names.join(' or ')}`)
  }

  #required(names: string[], issue: string): string {
    const text = this.text(...names)
    if (text === undefined) throw new Unusable(issue)
    const name = nameOf(text)
    if (name === undefined) throw new Unusable(`${names[0]} is not valid text of up to ${NAME_LIMIT} characters`)
    return name
  }
}
