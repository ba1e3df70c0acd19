/** What every figure of the overview is of: a period, and the clients and projects that it is limited to. Pure. */
import { addressOf } from '../../address.ts'
import { ownPeriod, type Period, periodBefore, readPeriod } from '../../parts/period.ts'

/** By id, name or key, as in the API. No value means all. */
export type ScopeFilter = Readonly<Record<'client' | 'project', string[]>>
export const SCOPE_FILTERS = ['client', 'project'] as const

export interface Scope {
  period: Period
  /** The period in addresses, for links that keep it. */
  name: string
  filter: ScopeFilter
}

interface ScopeAddress extends ScopeFilter {
  period: string | undefined
}

export const scopeOf = ({ period, client, project }: ScopeAddress, timeZone: string): Scope => ({
  period: readPeriod(period, timeZone),
  name: period ?? '30d',
  filter: { client, project },
})

/** The same clients and projects in other days. */
export const during = ({ filter }: Scope, period: Period): Scope => ({ period, name: ownPeriod(period), filter })

/** The period that a scope is compared with. */
export const scopeBefore = (scope: Scope): Scope => during(scope, periodBefore(scope.period, scope.name))

export const isFiltered = ({ filter }: Scope): boolean => SCOPE_FILTERS.some((name) => filter[name].length > 0)

/** As parameters of the API. */
export const parametersOf = (filter: ScopeFilter): Partial<Record<keyof ScopeFilter, string[]>> =>
  Object.fromEntries(SCOPE_FILTERS.filter((name) => filter[name].length > 0).map((name) => [name, filter[name]]))

/** A page with the same period and filter, and more parameters, which replace them. */
export const addressIn = (path: string, { name, filter }: Scope, more: Parameters<typeof addressOf>[1] = {}): string =>
  addressOf(path, { ...filter, period: name, ...more })
