/** What every figure of the overview is of: a period, and the clients and projects that it is limited to. Pure. */
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { ownPeriod, type Period, periodBefore, readPeriod } from '../../parts/period.ts'
import { basisFor, basisInAddress } from '../../server/cost-basis.ts'
import type { Me } from '../../server/me.ts'

/** By id, name or key, as in the API. No value means all. */
export type ScopeFilter = Readonly<Record<'client' | 'project', string[]>>
export const SCOPE_FILTERS = ['client', 'project'] as const

export interface Scope {
  period: Period
  /** The period in addresses, for links that keep it. */
  name: string
  filter: ScopeFilter
  /** Of cost. */
  basis: CostBasis
  /** The same in addresses. */
  basisName: CostBasis | undefined
}

interface ScopeAddress extends ScopeFilter {
  period: string | undefined
  basis: CostBasis | undefined
}

export function scopeOf({ period, client, project, basis: chosen }: ScopeAddress, me: Me): Scope {
  const basis = basisFor(me, chosen)
  return {
    period: readPeriod(period, me.settings.time_zone),
    name: period ?? '30d',
    filter: { client, project },
    basis,
    basisName: basisInAddress(basis, me.settings),
  }
}

/** The same clients and projects in other days. */
export const during = (scope: Scope, period: Period): Scope => ({ ...scope, period, name: ownPeriod(period) })

/** The period that a scope is compared with. */
export const scopeBefore = (scope: Scope): Scope => during(scope, periodBefore(scope.period, scope.name))

export const isFiltered = ({ filter }: Scope): boolean => SCOPE_FILTERS.some((name) => filter[name].length > 0)

/** As parameters of the API. */
export const parametersOf = (filter: ScopeFilter): Partial<Record<keyof ScopeFilter, string[]>> =>
  Object.fromEntries(SCOPE_FILTERS.filter((name) => filter[name].length > 0).map((name) => [name, filter[name]]))

/** A page with the same period and filter, and more parameters, which replace them. */
export const addressIn = (
  path: string,
  { name, filter, basisName }: Scope,
  more: Parameters<typeof addressOf>[1] = {},
): string => addressOf(path, { ...filter, period: name, basis: basisName, ...more })
