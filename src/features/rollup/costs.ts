/** What single entries cost, from the columns of days: of very many entries, in a fraction of the time of their rows. */
import type { Reader } from '../../database/database.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { exactCostsOf } from './figures.ts'
import type { Period } from './plan.ts'
import { passingRows, type Search, searchOf } from './search.ts'
import { ENTRIES_GRAIN, exactAt, FIGURES_OF_BASIS, MEASURES_OF } from './segment.ts'
import { type CostsQuery, type EntryCost, listCosts } from './store/costs.ts'
import { readSegment } from './store/periods.ts'

/**
 * The visible entries of these people that match and have a cost, by person and in the order of time. Undefined if
 * columns can't answer the filter, or are not ready for the whole period.
 */
export async function readCosts(reader: Reader, query: CostsQuery): Promise<Map<number, EntryCost[]> | undefined> {
  const { viewer, filter, managerIds, basis } = query
  const search = await searchOf(
    reader,
    { viewer, filter, sort: 'started_at', order: 'asc', limit: 0 },
    measuresOf(basis),
  )
  if (!search) return undefined
  const costs = new Map([...managerIds].map((id): [number, EntryCost[]] => [id, []]))
  for (const step of search.steps) {
    if ('id' in step) await addDay(reader, search, step, { basis, costs })
    else for (const { managerId, ...cost } of await listCosts(reader, query, step)) costs.get(managerId)!.push(cost)
  }
  return costs
}

const measuresOf = (basis: CostBasis) => MEASURES_OF[FIGURES_OF_BASIS[basis][0]]

async function addDay(
  reader: Reader,
  search: Search,
  day: Period,
  { basis, costs }: { basis: CostBasis; costs: ReadonlyMap<number, EntryCost[]> },
) {
  const rows = await passingRows(reader, search, day)
  if (rows?.length === 0) return
  const names = ['managerId', 'startedAt', ...measuresOf(basis)] as const
  const segment = await readSegment(reader, ENTRIES_GRAIN, day, names)
  if (!segment) return
  const managers = segment.keys('managerId')
  const starts = segment.integers('startedAt').values
  const amounts = exactCostsOf(segment, basis)
  const length = rows?.length ?? segment.length
  for (let at = 0; at < length; at += 1) {
    const row = rows ? rows[at]! : at
    const ofPerson = costs.get(managers[row]!)
    const startedAt = starts[row]!
    if (!ofPerson || startedAt < search.within.from || startedAt >= search.within.to) continue
    const costNanos = exactAt(amounts, row)
    if (costNanos !== null) ofPerson.push({ startedAt, costNanos })
  }
}
