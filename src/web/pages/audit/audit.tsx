/** The audit log: who changed what, when and from where. Records cannot be edited or deleted. */
import { Anchor, Button, Drawer, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { flag, one, useAddress } from '../../address.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { momentColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { PersonPicker } from '../../parts/pickers.tsx'
import { type PlainColumn, PlainTable } from '../../parts/plain-table.tsx'
import { Dimmed } from '../../parts/texts.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { PAGE_LIMIT, useList } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'
import { actionInWords, actorOf, type Change, differenceInWords, differencesOf } from './change.ts'

/** Object types, by the prefix of the action. */
const SUBJECTS = [
  { value: 'user', label: 'People' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'token', label: 'Tokens' },
  { value: 'organization', label: 'Settings' },
  { value: 'client', label: 'Clients' },
  { value: 'project', label: 'Projects' },
  { value: 'ticket', label: 'Tickets' },
  { value: 'placement_rule', label: 'Rules' },
  { value: 'rule_proposal', label: 'Proposed rules' },
  { value: 'placement_rules', label: 'Rule order and application' },
  { value: 'price', label: 'Prices' },
  { value: 'prices', label: 'Price tables' },
  { value: 'price_alias', label: 'Model aliases' },
  { value: 'entries', label: 'Entries' },
  { value: 'sheet', label: 'Token sheets' },
  { value: 'bill', label: 'Bills' },
  { value: 'bill_draft', label: 'Drafts of bills' },
  { value: 'credit_note', label: 'Credit notes' },
  { value: 'telemetry', label: 'Telemetry' },
]

const KEYS = { sign_ins: flag, search: one, action: one, user: one, object: one, period: one }

export default function Audit() {
  const { time_zone } = useSettings()
  const [filters, show] = useAddress(KEYS)
  const [open, setOpen] = useState<Change | null>(null)
  const { sign_ins, search, action, user, object, period } = filters
  const days = period === undefined ? undefined : readPeriod(period, time_zone)
  const query = {
    // Sign-ins are frequent and would hide the other changes.
    ...(!sign_ins && action !== 'session' && { without_action: ['session'] }),
    ...(search && { search }),
    ...(action && { action: [action] }),
    ...(user && { user: [user] }),
    ...(object && { object: [object] }),
    ...(days && {
      starting_at: startOfDay(days.from, time_zone),
      ending_at: startOfDay(addDays(days.to, 1), time_zone),
    }),
  }
  const list = useList(['audit', 'list', query], (page, signal) =>
    answer(apiUntil(signal).audit.get({ query: { ...query, page, limit: PAGE_LIMIT } })),
  )
  const clear = () => show({ search: '', action: '', user: '', object: '', period: '' })
  return (
    <Page
      title="Audit log"
      lead="Every change made by a person, a token or the command line, kept permanently. Each token entry has its own history."
      actions={<DownloadCsv path="/audit" query={query} />}
    >
      <Toolbar>
        <TextInput
          type="search"
          aria-label="Search the audit log"
          placeholder="Search changes and origins"
          leftSection={<IconSearch size={16} />}
          value={search ?? ''}
          onChange={(event) => show({ search: event.currentTarget.value }, { replace: true })}
        />
        <Select
          aria-label="Object type"
          placeholder="Any object type"
          clearable
          searchable
          w={180}
          data={SUBJECTS}
          value={action ?? null}
          onChange={(value) => show({ action: value ?? undefined })}
        />
        <PersonPicker
          aria-label="Actor"
          placeholder="Any actor"
          value={user ? { value: user, label: user } : null}
          change={(choice) => show({ user: choice?.detail ?? undefined })}
        />
        <PeriodPicker isOptional value={period} change={(value) => show({ period: value })} />
        <Switch
          label="Show sign-ins"
          checked={sign_ins || action === 'session'}
          disabled={action === 'session'}
          onChange={(event) => show({ sign_ins: event.currentTarget.checked })}
        />
        {object && (
          <Button variant="light" size="sm" onClick={() => show({ object: undefined })}>
            Only {object} ✕
          </Button>
        )}
      </Toolbar>
      <DataTable
        label="Audit log"
        name="audit"
        columns={COLUMNS}
        list={list}
        rowKey={(change) => `${change.at} ${change.action} ${change.object?.id} ${JSON.stringify(change.after)}`}
        open={setOpen}
        empty={
          <Empty
            title="No matching changes"
            action={
              <Button variant="light" onClick={clear}>
                Show all changes
              </Button>
            }
          >
            No recorded change matches these filters.
          </Empty>
        }
      />
      <ChangeDrawer
        change={open}
        close={() => setOpen(null)}
        only={(id) => {
          setOpen(null)
          show({ search: '', action: '', user: '', period: '', object: id })
        }}
      />
    </Page>
  )
}

const COLUMNS: Column<Change>[] = [
  momentColumn('at', 'Time', ({ at }) => at, { width: '165px', phone: 'value' }),
  textColumn('who', 'Actor', actorOf, { width: '190px' }),
  textColumn('action', 'Action', ({ action }) => actionInWords(action), { width: '190px', phone: 'title' }),
  textColumn('object', 'Object', ({ object }) => object?.name, { width: '200px' }),
  {
    key: 'changed',
    title: 'Changes',
    cell: (change) => {
      const differences = differencesOf(change)
      if (differences.length === 0) return null
      return (
        <Dimmed>
          <bdi>{differences.map(differenceInWords).join(' · ')}</bdi>
        </Dimmed>
      )
    },
  },
]

interface ChangeDrawerProps {
  change: Change | null
  close: () => void
  only: (object: string) => void
}

const ChangeDrawer = ({ change, close, only }: ChangeDrawerProps) => (
  <Drawer opened={change !== null} onClose={close} title={change ? actionInWords(change.action) : ''}>
    {change && (
      <Stack>
        <Text size="sm">
          <Moment at={change.at} /> by <bdi>{actorOf(change)}</bdi>
          {change.user && ` (${change.user.email})`}, from {change.origin}
        </Text>
        {change.object && (
          <Text size="sm">
            <bdi>{change.object.name}</bdi>{' '}
            <Anchor component="button" type="button" size="sm" onClick={() => only(change.object!.id)}>
              Show all changes
            </Anchor>
          </Text>
        )}
        <Differences change={change} />
      </Stack>
    )}
  </Drawer>
)

function Differences({ change }: { change: Change }) {
  const differences = differencesOf(change)
  if (differences.length === 0) return null
  const columns: PlainColumn<(typeof differences)[number]>[] = [
    { key: 'field', title: 'Field', cell: ({ field }) => field },
  ]
  const isUpdate = change.before !== null && change.after !== null
  if (change.before) columns.push({ key: 'before', title: 'Before', cell: ({ before }) => <Value>{before}</Value> })
  if (change.after) {
    columns.push({
      key: 'after',
      title: isUpdate ? 'After' : 'Value',
      cell: ({ after }) => <Value isNew={isUpdate}>{after}</Value>,
    })
  }
  return <PlainTable label="Changed fields" columns={columns} rows={differences} rowKey={({ field }) => field} />
}

const Value = ({ isNew = false, children }: { isNew?: boolean; children: string | null | undefined }) => (
  <Text span inherit dir="auto" fw={isNew ? 600 : undefined} style={{ whiteSpace: 'pre-wrap' }}>
    {children ?? '–'}
  </Text>
)
