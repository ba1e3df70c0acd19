/** The part of a report's address that a view keeps. Pure. */
import { isListFilter } from '../../../shared/entry-filters.ts'
import { FILTER_NAMES } from '../../parts/entries/filters.ts'
import { QUESTION } from './address.ts'

export type ViewParameters = Record<string, string | string[]>

const KEPT = [...Object.keys(QUESTION), ...FILTER_NAMES, 'period', 'sort', 'order']

/** Lists stay lists, whatever their length; defaults, which an address does not have, are left out. */
export function viewParametersOf(search: string): ViewParameters {
  const texts = new URLSearchParams(search)
  const given = KEPT.flatMap((name): [string, string | string[]][] => {
    const values = texts.getAll(name).filter((value) => value !== '')
    if (values.length === 0) return []
    const isList = FILTER_NAMES.some((filter) => filter === name && isListFilter(filter))
    return [[name, isList ? values : values[0]!]]
  })
  return Object.fromEntries(given)
}
