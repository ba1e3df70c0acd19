/** The loads of price tables: who loaded what when, how to undo it, and updates from the configured source. */
import { Alert, Anchor, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { count, counted } from '../../format/counts.ts'
import { cellColumn, textColumn } from '../../parts/columns.tsx'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { answer, api, apiQuery, apiUntil } from '../../server/api.ts'
import { useList } from '../../server/list.ts'
import { useSend } from '../../server/send.ts'
import { type PriceLoad, sourceText } from './price.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valuation.ts'

export function Loads() {
  const [undoing, setUndoing] = useState<PriceLoad | null>(null)
  const list = useList(['prices', 'loads'], (page, signal) =>
    answer(apiUntil(signal).prices.loads.get({ query: page === undefined ? {} : { page } })),
  )
  return (
    <>
      <Updates />
      <DataTable
        label="Loads of price tables"
        name="price-loads"
        columns={[...COLUMNS, undoColumn(setUndoing)]}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No loads yet">
            Load a price table to see here who loaded which file when, and what it changed.
          </Empty>
        }
      />
      {undoing && <UndoLoad load={undoing} close={() => setUndoing(null)} />}
    </>
  )
}

/** The last update and a button for the next, where a source is configured. */
function Updates() {
  const { data } = useQuery(apiQuery(['prices', 'update'], (api) => api.prices.update.get()))
  const update = useSend({
    send: async () => {
      const updated = await answer(api.prices.update.post({}))
      return { ...updated, entries: updated.valued ? await valueTheRest(updated.valued) : 0 }
    },
    changes: PRICE_CHANGES,
    done: ({ counts, entries }) =>
      `Loaded ${counts.new} new and ${counts.changed} changed prices.${valuedText(entries)}`,
  })
  if (!data?.configured) return null
  return (
    <>
      <Group justify="space-between" gap="xs" mb="md">
        <Note>
          {data.every_seconds === null ? 'Updated on request' : `Updated every ${intervalText(data.every_seconds)}`}
          {data.source && <> from {data.source}</>}. Last update: <Ago at={data.succeeded_at} />
        </Note>
        <Button variant="default" loading={update.isPending} onClick={() => update.mutate()}>
          Update prices
        </Button>
      </Group>
      {data.error && (
        <Alert color="orange" variant="light" title="The last update failed" mb="md">
          {data.error}
        </Alert>
      )}
    </>
  )
}

function intervalText(seconds: number): string {
  const [number, unit] = seconds % 86_400 === 0 ? [seconds / 86_400, 'day'] : [Math.round(seconds / 3_600), 'hour']
  return number === 1 ? unit : counted(number, unit)
}

const nameOf = ({ format, name }: Pick<PriceLoad, 'format' | 'name'>): string =>
  format === 'default' ? sourceText(format) : (name ?? 'Pasted table')

const COLUMNS: Column<PriceLoad>[] = [
  cellColumn('table', 'Table', { value: nameOf, phone: 'title' }, (load: PriceLoad) => (
    <>
      <Text span inherit fw={600}>
        {nameOf(load)}
      </Text>
      {load.undone_at !== null && (
        <Caption span>
          {' '}
          undone <Ago at={load.undone_at} />
          {load.undone_by && ` by ${load.undone_by.name}`}
        </Caption>
      )}
    </>
  )),
  cellColumn('loaded', 'Loaded', { value: ({ loaded_at }) => loaded_at, width: '18%' }, ({ loaded_at, loaded_by }) => (
    <>
      <Ago at={loaded_at} />
      {loaded_by && ` by ${loaded_by.name}`}
    </>
  )),
  textColumn('as_of', 'As of', ({ as_of }) => as_of, { width: '104px' }),
  ...(['new', 'changed', 'older', 'refused'] as const).map(
    (kind): Column<PriceLoad> =>
      cellColumn(
        kind,
        { new: 'New', changed: 'Changed', older: 'Older, skipped', refused: 'Rejected' }[kind],
        {
          value: ({ counts }) => counts[kind],
          isNumber: true,
          width: kind === 'older' ? '120px' : '88px',
          phone: kind === 'changed' ? 'line' : 'hidden',
        },
        ({ counts }) => (counts[kind] === undefined ? '–' : count(counts[kind])),
      ),
  ),
]

const undoColumn = (undo: (load: PriceLoad) => void): Column<PriceLoad> =>
  cellColumn(
    'undo',
    'Undo',
    { width: '84px', phone: 'value' },
    (load) =>
      load.undone_at === null &&
      load.format !== 'default' && (
        <Button size="compact-xs" variant="subtle" aria-label={`Undo ${nameOf(load)}`} onClick={() => undo(load)}>
          Undo
        </Button>
      ),
  )

function UndoLoad({ load, close }: { load: PriceLoad; close: () => void }) {
  const { data } = useQuery(apiQuery(['prices', 'loads', load.id], (api) => api.prices.loads({ id: load.id }).get()))
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Undo the load of ${nameOf(load)}?`}
      action="Undo load"
      isDangerous
      isIncomplete={data === undefined || data.entries > 0}
      send={() => answer(api.prices.loads({ id: load.id }).undo.post())}
      changes={PRICE_CHANGES}
      done={() => 'Load undone. The previous prices apply again.'}
    >
      {data && data.entries > 0 ? (
        <Text size="sm">
          <Anchor component={Link} href={`/entries?price_load=${load.id}`} inherit>
            {counted(data.entries, 'entry', 'entries')}
          </Anchor>{' '}
          {data.entries === 1 ? 'has a list value' : 'have list values'} from this load, so it can no longer be undone.
          Load the right prices instead, and reprice the entries.
        </Text>
      ) : (
        <Text size="sm">
          Its prices no longer apply, and the previous ones apply again. No entry has a list value from it.
        </Text>
      )}
    </ConfirmChange>
  )
}
