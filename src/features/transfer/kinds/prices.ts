import { Type } from '@sinclair/typebox'
import type { ReplacedAlias } from '../../../database/schema/records.ts'
import { object, orNull } from '../../../schema/types.ts'
import { decimal, type Inside, idOf, json, moment, orNone, ownId, reference, text, withKeys } from '../columns.ts'
import { kind } from '../kind.ts'

/** Prices are written as they are stored: pico-dollars per token, without a point. */
const picos = (column: string) => orNone(decimal(column, 0))

const ReplacedAliases = Type.Array(
  object({
    alias: Type.String(),
    provider: orNull(Type.String()),
    model: Type.String(),
    source: Type.String(),
    load: orNull(idOf('pld')),
  }),
)

type WrittenAlias = Omit<ReplacedAlias, 'load_id'> & { load: string | null }

const LOADS: Inside = {
  to: 'priceLoads',
  keysIn: (aliases: ReplacedAlias[]) => aliases.flatMap(({ load_id }) => load_id ?? []),
  textsIn: (aliases: WrittenAlias[]) => aliases.flatMap(({ load }) => load ?? []),
  write: (aliases: ReplacedAlias[], textOf) =>
    aliases.map(({ load_id, ...alias }) => ({ ...alias, load: load_id === null ? null : textOf(load_id) })),
  read: (aliases: WrittenAlias[], keyOf) =>
    aliases.map(({ load, ...alias }) => ({ ...alias, load_id: load === null ? null : keyOf(load) })),
}

export const PRICE_LOAD = kind({
  type: 'price_load',
  table: 'priceLoads',
  order: ['id'],
  isSelfReferring: true,
  fields: {
    id: ownId('pld'),
    format: text('format'),
    name: orNone(text('name')),
    digest: orNone(text('digest')),
    as_of: moment('asOf'),
    counts: json('counts'),
    replaced_aliases: orNone(withKeys('replacedAliases', ReplacedAliases, LOADS)),
    loaded_at: moment('loadedAt'),
    loaded_by: orNone(reference('loadedBy', 'users')),
    undone_at: orNone(moment('undoneAt')),
    undone_by: orNone(reference('undoneBy', 'users')),
    notice: orNone(json('notice')),
    notice_due_at: orNone(moment('noticeDueAt')),
  },
})

export const PRICE = kind({
  type: 'price',
  table: 'prices',
  order: ['id'],
  isContext: true,
  fields: {
    id: ownId('prc'),
    provider: text('provider'),
    model: text('model'),
    input: picos('input'),
    output: picos('output'),
    cache_read: picos('cacheRead'),
    cache_write: picos('cacheWrite'),
    cache_write_1h: picos('cacheWrite1h'),
    tiers: orNone(json('tiers')),
    extras: orNone(json('extras')),
    effective_from: orNone(moment('effectiveFrom')),
    effective_until: orNone(moment('effectiveUntil')),
    source: text('source'),
    load: orNone(reference('loadId', 'priceLoads')),
    as_of: orNone(moment('asOf')),
    loaded_at: moment('loadedAt'),
    loaded_by: orNone(reference('loadedBy', 'users')),
    withdrawn_at: orNone(moment('withdrawnAt')),
  },
})

export const PRICE_ALIAS = kind({
  type: 'price_alias',
  table: 'priceAliases',
  order: ['id'],
  fields: {
    alias: text('alias'),
    provider: orNone(text('provider')),
    model: text('model'),
    source: text('source'),
    load: orNone(reference('loadId', 'priceLoads')),
    created_at: moment('createdAt'),
    created_by: orNone(reference('createdBy', 'users')),
  },
})
