/** The audit log: who changed what, when and from where. Records cannot be edited or deleted. */
import { Anchor, Button, Drawer, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { flag, one, useAddress } from '../../address.ts'
import { addDays, startOfDay } from '../../format/moments.ts'
import { cellColumn, momentColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { readPeriod } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { PersonPicker } from '../../parts/pickers.tsx'
import { type Change, ChangeSentence, Recorded } from '../../parts/sentence.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { useApiList } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'

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
  const list = useApiList(['audit', 'list', query], (api, paging) => api.audit.get({ query: { ...query, ...paging } }))
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
          w={260}
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
  momentColumn('at', 'Time', ({ at }) => at, { width: '165px', phone: 'title' }),
  cellColumn('change', 'Change', { phone: 'bare' }, (change) => <ChangeSentence of={change} />),
]

interface ChangeDrawerProps {
  change: Change | null
  close: () => void
  only: (object: string) => void
}

const ChangeDrawer = ({ change, close, only }: ChangeDrawerProps) => (
  <Drawer opened={change !== null} onClose={close} title="Change">
    {change && (
      <Stack>
        <Text size="sm">
          <ChangeSentence of={change} />
        </Text>
        <Details
          of={[
            ['Time', <Moment key="at" at={change.at} />],
            ['Person', change.user && <bdi>{change.user.email}</bdi>],
            ['Origin', <bdi key="origin">{change.origin}</bdi>],
            ['Action', change.action],
          ]}
        />
        {change.object && (
          <Anchor component="button" type="button" size="sm" ta="start" onClick={() => only(change.object!.id)}>
            Show all changes of <bdi>{change.object.name}</bdi>
          </Anchor>
        )}
        <Recorded of={change} />
      </Stack>
    )}
  </Drawer>
)
