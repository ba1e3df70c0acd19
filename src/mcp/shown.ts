/**
 * Answers of the API as language models read them: amounts are texts, formatted here, so that a model neither rounds them nor
 * takes them for numbers to calculate with. Everything else is as the API returns it.
 */
import type { TSchema } from '@sinclair/typebox'
import { counted, grouped } from '../lib/counted.ts'
import { dollars } from '../lib/dollars.ts'
import { text, UNIT, type Unit } from '../schema/types.ts'

/** Which fields are kept: a name, or a path such as `data.model`, which passes through lists and what may be null. */
export type Paths = readonly string[]

/** The schema with the fields at these paths alone. Throws for a field that it does not have. */
export function cut(schema: TSchema, paths: Paths): TSchema {
  if (schema.anyOf) {
    const isCut = (one: TSchema) => one.type === 'object' || one.type === 'array'
    return { ...schema, anyOf: schema.anyOf.map((one: TSchema) => (isCut(one) ? cut(one, paths) : one)) }
  }
  if (schema.type === 'array') return { ...schema, items: cut(schema.items, paths) }
  const inner = Map.groupBy(paths, (path) => path.split('.')[0]!)
  const properties = [...inner].map(([name, some]) => {
    const property: TSchema | undefined = schema.properties?.[name]
    if (!property) throw new Error(`The answer has no field ${name}`)
    const rest = some.filter((path) => path !== name).map((path) => path.slice(name.length + 1))
    return [name, rest.length === 0 ? property : cut(property, rest)] as const
  })
  const required = (schema.required as string[] | undefined)?.filter((name) => inner.has(name))
  return { ...schema, properties: Object.fromEntries(properties), ...(required && { required }) }
}

const unitOf = (schema: TSchema): Unit | undefined =>
  schema[UNIT] ?? (schema.anyOf as TSchema[] | undefined)?.find((one) => one[UNIT])?.[UNIT]

/** The schema of what {@link shown} returns. */
export function shownSchema(schema: TSchema): TSchema {
  if (unitOf(schema)) {
    const own: TSchema = schema.anyOf?.find((one: TSchema) => one[UNIT]) ?? schema
    return text(own.description ?? schema.description ?? 'An amount.') as TSchema
  }
  const each = (schemas: Record<string, TSchema>) =>
    Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, shownSchema(one)]))
  return {
    ...schema,
    ...(schema.properties && { properties: each(schema.properties) }),
    ...(schema.patternProperties && { patternProperties: each(schema.patternProperties) }),
    ...(schema.items && { items: shownSchema(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(shownSchema) }),
  }
}

type Around = readonly Record<string, unknown>[]

/** A value of the schema, with the fields that the schema has. `around` are the objects that it is in, the nearest first. */
export function shown(schema: TSchema, value: unknown, around: Around = []): unknown {
  const unit = unitOf(schema)
  if (unit) return value === null ? 'unknown' : amountText(value as number, unit, around)
  if (Array.isArray(value)) {
    const { items } = alternativeOf(schema, 'items')
    return items ? value.map((one) => shown(items, one, around)) : value
  }
  if (typeof value !== 'object' || value === null) return value
  const { properties, patternProperties } = alternativeOf(schema, 'properties', 'patternProperties')
  const within = [value as Record<string, unknown>, ...around]
  const ofName = (name: string): TSchema | undefined => properties?.[name] ?? Object.values(patternProperties ?? {})[0]
  return properties || patternProperties
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, one]) => {
          const inner = ofName(name) as TSchema | undefined
          return inner ? [[name, shown(inner, one, within)]] : []
        }),
      )
    : value
}

/** What a model can still read. */
export const ITEMS_LIMIT = 50

/** With at most so many items of each list, and how many there are besides. */
export function limited(answer: object): object {
  const left: Record<string, number> = {}
  const shortened = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) {
      if (value.length > ITEMS_LIMIT) left[place] = (left[place] ?? 0) + value.length - ITEMS_LIMIT
      return value.slice(0, ITEMS_LIMIT).map((one) => shortened(one, place))
    }
    if (typeof value !== 'object' || value === null) return value
    // An exact number.
    if (Object.getPrototypeOf(value) !== Object.prototype) return value
    const inner = Object.entries(value).map(([name, one]) => [
      name,
      shortened(one, place === '' ? name : `${place}.${name}`),
    ])
    return Object.fromEntries(inner)
  }
  const whole = shortened(answer, '') as object
  return Object.keys(left).length === 0 ? whole : { ...whole, not_shown: left }
}

function alternativeOf(schema: TSchema, ...keywords: string[]): TSchema {
  const alternatives: TSchema[] = schema.anyOf ?? [schema]
  return alternatives.find((one) => keywords.some((keyword) => keyword in one)) ?? schema
}

function amountText(amount: number, unit: Unit, around: Around): string {
  if (unit === 'usd') return usdText(amount)
  const said = around.find((one) => typeof one[unit] === 'string')?.[unit]
  if (unit === 'currency') return `${said} ${exactText(amount)}`
  return said === 'tokens' ? counted(amount, 'token') : usdText(amount)
}

/** To the cent, as on the pages; below a cent with every digit. */
function usdText(amount: number): string {
  const cents = dollars(amount)
  return (/[<>]/.test(cents) ? exactText(amount) : cents).replace(/^-?/, '$&$$')
}

function exactText(amount: number): string {
  const [whole = '', fraction] = JSON.stringify(amount).split('.')
  const digits = grouped(whole.replace('-', ''))
  return `${whole.startsWith('-') ? '-' : ''}${digits}${fraction === undefined ? '' : `.${fraction}`}`
}
