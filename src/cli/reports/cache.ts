import { type Command, Option } from 'commander'
import type { CacheGroup, CacheReport } from '../../features/reports/schema.ts'
import type { CacheLine, CacheQuery } from '../../features/reports/service.ts'
import { counted, countText, dollars, inDollars, shareText } from '../terminal/numbers.ts'
import { type Column, localMinute, print, printTable } from '../terminal/print.ts'
import { addReport, periodText } from './report.ts'

interface CacheFlags {
  by?: string
  bucket?: string
}

interface Line {
  starting_at: string
  result: CacheGroup
}

export function addReportsCacheCommand(reports: Command): void {
  addReport<{ report: CacheReport; groupBy: CacheQuery['groupBy'] }, CacheLine, CacheFlags>(reports, {
    name: 'cache',
    description: 'Report how much input was read from caches, and what caching saved at standard prices',
    options: [
      new Option('--by <what>', 'group by model, agent_manager or project'),
      new Option('--bucket <width>', 'bucket width: 1h, 1d, 1w, 1mo, 1q, 1y, or all for one bucket (default all)'),
    ],
    texts: ({ by, bucket }) => ({ group_by: by, bucket_width: bucket }),
    async read({ reports }, self, texts) {
      const query = await reports.readCache(texts, self)
      return { report: await reports.cache(self.viewer, query), groupBy: query.groupBy }
    },
    async csv(read) {
      const { cacheColumns, cacheLines } = await import('../../features/reports/service.ts')
      const { report, groupBy } = await read()
      return { rows: cacheLines(report), columns: cacheColumns(groupBy) }
    },
    show: ({ report }) => printCache(report),
    examples: ['tally reports cache --by model --month 2026-11', 'tally reports cache --bucket 1w --last 90d --csv'],
  })
}

function nameOf({ model, agent_manager, project }: CacheGroup): string {
  return model ?? agent_manager?.name ?? project?.key ?? '(none)'
}

function printCache(report: CacheReport): void {
  const { bucket_width, group_by, totals, time_zone, data } = report
  if (totals.entries === 0) {
    print('No usage in this period.')
    return
  }
  const lines = data.flatMap(({ starting_at, results }) => results.map((result) => ({ starting_at, result })))
  const first: Column<Line>[] = [
    ...(bucket_width === 'all'
      ? []
      : [{ title: 'FROM', of: ({ starting_at }: Line) => localMinute(starting_at, time_zone) }]),
    ...(group_by === null
      ? []
      : [
          {
            title: group_by === 'agent_manager' ? 'PERSON' : group_by.toUpperCase(),
            of: ({ result }: Line) => nameOf(result),
          },
        ]),
  ]
  printTable(
    [
      ...first,
      { title: 'ENTRIES', of: ({ result }) => countText(result.entries), align: 'right' },
      { title: 'CACHE READS', of: ({ result }) => countText(result.tokens.cache_read), align: 'right' },
      { title: 'HIT RATE', of: ({ result }) => shareText(result.hit_rate), align: 'right' },
      { title: 'AS INPUT (USD)', of: ({ result }) => dollars(result.uncached_value), align: 'right' },
      { title: 'AS CACHED', of: ({ result }) => dollars(result.cached_value), align: 'right' },
      { title: 'SAVED', of: ({ result }) => dollars(result.saved), align: 'right' },
    ],
    lines,
  )
  print('')
  const left = totals.unvalued_entries
  print(
    `Saved ${inDollars(totals.saved)} in all, at standard prices.${left === 0 ? '' : ` ${counted(left, 'entry', 'entries')} without a price left out.`}`,
  )
  print(periodText(report))
}
