/** The newest entries of a thing, with the way to all of them. */
import { Group, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { agoColumn, countColumn, fineMoneyColumn, statusColumn, textColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Entry, nameOf, placeKey } from '../../parts/entries/entry.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Loading } from '../../parts/loading.tsx'
import { SectionTitle } from '../../parts/texts.tsx'
import { useNear } from '../../parts/when-near.tsx'
import { apiQuery } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { momentsOf } from '../reports/question.ts'
import type { UsagePeriod } from './usage-period.ts'

/** How many entries are shown; the entries page lists the rest. */
const SHOWN = '5'

/** Of the heading, the head of the table and its rows, so that what follows stays where it is when they load. */
const ROOM_PX = 259

interface RecentEntriesProps {
  filter: EntryQuery
  basis: CostBasis
  period: UsagePeriod
  /** Of the whole list; undefined while it is being counted. */
  count: number | undefined
}

export function RecentEntries({ filter, basis, period: { period, name }, count: all }: RecentEntriesProps) {
  const [, navigate] = useLocation()
  const { time_zone } = useSettings()
  const { ref, isNear } = useNear<HTMLDivElement>()
  const list = { ...filter, period: name }
  const query = {
    ...filter,
    ...(name !== undefined && momentsOf(period, time_zone)),
    ...(basis !== 'cost' && { basis }),
    limit: SHOWN,
  }
  const { data, error, refetch } = useQuery({
    ...apiQuery(['entries', 'last', query], (api) => api['token-entries'].get({ query })),
    placeholderData: keepPreviousData,
    enabled: isNear,
  })
  return (
    <Stack gap="xs" ref={ref} mih={data ? undefined : ROOM_PX} data-deferred={!isNear || undefined}>
      <Group justify="space-between">
        <SectionTitle>Recent entries</SectionTitle>
        {all !== undefined && all > 0 && (
          <FigureLink figure="entries" value={all} to={addressOf('/entries', list)} fz="sm">
            {all === 1 ? 'Show entry' : `All ${count(all)} entries`}
          </FigureLink>
        )}
      </Group>
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && <Loading lines={3} />}
      {data && (
        <DataTable
          label="Recent entries"
          name="recent-entries"
          list={data.data}
          rowKey={({ id }) => id}
          open={({ id }) => navigate(addressOf('/entries', { ...list, open: id }))}
          empty={<Empty title="No entries">The latest entries appear here.</Empty>}
          columns={columnsBy(basis)}
        />
      )}
    </Stack>
  )
}

/** The newest first. */
const columnsBy = (basis: CostBasis): Column<Entry>[] =>
  unsorted([
    // First, so that the button that opens an entry has its name.
    textColumn('summary', 'Summary', (entry) => [placeKey(entry), nameOf(entry)].filter(Boolean).join(' · '), {
      phone: 'title',
    }),
    textColumn('who', 'Agent manager', ({ agent_manager }) => agent_manager.name, { phone: 'bare', width: '140px' }),
    textColumn('model', 'Model', ({ model }) => model, { phone: 'bare', width: '160px' }),
    agoColumn('at', 'Started', ({ started_at }) => started_at, { phone: 'bare', width: '130px' }),
    statusColumn('status', 'Status', ({ status }) => status, { phone: 'hidden', width: '100px' }),
    countColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '90px', phone: 'hidden' }),
    fineMoneyColumn('cost', BASIS_TITLES[basis], ({ cost }) => cost, { width: '100px', phone: 'value' }),
  ])
