/** The names of the people whom a budget's thresholds notify. */
import { useQuery } from '@tanstack/react-query'
import type { Budget } from '../../parts/budgets/budget.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import type { People } from './budget-values.ts'

const NOBODY: People = []

/** For admins only: others cannot read people. Empty until they are loaded. */
export function usePeople({ thresholds }: Budget): People {
  const seesPeople = useRole('admin')
  const ids = [...new Set(thresholds.flatMap(({ people }) => people ?? []))].sort()
  const { data } = useQuery({
    queryKey: ['users', 'names', ids],
    queryFn: ({ signal }) =>
      Promise.all(ids.map(async (id) => answer(apiUntil(signal).users({ id }).get()))) as Promise<People>,
    enabled: seesPeople && ids.length > 0,
  })
  return data ?? NOBODY
}
