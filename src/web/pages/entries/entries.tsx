import { Button, Group } from '@mantine/core'
import { useWindowScroll } from '@mantine/hooks'
import { useState } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { addressOf, useAddress } from '../../address.ts'
import { BasisSelect } from '../../parts/basis-select.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Entry, nameOf } from '../../parts/entries/entry.ts'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import type { Sorting } from '../../parts/sorting.tsx'
import { basisFor } from '../../server/cost-basis.ts'
import { useList } from '../../server/list.ts'
import { useEntryNews } from '../../server/live.ts'
import { useMe } from '../../server/me.ts'
import { columnsFor } from './columns.tsx'
import { EntryDrawer } from './drawer.tsx'
import classes from './entries.module.css'
import { ENTRIES_ADDRESS, entryListOf } from './entry-list.ts'
import { SORTS } from './entry-order.ts'
import { SelectionBar } from './selection-bar.tsx'
import { listedBy, Sums, useSums } from './sums.tsx'

/** Entries that nobody is going to pay. */
const MUTED: readonly Entry['status'][] = ['rejected', 'discarded', 'voided']

export default function Section() {
  return (
    <Switch>
      <Route path="/entries/:id">{({ id }) => <Redirect to={addressOf('/entries', { open: id })} replace />}</Route>
      <Route component={Entries} />
    </Switch>
  )
}

/** Beyond this many rows the list does not refresh by itself, because every page would be fetched again. */
const LIVE_ROWS = 200

/** From here on, new rows at the top would move what somebody reads. */
const SCROLLED_PX = 80

const idOf = ({ id }: Entry) => id

function Entries() {
  const me = useMe()
  const [{ open, sort, order, basis: chosen, ...filters }, show] = useAddress(ENTRIES_ADDRESS)
  const basis = basisFor(me, chosen)
  const { query, ordered, key, ask } = entryListOf(filters, { sort, order, basis }, me.settings.time_zone)
  const [rowCount, setRowCount] = useState(0)
  // New entries appear at the top only if the latest come first, and a search would read the same entries again.
  const isLive = rowCount <= LIVE_ROWS && filters.q === undefined && !ordered.sort && !ordered.order
  const list = useList(key, ask)
  const count = list.rows?.length ?? 0
  if (count !== rowCount) setRowCount(count)
  const isEveryRowHere = list.rows !== undefined && !list.hasMore && !list.isStale
  const sums = useSums(query, { isLong: filters.q !== undefined && !isEveryRowHere, basis })
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const clear = () => {
    select(new Set())
    setAll(false)
  }
  const [{ y }] = useWindowScroll()
  const news = useEntryNews(!isLive || y > SCROLLED_PX || selected.size > 0 || isAll || open !== undefined)
  const isFiltered = Object.keys(query).length > 0
  const sorting: Sorting = {
    by: sort,
    order,
    change: (by, order) =>
      show({ sort: by === SORTS[0] ? undefined : (by as typeof sort), order: order === 'asc' ? order : undefined }),
  }
  return (
    <Page
      title="Entries"
      lead="Agent usage, one entry per session and model, and per day and branch of long sessions."
      actions={
        <>
          {sort !== 'cost' && (
            <Button
              component={Link}
              href={addressOf('/entries', { period: 'month', sort: 'cost', basis: chosen })}
              variant="default"
              visibleFrom="sm"
            >
              Most expensive this month
            </Button>
          )}
          <DownloadCsv path="/token-entries" query={{ ...query, ...(basis !== 'cost' && { basis }) }} />
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
      <Group justify="space-between" gap="xs">
        <Sums sums={sums} filters={filters} basis={basis} />
        <BasisSelect value={basis} change={(basis) => show({ basis })} />
      </Group>
      {news.hasNews && (
        <Button
          variant="light"
          size="compact-sm"
          radius="xl"
          className={classes.news}
          onClick={() => {
            window.scrollTo({ top: 0 })
            news.show()
          }}
        >
          Show new entries
        </Button>
      )}
      <DataTable
        label="Token entries"
        name="entries"
        columns={columnsFor(basis)}
        list={list}
        rowKey={idOf}
        open={({ id }) => show({ open: id })}
        openKey={open}
        sorting={sorting}
        selected={isAll ? new Set(list.rows?.map(idOf)) : selected}
        select={(chosen) => {
          setAll(false)
          select(chosen)
        }}
        selectLabel={(entry) => `Select ${nameOf(entry)} (${entry.agent_manager.name})`}
        isMuted={({ status, superseded }) => MUTED.includes(status) || superseded}
        empty={<NoEntries isFiltered={isFiltered} />}
      />
      <SelectionBar
        rows={list.rows ?? []}
        selected={selected}
        all={isFiltered ? { query, count: listedBy(sums), isChosen: isAll, choose: () => setAll(true) } : undefined}
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
        <Button component={Link} href="/connect">
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
