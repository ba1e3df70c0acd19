/** The terms with which a client or project is usually billed, and how they fill the form of a new bill. */
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { type api, apiQuery, type Body } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { BillValues } from './new-bill-values.ts'

export type UsualTerms = Body<Awaited<ReturnType<typeof api.bills.terms.get>>>

/** Undefined until the scope is known, for a bill of everything, and for what is not found. */
export function useUsualTerms({ scope, client, project }: BillValues) {
  const whose = scope === 'client' ? client?.value : scope === 'project' ? project?.value : undefined
  return useQuery({
    ...apiQuery(['bills', 'terms', scope, whose], (api) =>
      api.bills.terms.get({ query: scope === 'client' ? { client: whose! } : { project: whose! } }),
    ),
    enabled: whose !== undefined,
  })
}

/** The currency of a bill, in the API's order: the chosen one, the client's, the organization's. */
export function useBillCurrency(
  { currency, scope }: BillValues,
  { data, isError }: Pick<ReturnType<typeof useUsualTerms>, 'data' | 'isError'>,
): string | undefined {
  const usual = useSettings().currency
  if (currency !== null) return currency
  // If the client is not found, the preview shows the error.
  if (scope === 'everything' || isError) return usual
  return data?.currency
}

type Filled = Pick<
  BillValues,
  'exchange_rate' | 'tax_name' | 'tax_percent' | 'due_days' | 'group_by' | 'show_cost' | 'show_active_time' | 'basis'
>

/** The fields that terms fill, for an organization with this basis. A rate of another currency than the bill's says nothing about it. */
export function filledBy(terms: UsualTerms | undefined, currency: string | undefined, costBasis: CostBasis): Filled {
  return {
    exchange_rate: (terms?.currency === currency && terms?.exchange_rate?.rate) || '',
    tax_name: terms?.tax?.name ?? '',
    tax_percent: terms?.tax?.percent ?? '',
    due_days: terms?.due_days ?? '',
    group_by: terms?.group_by ?? ['project', 'ticket'],
    show_cost: terms?.show_cost ?? false,
    show_active_time: terms?.show_active_time ?? false,
    basis: terms?.basis ?? costBasis,
  }
}

/** The fields that change when the terms do: those that nobody has changed since they were filled. */
export function refilled(values: Filled, before: Filled, next: Filled): Partial<Filled> {
  const names = Object.keys(next) as (keyof Filled)[]
  const changed = names.filter((name) => {
    const isUntouched = JSON.stringify(values[name]) === JSON.stringify(before[name])
    return isUntouched && JSON.stringify(values[name]) !== JSON.stringify(next[name])
  })
  return Object.fromEntries(changed.map((name) => [name, next[name]]))
}

/** Fills the form whenever another client, project or currency is chosen. */
export function useFilling(
  form: Pick<UseFormReturnType<BillValues>, 'values' | 'setFieldValue'>,
  terms: UsualTerms | undefined,
  currency: string | undefined,
  /** Whether the form is from a draft, whose terms stay as they are until another client is chosen. */
  { isFilled }: { isFilled: boolean },
) {
  const { cost_basis } = useSettings()
  const before = useRef(filledBy(undefined, undefined, cost_basis))
  const isFirst = useRef(isFilled)
  // Only a change of the terms fills fields, not what is typed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const next = filledBy(terms, currency, cost_basis)
    if (isFirst.current) {
      if (terms) {
        isFirst.current = false
        before.current = next
      }
      return
    }
    for (const [name, value] of Object.entries(refilled(form.values, before.current, next))) {
      form.setFieldValue(name, value)
    }
    before.current = next
  }, [terms, currency])
}
