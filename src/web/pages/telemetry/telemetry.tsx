/** Telemetry that agents push: what is counted, and why the rest is not. */
import { Button, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { agoColumn, cellColumn, countColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { Emails } from './emails.tsx'
import { Part } from './part.tsx'
import type { TelemetryStatus } from './status.ts'

/** People who connect an agent watch this page for its first data. */
const EVERY_MS = 1_500

export default function Telemetry() {
  const { data, error, refetch } = useQuery({
    queryKey: ['telemetry', 'status'],
    queryFn: ({ signal }): Promise<TelemetryStatus> => answer(apiUntil(signal).telemetry.status.get()),
    refetchInterval: EVERY_MS,
  })
  return (
    <Page
      title="Telemetry"
      lead="OpenTelemetry data that agents push. Tally keeps only counts and names, never what people wrote."
      actions={
        <Button component={Link} href="/connect?agent=claude-code" variant="default">
          Connect an agent
        </Button>
      }
    >
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={320} />}
      {data && (isQuiet(data) ? <EmptyCell /> : <Status status={data} />)}
    </Page>
  )
}

const isQuiet = ({ channels, rejected, ignored, pushes }: TelemetryStatus) =>
  channels.length + rejected.length + ignored.length + (pushes?.length ?? 0) === 0

const EmptyCell = () => (
  <Empty
    title="No telemetry yet"
    action={
      <Button component={Link} href="/connect?agent=claude-code">
        Connect an agent
      </Button>
    }
  >
    Claude Code, Codex, Gemini CLI and other agents can push their usage. If an agent is set up but nothing appears
    here, its requests don’t reach Tally or are rejected: look for 401 or 403 in its log, and check the address and
    token it uses.
  </Empty>
)

function Status({ status }: { status: TelemetryStatus }) {
  const { agents, channels, rejected, ignored, pushes, emails, by_email } = status
  return (
    <Stack gap="xl">
      {agents.length > 0 && (
        <SimpleGrid cols={{ base: 2, sm: 4, lg: 6 }}>
          {agents.map(({ agent_harness, sessions }) => (
            <div key={agent_harness}>
              <Note>
                <bdi>{agent_harness}</bdi>
              </Note>
              <Text fz={22} fw={650} lh={1.2}>
                {count(sessions)}
              </Text>
              <Caption>{sessions === 1 ? 'session' : 'sessions'}</Caption>
            </div>
          ))}
        </SimpleGrid>
      )}
      <Part
        title="Counted records"
        lead="Agents report the same usage on several channels. Each session is counted from one of them; tokens are never added up across channels."
      >
        <DataTable
          label="Channels"
          name="telemetry-channels"
          columns={CHANNELS}
          list={channels}
          rowKey={({ agent_harness, version, channel }) => `${agent_harness} ${version} ${channel}`}
          empty={<Text size="sm">None of the received records could be counted. The reasons are listed below.</Text>}
        />
      </Part>
      {rejected.length > 0 && (
        <Part
          title="Rejected records"
          lead="Usage records that could not be counted. Each reason explains what to change."
        >
          <DataTable
            label="Rejected records"
            name="telemetry-rejected"
            columns={REJECTED}
            list={rejected}
            rowKey={({ reason }) => reason}
            empty={null}
          />
        </Part>
      )}
      {emails && <Emails emails={emails} isByEmail={by_email} />}
      {pushes && pushes.length > 0 && (
        <Part title="Tokens in use">
          <DataTable
            label="Tokens"
            name="telemetry-tokens"
            columns={PUSHES}
            list={pushes}
            rowKey={({ token }) => token.id}
            empty={null}
          />
        </Part>
      )}
      {ignored.length > 0 && (
        <Part
          title="Ignored records"
          lead="Agents push a lot of data that is not about token usage. Tally drops it unread. Counts that a library does not send, or that Tally does not know, are listed, too."
        >
          <DataTable
            label="Ignored records"
            name="telemetry-ignored"
            columns={IGNORED}
            list={ignored}
            rowKey={({ name }) => name}
            fold={SHOWN}
            empty={null}
          />
        </Part>
      )}
    </Stack>
  )
}

type Channel = TelemetryStatus['channels'][number]

const CHANNELS: Column<Channel>[] = [
  cellColumn(
    'agent',
    'Agent',
    { value: ({ agent_harness, version }) => `${agent_harness} ${version}`, phone: 'title' },
    ({ agent_harness, version }) => (
      <bdi>
        {agent_harness}
        {version && ` ${version}`}
      </bdi>
    ),
  ),
  textColumn('channel', 'Channel', ({ channel }) => channel),
  agoColumn('seen', 'Last seen', ({ last_seen_at }) => last_seen_at, { width: '130px', phone: 'value' }),
  countColumn('counted', 'Records', ({ counted }) => counted, { width: '90px' }),
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens, { width: '100px' }),
  countColumn('repeated', 'Repeated', ({ repeated }) => repeated, { width: '90px' }),
  countColumn('late', 'Too late', ({ late }) => late, { width: '90px' }),
  countColumn('shrunk', 'Below billed', ({ shrunk }) => shrunk, { width: '110px' }),
]

type Rejected = TelemetryStatus['rejected'][number]

const REJECTED: Column<Rejected>[] = [
  cellColumn('reason', 'Reason', { value: ({ reason }) => reason, phone: 'title' }, ({ reason }) => (
    <span title={reason}>{reason}</span>
  )),
  countColumn('records', 'Records', ({ records }) => records, { width: '100px' }),
  agoColumn('seen', 'Last seen', ({ last_seen_at }) => last_seen_at, { width: '130px', phone: 'value' }),
]

type Ignored = TelemetryStatus['ignored'][number]

const IGNORED: Column<Ignored>[] = [
  textColumn('name', 'Event, metric or span', ({ name }) => name, { phone: 'title' }),
  cellColumn('reason', 'Reason', { value: ({ reason }) => reason }, ({ reason }) => (
    <span title={reason}>{reason}</span>
  )),
  countColumn('records', 'Records', ({ records }) => records, { width: '100px' }),
  agoColumn('seen', 'Last seen', ({ last_seen_at }) => last_seen_at, { width: '130px', phone: 'value' }),
]

/** How many ignored records are shown at first; the most frequent ones come first. */
const SHOWN = 10

type Push = NonNullable<TelemetryStatus['pushes']>[number]

const PUSHES: Column<Push>[] = [
  textColumn('token', 'Token', ({ token }) => token.name, { phone: 'title' }),
  countColumn('requests', 'Requests', ({ requests }) => requests, { width: '100px' }),
  countColumn('records', 'Records', ({ records }) => records, { width: '100px' }),
  agoColumn('seen', 'Last seen', ({ last_seen_at }) => last_seen_at, { width: '130px', phone: 'value' }),
]
