/** What a record says, read with patience: agents send the same figure as text, integer or double. */
import { NANO_DIGITS, parseDecimal } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import type { Attributes } from '../signals.ts'

/** A record that should tell what was used and cannot be counted. Its text goes to the sender: it names, and never quotes. */
export class Unusable extends Error {}

/** As of a report: more than any model call or session has. */
export const COUNT_LIMIT = 1_000_000_000_000

/** A billion dollars: sums of such amounts are still far from the end of 64 bits. */
export const COST_LIMIT_NANOS = 1_000_000_000_000_000_000n

const NAME_LIMIT = 200
const CONTROL_CHARACTER = /\p{Cc}/u

/** A name as entries keep it; undefined where it is none. */
export function nameOf(text: string | undefined): string | undefined {
  const name = text === undefined ? '' : composeName(text)
  if (name === '' || name.length > NAME_LIMIT || CONTROL_CHARACTER.test(name) || !name.isWellFormed()) return undefined
  return name
}

/** Integers from 0 to the limit, as whatever they were sent. */
export function countOf(value: unknown, name: string): number {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isInteger(count) || count < 0 || count > COUNT_LIMIT || typeof value === 'boolean') {
    throw new Unusable(`${name} is not a whole number from 0 to ${COUNT_LIMIT}`)
  }
  return count
}

/** Dollars in nano-dollars: a double is what its shortest decimal text says. */
export function costNanosOf(value: unknown, name: string): bigint {
  const nanos = typeof value === 'boolean' ? undefined : parseDecimal(String(value), NANO_DIGITS)
  if (nanos === undefined || nanos < 0n || nanos > COST_LIMIT_NANOS) {
    throw new Unusable(`${name} is not a dollar amount from 0 to a billion`)
  }
  return nanos
}

const NANOS_PER_MS = 1_000_000n

/** Milliseconds; null for the 0 of those who know no time. */
export function momentOf(nanos: bigint): number | null {
  return nanos > 0n ? Number(nanos / NANOS_PER_MS) : null
}

export class Fields {
  constructor(
    readonly attributes: Attributes,
    readonly resource: Attributes,
  ) {}

  /** The first of these that is there and not empty, of the record and then of its resource. */
  text(...names: string[]): string | undefined {
    for (const attributes of [this.attributes, this.resource]) {
      for (const name of names) {
        const value = attributes.get(name)
        if (value !== undefined && value !== '') return String(value)
      }
    }
    return undefined
  }

  has(name: string): boolean {
    return this.attributes.has(name)
  }

  /** A count of the record under the first of these names; undefined where it has none. */
  count(...names: string[]): number | undefined {
    const name = names.find((each) => this.attributes.has(each))
    return name === undefined ? undefined : countOf(this.attributes.get(name), name)
  }

  cost(name: string): bigint | undefined {
    return this.attributes.has(name) ? costNanosOf(this.attributes.get(name), name) : undefined
  }

  /** Milliseconds of an ISO timestamp; null where there is none. */
  moment(name: string): number | null {
    const value = this.attributes.get(name)
    const moment = typeof value === 'string' ? Date.parse(value) : Number.NaN
    return Number.isNaN(moment) || moment <= 0 ? null : moment
  }

  /** Throws {@link Unusable} where none of these is there: what names no session cannot be counted once. */
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
