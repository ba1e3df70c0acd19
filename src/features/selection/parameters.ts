/** The parameters that select entries for lists, reports and bulk actions, and the formats of lists. */

import { choiceParameter, listParameter, momentParameter, parameter } from '../../operations/parameters.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { ENTRY_FILTER_LIST, type EntryFilterName, type ListFilterName } from '../../shared/entry-filters.ts'
import { ENTRY_FORMATS } from './order.ts'

type EntryFilters = {
  [Name in EntryFilterName]: ReturnType<Name extends ListFilterName ? typeof listParameter : typeof parameter>
}

const MEANINGS = {
  flag: { type: 'boolean' },
  text: { type: 'string' },
} as const

export function entryFilters(): EntryFilters {
  const parameters = ENTRY_FILTER_LIST.map(([name, { kind, values, none, ...text }]) => {
    const description = `${text.description}${none === undefined ? '' : `; \`none\` for ${none}`}.`
    if (kind === 'list' || kind === 'labels') {
      return [name, listParameter(description, { type: 'string', ...(values && { enum: [...values] }) })]
    }
    return [name, kind === 'moment' ? momentParameter(description) : parameter({ ...MEANINGS[kind], description })]
  })
  return Object.fromEntries(parameters)
}

/** By which amount an answer counts cost, as requests name it. */
export const costBasis = () =>
  choiceParameter(
    COST_BASES,
    'What `cost` is: by default (`cost`) the reported cost, or else the list value; the list value (`list`); what was paid in addition to the fees of plans (`marginal`); or that and the share of the fee (`allocated`), for those who see fees.',
  )

export const entryFormat = () => ({
  format: choiceParameter(
    ENTRY_FORMATS,
    '`csv` and `ndjson` export everything that matches the filters, regardless of `limit` and `page`; `Accept: text/csv` and `Accept: application/x-ndjson` do the same.',
  ),
})
