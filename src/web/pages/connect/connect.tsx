/** Connects an agent: create a token, configure the agent, verify that an entry arrives. */
import { Alert, Anchor, Group, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useMemo, useState } from 'react'
import { WAY_NAMES } from '../../../shared/agents.ts'
import { one, useAddress } from '../../address.ts'
import { CopyLine } from '../../parts/copy-line.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import type { CreatedToken } from '../../server/tokens.ts'
import { Arrival } from './arrival.tsx'
import classes from './connect.module.css'
import { findAgents, GUIDES, type Guide, isTelemetry, type Target, type WayGuide } from './guides.ts'
import { TokenStep } from './token-step.tsx'

export default function Connect() {
  const [{ agent, way: chosen, welcome }, show] = useAddress({ agent: one, way: one, welcome: one })
  const [token, setToken] = useState<CreatedToken | null>(null)
  const guide = GUIDES.find(({ key }) => key === agent) ?? GUIDES[0]!
  const way = guide.ways.find(({ way }) => way === chosen) ?? guide.ways[0]!
  return (
    <Page
      title="Connect an agent"
      lead="Agents report their usage as one entry per session. Tally assigns each new entry to a project, prices it and shows it immediately."
    >
      {welcome === 'true' && <Welcome />}
      <Stack gap="xl" maw={860}>
        <Stack gap="sm">
          <Choice guide={guide} choose={(key) => show({ agent: key, way: undefined }, { replace: true })} />
          <Ways guide={guide} way={way} choose={(key) => show({ way: key }, { replace: true })} />
        </Stack>
        <Numbered number={1} title="Create a token">
          <TokenStep name={guide.key} isTelemetry={isTelemetry(way)} token={token} made={setToken} />
        </Numbered>
        <Numbered number={2} title={`Configure ${SUBJECTS[guide.key] ?? guide.title}`}>
          <Lines way={way} token={usable(token, way)} />
        </Numbered>
        <Numbered number={3} title="Verify it works">
          <Arrival token={token} waits={way.waits} />
        </Numbered>
      </Stack>
    </Page>
  )
}

/** How step 2 names what is configured, where it is not the guide's title. */
const SUBJECTS: Record<string, string> = { curl: 'your program', otlp: 'the exporter', files: 'the tally CLI' }

/** Organization tokens can only send telemetry. */
const usable = (token: CreatedToken | null, way: WayGuide) =>
  token && (isTelemetry(way) || token.kind === 'svc') ? token : null

function Welcome() {
  const { name } = useSettings()
  return (
    <Alert color="teal" variant="light" title={`${name} is set up`}>
      You are signed in as its admin. Next, connect an agent. You can add people, clients and prices later.
    </Alert>
  )
}

function Choice({ guide, choose }: { guide: Guide; choose: (key: string) => void }) {
  const [text, setText] = useState('')
  const chooseHidden = (key: string) => {
    setText('')
    choose(key)
  }
  const { guides, unread } = findAgents(text)
  return (
    <>
      <TextInput
        type="search"
        aria-label="Find an agent"
        placeholder="Find an agent"
        leftSection={<IconSearch size={15} />}
        value={text}
        maw={260}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Radio.Group value={guide.key} onChange={choose} aria-label="Agent">
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
          {guides.map(({ key, title, ways }) => (
            <Radio.Card key={key} value={key} className={classes.card} aria-label={title}>
              <Group wrap="nowrap" gap="xs" align="flex-start">
                <Radio.Indicator size="xs" mt={3} />
                <div>
                  <Text size="sm" fw={600} lh={1.3}>
                    {title}
                  </Text>
                  <Caption>{ways.map(nameOf).join(', ').toLowerCase()}</Caption>
                </div>
              </Group>
            </Radio.Card>
          ))}
        </SimpleGrid>
      </Radio.Group>
      {unread.map(({ title, reason }) => (
        <Note key={title}>{`Tally does not read ${title}. ${reason}`}</Note>
      ))}
      {guides.length === 0 && (
        <Note>
          {unread.length === 0 && 'Tally does not read an agent of this name. '}If it can send OpenTelemetry data,
          choose{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => chooseHidden('otlp')}>
            Any OTLP exporter
          </Anchor>
          ; otherwise a script can report its sessions with{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => chooseHidden('curl')}>
            one HTTP request
          </Anchor>
          .
        </Note>
      )}
    </>
  )
}

const nameOf = ({ way }: WayGuide) => (way === 'http' ? 'One request' : WAY_NAMES[way])

interface WaysProps {
  guide: Guide
  way: WayGuide
  choose: (way: string) => void
}

/** The ways to connect an agent, and what each of them counts. */
function Ways({ guide: { title, ways }, way, choose }: WaysProps) {
  if (ways.length === 1)
    return way.misses === undefined ? null : (
      <Note>{`${nameOf(way)} of ${title} count ${countsOf(way).toLowerCase()}.`}</Note>
    )
  return (
    <Radio.Group value={way.way} onChange={choose} label={`How ${title} reports`}>
      <Stack gap={6} mt={4}>
        {ways.map((each) => (
          <Radio key={each.way} value={each.way} size="sm" label={nameOf(each)} description={countsOf(each)} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

function countsOf({ way, misses }: WayGuide): string {
  const counted = way === 'telemetry' ? 'Every request while the server can be reached' : 'Every request'
  return misses ? `${counted}, except ${misses}` : counted
}

const Numbered = ({ number, title, children }: { number: number; title: string; children: ReactNode }) => (
  <section className={classes.step}>
    <span className={classes.number} aria-hidden>
      {number}
    </span>
    <Stack gap="xs" miw={0}>
      <CardTitle className={classes.title}>{title}</CardTitle>
      {children}
    </Stack>
  </section>
)

/** Host names that only work on the same machine. */
const ONLY_HERE = new Set(['localhost', '127.0.0.1', '[::1]'])

function Lines({ way, token }: { way: WayGuide; token: CreatedToken | null }) {
  // Once per token, so that the commands do not change while they are copied.
  const target = useMemo<Target>(
    () => ({ url: location.origin, token: token?.token ?? 'tally_svc_…', now: new Date() }),
    [token],
  )
  return (
    <Stack gap="sm">
      <Note>
        {way.lead}
        {!token && ' Create a token first to include it in these commands.'}
      </Note>
      {way.steps.map(({ instruction, lines }) => (
        <div key={instruction}>
          <Text size="sm" mb={4}>
            {instruction}
          </Text>
          <CopyLine text={lines(target)} />
        </div>
      ))}
      {ONLY_HERE.has(location.hostname) && (
        <Caption>
          {location.host} is only reachable from this machine. For agents on other machines, make the server listen on
          the network (<code>tally serve --host 0.0.0.0</code>) and use an address that they can reach.
        </Caption>
      )}
    </Stack>
  )
}
