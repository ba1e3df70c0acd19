/** What the agents on the person's machines recorded and Tally could not read; for an admin, on everyone's. */
import { Button, Code, Group, List, Text } from '@mantine/core'
import { Link } from 'wouter'
import { agentText, notReadText } from '../../../shared/not-read.ts'
import { flag, one, useAddress } from '../../address.ts'
import { agoColumn, cellColumn, countColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { type AgentStatus, agentStatusKey, askAgentStatus } from '../../server/agent-status.ts'
import { useList } from '../../server/list.ts'
import { useRole } from '../../server/me.ts'
import { Owner, OwnerFilter } from './owner.tsx'

/** Agents report while their sessions run, at most once an hour if nothing changes. */
const REFRESH_MS = 30_000

export function Agents() {
  const isAdmin = useRole('admin')
  const [{ unread, user }, show] = useAddress({ unread: flag, user: one })
  const query = { ...(unread && { reads_all: 'false' as const }), ...(user && { user: [user] }) }
  const list = useList(agentStatusKey('list', query), askAgentStatus(query), { refetchIntervalMs: REFRESH_MS })
  return (
    <>
      <Note maw={720} mb="sm">
        Hooks, <Code>tally agents watch</Code> and <Code>tally agents scan --report</Code> report what they read on each
        machine and what they could not read: counts and short names, never paths or contents. Usage that is not read is
        not counted.
      </Note>
      <Toolbar>
        <Button
          size="xs"
          variant={unread ? 'light' : 'default'}
          aria-pressed={unread}
          onClick={() => show({ unread: !unread })}
        >
          Not read in full
        </Button>
        {isAdmin && <OwnerFilter user={user} choose={(chosen) => show({ user: chosen })} />}
      </Toolbar>
      <DataTable
        label="Agents"
        name="agents"
        columns={columnsOf(isAdmin)}
        list={list}
        rowKey={({ user: { id }, machine, agent_harness }) => `${id} ${machine} ${agent_harness}`}
        empty={unread ? <AllRead showAll={() => show({ unread: false })} /> : <NoAgents />}
      />
      {list.rows?.some(({ not_read }) => not_read.length > 0) && (
        <Note maw={720} mt="sm">
          To have these sessions read, update Tally on the machine. If they remain, run <Code>tally agents scan</Code>{' '}
          there: it lists the files and, with <Code>--report</Code>, prints the ID of the machine. Once they are read,
          they are counted and no longer listed here.
        </Note>
      )}
    </>
  )
}

const AllRead = ({ showAll }: { showAll: () => void }) => (
  <Empty
    title="Everything was read"
    action={
      <Button variant="light" onClick={showAll}>
        Show all agents
      </Button>
    }
  >
    Agents with sessions that Tally cannot read appear here.
  </Empty>
)

const NoAgents = () => (
  <Empty
    title="No agents yet"
    action={
      <Group justify="center">
        <Button component={Link} href="/connect">
          Connect an agent
        </Button>
      </Group>
    }
  >
    An agent appears here once its hook, <Code>tally agents watch</Code> or <Code>tally agents scan --report</Code> has
    reported from its machine. Agents that only push telemetry do not.
  </Empty>
)

const columnsOf = (isAdmin: boolean): Column<AgentStatus>[] => [
  cellColumn(
    'agent',
    'Agent',
    { value: ({ agent_harness, version }) => `${agent_harness} ${version}`, width: '180px', phone: 'title' },
    ({ agent_harness, version }) => <bdi>{agentText(agent_harness, version)}</bdi>,
  ),
  cellColumn(
    'not_read',
    'Not read',
    { value: ({ not_read }) => not_read.reduce((sum, { count }) => sum + count, 0) },
    ({ not_read }) => <NotReadLines of={not_read} />,
  ),
  ...(isAdmin
    ? [
        cellColumn(
          'user',
          'Owner',
          { value: ({ user }: AgentStatus) => user.name, width: '140px' },
          ({ user }: AgentStatus) => <Owner user={user} />,
        ),
      ]
    : []),
  cellColumn(
    'machine',
    'Machine',
    { value: ({ machine }) => machine, width: '170px' },
    ({ machine, tally_version }) => (
      <>
        <Text span inherit ff="monospace">
          {machine}
        </Text>
        <Caption fw={400}>Tally {tally_version}</Caption>
      </>
    ),
  ),
  countColumn('sessions', 'Sessions read', ({ sessions }) => sessions, { width: '120px' }),
  agoColumn('reported', 'Reported', ({ reported_at }) => reported_at, { width: '130px', phone: 'value' }),
]

function NotReadLines({ of }: { of: AgentStatus['not_read'] }) {
  if (of.length === 0) return <>nothing</>
  return (
    <List size="sm" listStyleType="none" spacing={2}>
      {of.map((each) => (
        <List.Item key={`${each.reason} ${each.name}`}>
          <bdi>{notReadText(each)}</bdi>
        </List.Item>
      ))}
    </List>
  )
}
