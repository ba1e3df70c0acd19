/** A report on the usage that was granted to a viewer: each row shows what the grants of its projects allow. */
import { grantedViewer, type Viewer } from '../../access/visibility.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { BilledCost, BillsService } from '../bills/service.ts'
import { periodBody, type ReportsService, type SumsRow, type UsageQuery } from '../reports/service.ts'
import { type Group, SharedGroups } from './groups.ts'
import type { SharedUsageQuery } from './query.ts'
import type { SharedUsage } from './schema.ts'
import type { SeenProject } from './sight.ts'

interface Dependencies {
  reports: Pick<ReportsService, 'usageRows'>
  bills: Pick<BillsService, 'billedTerms' | 'amountsOn'>
}

type Period = Pick<UsageQuery, 'startingAt' | 'endingAt' | 'width' | 'timeZone' | 'weekStart' | 'fillGaps'>

const viewerOf = (projects: readonly SeenProject[]): Viewer => grantedViewer(projects.map(({ id }) => id))

export async function sharedUsage(
  { reports, bills }: Dependencies,
  { dimensions, projects, billed: isBilled }: SharedUsageQuery,
  period: Period,
): Promise<SharedUsage> {
  const groups = new SharedGroups(dimensions, projects)
  const asked = { ...period, dimensions: groups.summedBy, billed: isBilled }

  async function addUsage() {
    const { buckets, rows } = await reports.usageRows(viewerOf(projects), asked)
    for (const row of rows) groups.add(row)
    return buckets
  }

  /** What was billed, bill by bill. */
  async function addAmounts(billed: readonly SeenProject[]): Promise<void> {
    for (const terms of await bills.billedTerms(scopeOf(billed, period))) {
      const { rows } = await reports.usageRows(viewerOf(billed), { ...asked, bill: terms.bill, basis: terms.basis })
      const known = rows.filter((row) => terms.markupOf(groups.projectOf(row).uid) !== undefined)
      const costs = costsByGroup(groups, known)
      const amounts = bills.amountsOn(terms, [...costs.values()])
      for (const [index, group] of [...costs.keys()].entries()) group.amounts.push(amounts[index]!)
    }
  }

  const buckets = await addUsage()
  const billed = projects.filter(({ money }) => money === 'amounts')
  // The amounts of models would show the markup, as the prices of most are public.
  if (billed.length > 0 && !dimensions.includes('model')) await addAmounts(billed)
  return {
    ...periodBody(period),
    time_zone: period.timeZone,
    currency: 'USD',
    bucket_width: period.width,
    group_by: dimensions,
    totals: groups.totals(),
    data: buckets.flatMap((bucket, index) => {
      const results = groups.results(index)
      return results.length === 0 && !period.fillGaps ? [] : [{ ...periodBody(bucket), results }]
    }),
  }
}

/** The bills that may have entries of these projects in a period. */
function scopeOf(projects: readonly SeenProject[], { startingAt, timeZone }: Period) {
  return {
    clientIds: projects.flatMap(({ client }) => client?.id ?? []),
    projectIds: projects.map(({ id }) => id),
    // Bills have days of the organization, which may be in another zone.
    since: addDays(dayAt(startingAt, timeZone), -1),
  }
}

/** Of entries on one bill, which all have a known cost. */
function costsByGroup(groups: SharedGroups, rows: readonly SumsRow[]): Map<Group, BilledCost[]> {
  const costs = new Map<Group, BilledCost[]>()
  for (const row of rows) {
    const group = groups.of(row)
    group.amountEntries += row.entries
    const cost = { project: groups.projectOf(row).uid, costNanos: row.costNanos! }
    costs.set(group, [...(costs.get(group) ?? []), cost])
  }
  return costs
}
