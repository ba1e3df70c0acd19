import { Button, Group, Paper, Skeleton, Text } from '@mantine/core'
import { IconList } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { addressOf, useAddress } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { ApplyRules } from '../../parts/apply-rules.tsx'
import { rowOf } from '../../parts/condition.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv, ICON_ON_PHONE } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { type EntryQuery, entryQuery, FILTERS, pageOfList, queryOfList } from '../../parts/entries/filters.ts'
import { ManyDialog } from '../../parts/entries/many.tsx'
import { total } from '../../parts/figure-link.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { RuleEditor } from '../../parts/rule-editor.tsx'
import { Note } from '../../parts/texts.tsx'
import { useList } from '../../server/list.ts'
import { useMe, useRole, useSettings } from '../../server/me.ts'
import { useAccept } from './accept.ts'
import { groupColumns } from './columns.tsx'
import {
  askGroups,
  conditionsOf,
  type Group as EntryGroup,
  groupsKey,
  placeOf,
  type Report,
  ticketOf,
} from './groups.ts'
import { LeadRules } from './lead-rules.tsx'
import { useLedRepositories } from './led-repositories.ts'
import { OwnProposals } from './own-proposals.tsx'
import { ProposeRule } from './propose-rule.tsx'

/** The action in progress on a group. */
type Doing = { what: 'place' | 'rule' | 'propose'; group: EntryGroup } | { what: 'apply'; filter: EntryQuery }

export default function Unattributed() {
  const { time_zone } = useSettings()
  const mayMakeRules = useRole('admin')
  const { leads } = useMe()
  const repositories = useLedRepositories()
  const projectsOf = ({ repository }: EntryGroup) => (repository && repositories?.get(repository)) || []
  const [, navigate] = useLocation()
  const [filters, show] = useAddress(FILTERS)
  const query = entryQuery(filters, time_zone)
  const list = useList(groupsKey(query), (page, signal) => askGroups(query, page, signal))
  const [doing, setDoing] = useState<Doing | null>(null)
  const stop = () => setDoing(null)
  const { acceptAll, ...accepting } = useAccept()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  // Groups that have been assigned are gone.
  const selected = (list.rows ?? []).filter((group) => chosen.has(group.list))
  const columns = groupColumns({
    timeZone: time_zone,
    ...accepting,
    place: (group) => setDoing({ what: 'place', group }),
    makeRule: mayMakeRules ? (group) => setDoing({ what: 'rule', group }) : undefined,
    propose: leads ? (group) => setDoing({ what: 'propose', group }) : undefined,
    mayPropose: (group) => projectsOf(group).length > 0,
  })
  return (
    <Page
      title="Unattributed"
      lead={
        mayMakeRules ? (
          'Entries not assigned to a project or ticket, grouped by what they have in common. Assign a group once, or create a rule that also assigns such entries in the future.'
        ) : leads ? (
          <LeadText repositories={repositories && [...repositories.keys()]} />
        ) : (
          'Entries not assigned to a project or ticket, grouped by what they have in common. Assign each group where it belongs.'
        )
      }
      actions={<PageActions query={query} />}
    >
      <FilterBar filters={filters} show={show} without={['placed']} />
      <Sums report={list.first} />
      <Selection
        groups={selected}
        acceptAll={acceptAll}
        isAccepting={accepting.accepting !== undefined}
        clear={() => setChosen(new Set())}
      />
      <DataTable
        label="Groups of unattributed entries"
        name="unattributed"
        columns={columns}
        list={list}
        rowKey={({ list }) => list}
        open={({ list }) => navigate(pageOfList(list, time_zone))}
        accept={(group) => (selected.length > 0 ? acceptAll(selected) : accepting.accept(group))}
        selected={new Set(selected.map(({ list }) => list))}
        select={setChosen}
        selectLabel={({ name }) => `Select ${name}`}
        empty={<NothingLeft isFiltered={Object.keys(query).length > 0} leads={leads} />}
      />
      {leads && <LeadRules />}
      {leads && <OwnProposals />}
      {doing?.what === 'propose' && doing.group.repository !== null && (
        <ProposeRule
          group={{ ...doing.group, repository: doing.group.repository }}
          projects={projectsOf(doing.group)}
          close={stop}
        />
      )}
      {doing?.what === 'place' && (
        <ManyDialog kind="place" chosen={{ query: queryOfList(doing.group.list) }} rows={[]} close={stop} />
      )}
      {doing?.what === 'rule' && (
        <NewRule
          group={doing.group}
          leave={stop}
          saved={() => setDoing({ what: 'apply', filter: queryOfList(doing.group.list) })}
        />
      )}
      {doing?.what === 'apply' && <ApplyRules isOpen close={stop} filter={doing.filter} />}
    </Page>
  )
}

/** What a lead sees here, and why. */
const LeadText = ({ repositories }: { repositories: string[] | undefined }) => (
  <>
    Your own entries that are not assigned to a project or ticket
    {repositories && repositories.length > 0 ? (
      <>
        , and those of everyone in the repositories of the projects you lead:{' '}
        {repositories.map((repository, index) => (
          <span key={repository}>
            {index > 0 && ', '}
            <bdi>{repository}</bdi>
          </span>
        ))}
        .
      </>
    ) : (
      '. The projects you lead have no repositories; someone with the billing or admin role can add them, so that you see their unattributed entries here.'
    )}
  </>
)

const PageActions = ({ query }: { query: EntryQuery }) => (
  <>
    <Button
      component={Link}
      href={addressOf('/entries', { ...query, placed: 'none' })}
      variant="default"
      className={ICON_ON_PHONE}
      leftSection={<IconList size={16} />}
    >
      View entries
    </Button>
    <DownloadCsv path="/reports/unattributed" query={query} />
  </>
)

function Sums({ report }: { report: Report | undefined }) {
  if (!report) return <Skeleton height={22} width={380} maw="100%" />
  const { entries, groups, cost, unpriced_entries } = report.totals
  const placedOnNothing = report.placed_on_nothing.entries
  if (entries === 0 && placedOnNothing === 0) return null
  return (
    <Group gap="lg" role="status">
      <Text size="sm">
        <b {...total('entries', entries)}>{count(entries)}</b> {entries === 1 ? 'entry' : 'entries'} in{' '}
        {counted(groups, 'group')}
        {cost !== null && ', '}
        <span {...total('cost', cost)}>{cost !== null && money(cost)}</span>
        {unpriced_entries > 0 && `, ${count(unpriced_entries)} of them without a price`}
      </Text>
      {placedOnNothing > 0 && (
        <Note>
          {counted(placedOnNothing, 'more entry was', 'more entries were')} deliberately left without a project.
        </Note>
      )}
    </Group>
  )
}

const projectChoice = ({ suggestion }: EntryGroup) =>
  suggestion?.project ? { value: suggestion.project.id, label: projectLabel(suggestion.project) } : null

interface NewRuleProps {
  group: EntryGroup
  saved: () => void
  leave: () => void
}

/** The rule suggested for a group: tested on its entries before it is saved, and applied to them afterwards. */
const NewRule = ({ group, saved, leave }: NewRuleProps) => (
  <FormModal opened onClose={leave} title="New rule" size="min(1120px, 96vw)">
    <RuleEditor
      start={{
        name: group.rule.name,
        rows: conditionsOf(group).map(rowOf),
        ticket: ticketOf(group),
        project: projectChoice(group),
      }}
      tryOn={queryOfList(group.list)}
      saved={saved}
      leave={leave}
    />
  </FormModal>
)

const NothingLeft = ({ isFiltered, leads }: { isFiltered: boolean; leads: boolean }) =>
  isFiltered ? (
    <Empty
      title="No matching entries"
      action={
        <Button component={Link} href="/unattributed" variant="default">
          Clear filters
        </Button>
      }
    >
      All entries that match these filters are assigned.
    </Empty>
  ) : (
    <Empty
      title="No unattributed entries"
      action={
        <Button component={Link} href="/entries" variant="default">
          View all entries
        </Button>
      }
    >
      {leads
        ? 'Your own entries that name no project or ticket appear here, and those of everyone in the repositories of the projects you lead. Someone with the billing or admin role adds repositories to a project.'
        : 'Entries that name no project or ticket and match no rule appear here, so that you can assign them.'}
    </Empty>
  )

/** What can be done with the selected groups. */
interface SelectionProps {
  groups: readonly EntryGroup[]
  acceptAll: (groups: readonly EntryGroup[]) => void
  isAccepting: boolean
  clear: () => void
}

function Selection({ groups, acceptAll, isAccepting, clear }: SelectionProps) {
  if (groups.length === 0) return null
  const suggested = groups.filter((group) => placeOf(group) !== undefined)
  const entries = suggested.reduce((sum, group) => sum + group.entries, 0)
  return (
    <Paper withBorder p="xs" pos="sticky" top={0} style={{ zIndex: 2 }}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status">
          {count(groups.length)} selected
          {suggested.length < groups.length && `, ${count(suggested.length)} with a suggestion`}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={clear}>
            Clear selection
          </Button>
          <Button
            size="compact-sm"
            disabled={suggested.length === 0}
            loading={isAccepting}
            onClick={() => acceptAll(suggested)}
            aria-keyshortcuts="a"
          >
            Assign {counted(entries, 'entry', 'entries')} where suggested
          </Button>
        </Group>
      </Group>
    </Paper>
  )
}
