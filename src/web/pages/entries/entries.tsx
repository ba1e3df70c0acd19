import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { addressOf, one, useAddress } from '../../address.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { askEntries, type Entry, nameOf } from '../../parts/entries/entry.ts'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { entryQuery, FILTERS } from '../../parts/entries/filters.ts'
import { Page } from '../../parts/page.tsx'
import { useList } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'
import { useColumns } from './columns.tsx'
import { ColumnsMenu } from './columns-menu.tsx'
import { EntryDrawer } from './drawer.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { Sums, useSums } from './sums.tsx'

export default function Section() {
  return (
    <Switch>
      <Route path="/entries/:id">{({ id }) => <Redirect to={addressOf('/entries', { open: id })} replace />}</Route>
      <Route component={Entries} />
    </Switch>
  )
}

/** Refresh interval of the list. */
const LIVE_MS = 10_000

/** Refresh interval of the totals, which may have to read every entry. */
const SUMS_LIVE_MS = 60_000

/** Beyond this many rows the list does not refresh, because every page would be fetched again. */
const LIVE_ROWS = 200

const idOf = ({ id }: Entry) => id

function Entries() {
  const { time_zone } = useSettings()
  const [{ open, ...filters }, show] = useAddress({ ...FILTERS, open: one })
  const query = entryQuery(filters, time_zone)
  const [rowCount, setRowCount] = useState(0)
  const refetchIntervalMs = rowCount <= LIVE_ROWS ? LIVE_MS : undefined
  const list = useList(['entries', 'list', query], (page, signal) => askEntries(query, page, signal), {
    refetchIntervalMs,
  })
  const count = list.rows?.length ?? 0
  if (count !== rowCount) setRowCount(count)
  const sums = useSums(query, SUMS_LIVE_MS)
  const { columns, ...choice } = useColumns()
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const clear = () => {
    select(new Set())
    setAll(false)
  }
  const isFiltered = Object.keys(query).length > 0
  return (
    <Page
      title="Entries"
      lead="Agent usage, one entry per session and model."
      actions={
        <>
          <ColumnsMenu {...choice} />
          <DownloadCsv path="/token-entries" query={query} />
        </>
      }
    >
      <FilterBar
        filters={filters}
        show={(changes, how) => {
          clear()
          show(changes, how)
        }}
      />
      <Sums sums={sums} />
      <DataTable
        label="Token entries"
        columns={columns}
        list={list}
        rowKey={idOf}
        open={({ id }) => show({ open: id })}
        openKey={open}
        selected={isAll ? new Set(list.rows?.map(idOf)) : selected}
        select={(chosen) => {
          setAll(false)
          select(chosen)
        }}
        selectLabel={(entry) => `Select ${nameOf(entry)} (${entry.agent_manager.name})`}
        isMuted={({ status, superseded }) => status === 'rejected' || status === 'discarded' || superseded}
        empty={<NoEntries isFiltered={isFiltered} />}
      />
      <SelectionBar
        rows={list.rows ?? []}
        selected={selected}
        all={isFiltered ? { query, count: sums.data?.entries, isChosen: isAll, choose: () => setAll(true) } : undefined}
        clear={clear}
      />
      <EntryDrawer
        id={open}
        rows={list.rows ?? []}
        fetchMore={list.fetchMore}
        show={(id) => show({ open: id }, { replace: open !== undefined && id !== undefined })}
      />
    </Page>
  )
}

const NoEntries = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching entries" action={<ClearFilters />}>
      No entries match all of these filters. Remove a filter or choose a longer period.
    </Empty>
  ) : (
    <Empty
      title="No entries yet"
      action={
        <Button component={Link} href="/connect" mt="sm">
          Connect an agent
        </Button>
      }
    >
      Usage appears here as soon as an agent reports a session. Create a token and copy the commands that connect your
      agent.
    </Empty>
  )

const ClearFilters = () => (
  <Button component={Link} href="/entries" variant="default" mt="sm">
    Show all entries
  </Button>
)
