/** Sheets and reported entries, by project, that wait for the person's approval. */
import { Anchor, Stack, Text } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { type Approvals, useApprovals } from '../../parts/approvals.ts'
import { cellColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Caption, Note, SectionTitle } from '../../parts/texts.tsx'
import { useMe } from '../../server/me.ts'
import { COLUMNS } from './sheet-list.tsx'

const PENDING = COLUMNS.filter(({ key }) => key !== 'status')

export function Waiting() {
  const [, navigate] = useLocation()
  const { data, error, refetch } = useApprovals()
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  const { sheets, entries } = data
  if (sheets.sheets === 0 && entries.entries === 0) {
    return <Empty title="Nothing to approve">Sheets and entries that need your approval appear here.</Empty>
  }
  return (
    <Stack gap="lg">
      <Text size="sm">
        To approve them one after the other, also with the keyboard, open your{' '}
        <Anchor component={Link} href="/inbox" inherit>
          inbox
        </Anchor>
        .
      </Text>
      {sheets.sheets > 0 && (
        <div>
          <DataTable
            label="Token sheets waiting for approval"
            name="pending-sheets"
            columns={sheets.sheets > sheets.data.length ? unsorted(PENDING) : PENDING}
            list={sheets.data}
            rowKey={({ id }) => id}
            open={({ id }) => navigate(`/sheets/${id}`)}
            empty={null}
          />
          {sheets.sheets > sheets.data.length && (
            <Caption>
              Showing the {count(sheets.data.length)} that have waited longest, of {count(sheets.sheets)}.
            </Caption>
          )}
        </div>
      )}
      {entries.entries > 0 && <ReportedEntries entries={entries} />}
    </Stack>
  )
}

/** The entries that wait for this person: nobody but an admin approves their own. */
function useListOf() {
  const { person } = useMe()
  return (...projects: Waiting['project'][]) =>
    addressOf('/entries', {
      status: 'submitted',
      project: projects.map((project) => project?.key ?? 'none'),
      without_agent_manager: person.role === 'admin' ? undefined : person.id,
    })
}

function ReportedEntries({ entries }: { entries: Approvals['entries'] }) {
  const listOf = useListOf()
  const all = listOf(...entries.projects.map(({ project }) => project))
  return (
    <Stack gap="xs">
      <SectionTitle>Reported entries</SectionTitle>
      <Note>
        <FigureLink figure="entries" value={entries.entries} to={all}>
          {counted(entries.entries, 'entry', 'entries')}
        </FigureLink>{' '}
        (
        <FigureLink figure="cost" value={entries.cost} to={all}>
          <Money amount={entries.cost} />
        </FigureLink>
        ) waiting for approval. Select a project to approve its entries.
      </Note>
      <DataTable
        label="Reported entries waiting for approval, by project"
        columns={columnsOf(listOf)}
        list={entries.projects}
        rowKey={({ project }) => project?.id ?? 'none'}
        empty={null}
      />
    </Stack>
  )
}

type Waiting = Approvals['entries']['projects'][number]

const columnsOf = (listOf: ReturnType<typeof useListOf>): Column<Waiting>[] => [
  cellColumn(
    'project',
    'Project',
    { phone: 'title', value: ({ project }) => project && projectLabel(project) },
    ({ project }) => (
      <Anchor component={Link} href={listOf(project)} size="sm">
        {project ? <bdi>{projectLabel(project)}</bdi> : 'No project'}
      </Anchor>
    ),
  ),
  cellColumn(
    'entries',
    'Entries',
    { isNumber: true, width: '110px', value: ({ entries }) => entries },
    ({ project, entries }) => (
      <FigureLink figure="entries" value={entries} to={listOf(project)}>
        <Count value={entries} />
      </FigureLink>
    ),
  ),
  cellColumn(
    'tokens',
    'Tokens',
    { isNumber: true, width: '130px', value: ({ tokens }) => tokens },
    ({ project, tokens }) => (
      <FigureLink figure="tokens" value={tokens} to={listOf(project)}>
        <Count value={tokens} />
      </FigureLink>
    ),
  ),
  cellColumn(
    'cost',
    'Cost',
    { isNumber: true, width: '130px', phone: 'value', value: ({ cost }) => cost },
    ({ project, cost }) => (
      <FigureLink figure="cost" value={cost} to={listOf(project)}>
        <Money amount={cost} />
      </FigureLink>
    ),
  ),
]
