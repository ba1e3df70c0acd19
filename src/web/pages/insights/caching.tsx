/** What caching saved, by model, person or project. */
import { Anchor, SegmentedControl } from '@mantine/core'
import { Link } from 'wouter'
import { percent } from '../../format/counts.ts'
import { Sparkline } from '../../parts/charts/sparkline.tsx'
import { cellColumn, countColumn, moneyColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { pageOfList } from '../../parts/entries/filters.ts'
import { Count, Money } from '../../parts/figures.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { useSettings } from '../../server/me.ts'
import { AllEntries, Entries } from './cells.tsx'
import { LeftOut } from './left-out.tsx'
import { type CacheGroup, type CacheReport, type Dimension, type ReportQuery, useCache, widthFor } from './queries.ts'
import { Section } from './section.tsx'
import { savingsInWords } from './words.ts'

interface CachingProps {
  query: ReportQuery
  dimension: Dimension
  choose: (dimension: Dimension) => void
}

const TITLES: Record<Dimension, string> = { model: 'Model', agent_manager: 'Person', project: 'Project' }

export function Caching({ query, dimension, choose }: CachingProps) {
  const { time_zone } = useSettings()
  const report = useCache(query, dimension, widthFor(query))
  const { data } = report
  return (
    <Section
      title="Caching"
      roomPx={800}
      found={data && savingsInWords(data.totals)}
      note="Savings are what the tokens read from and written to caches would have cost as uncached input, minus what they cost as cached tokens, at list prices on that date."
      controls={
        <SegmentedControl
          size="xs"
          aria-label="Group caching by"
          data={optionsOf(TITLES)}
          value={dimension}
          onChange={(value) => choose(value as Dimension)}
        />
      }
      csv={
        data && data.totals.entries > 0
          ? { path: '/reports/cache', query: { ...query, group_by: dimension } }
          : undefined
      }
      request={report}
    >
      {data && <LeftOut parts={data.left_out} />}
      {data && (
        <DataTable
          label={`Caching by ${TITLES[dimension].toLowerCase()}`}
          columns={columnsOf(dimension, time_zone)}
          list={data.data[0]?.results ?? []}
          rowKey={(group) => keyOf(group, dimension)}
          empty={<Empty title="No usage in this period">Choose a longer period, or remove a filter.</Empty>}
          foot={footOf(data.totals, query)}
        />
      )}
    </Section>
  )
}

function keyOf(group: CacheGroup, dimension: Dimension): string {
  const value = group[dimension]
  return value === null || value === undefined ? '' : typeof value === 'string' ? value : value.id
}

function nameOf(group: CacheGroup, dimension: Dimension): string {
  const value = group[dimension]
  if (value === null || value === undefined) return `No ${TITLES[dimension].toLowerCase()}`
  return typeof value === 'string' ? value : value.name
}

function columnsOf(dimension: Dimension, timeZone: string): Column<CacheGroup>[] {
  return unsorted([
    cellColumn('name', TITLES[dimension], { minWidth: '180px', phone: 'title' }, (group) => (
      <Anchor component={Link} href={pageOfList(group.list, timeZone)} size="sm">
        <bdi>{nameOf(group, dimension)}</bdi>
      </Anchor>
    )),
    moneyColumn('saved', 'Saved', ({ saved }) => saved, { width: '120px', phone: 'value' }),
    moneyColumn('uncached', 'As input', ({ uncached_value }) => uncached_value, { width: '120px', phone: 'hidden' }),
    moneyColumn('cached', 'As cached', ({ cached_value }) => cached_value, { width: '120px', phone: 'hidden' }),
    cellColumn('hit_rate', 'Hit rate', { isNumber: true, width: '90px' }, ({ hit_rate }) =>
      hit_rate === null ? '–' : percent(hit_rate),
    ),
    cellColumn('course', 'Over time', { width: '150px', phone: 'hidden' }, (group) => (
      <Sparkline
        label={`Hit rate of ${nameOf(group, dimension)}`}
        values={group.trend!.map(({ hit_rate }) => hit_rate)}
        inWords={percent}
      />
    )),
    countColumn('read', 'Cache reads', ({ tokens }) => tokens.cache_read, { width: '120px', phone: 'hidden' }),
    cellColumn('entries', 'Entries', { isNumber: true, width: '90px' }, (row) => <Entries {...row} />),
  ])
}

const footOf = (
  { saved, uncached_value, cached_value, hit_rate, tokens, entries }: CacheReport['totals'],
  query: ReportQuery,
) => ({
  name: 'Total',
  saved: <Money amount={saved} />,
  uncached: <Money amount={uncached_value} />,
  cached: <Money amount={cached_value} />,
  hit_rate: hit_rate === null ? '–' : percent(hit_rate),
  read: <Count value={tokens.cache_read} />,
  entries: <AllEntries entries={entries} query={query} />,
})
