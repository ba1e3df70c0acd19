/** Connects an agent: create a token, configure the agent, verify that an entry arrives. */
import { Alert, Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import { one, useAddress } from '../../address.ts'
import { CopyLine } from '../../parts/copy-line.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import type { CreatedToken } from '../../server/tokens.ts'
import { Arrival } from './arrival.tsx'
import classes from './connect.module.css'
import { GUIDES, type Guide, type Target } from './guides.ts'
import { TokenStep } from './token-step.tsx'

export default function Connect() {
  const [{ agent, welcome }, show] = useAddress({ agent: one, welcome: one })
  const [token, setToken] = useState<CreatedToken | null>(null)
  const guide = GUIDES.find(({ key }) => key === agent) ?? GUIDES[0]!
  return (
    <Page
      title="Connect an agent"
      lead="Agents report their usage as one entry per session. Tally assigns each new entry to a project, prices it and shows it immediately."
    >
      {welcome === 'true' && <Welcome />}
      <Stack gap="xl" maw={860}>
        <Choice guide={guide} choose={(key) => show({ agent: key }, { replace: true })} />
        <Numbered number={1} title="Create a token">
          <TokenStep guide={guide} token={token} made={setToken} />
        </Numbered>
        <Numbered number={2} title={`Configure ${SUBJECTS[guide.key] ?? guide.title}`}>
          <Lines guide={guide} token={usable(token, guide)} />
        </Numbered>
        <Numbered number={3} title="Verify it works">
          <Arrival token={token} waits={guide.waits} />
        </Numbered>
      </Stack>
    </Page>
  )
}

/** How step 2 names what is configured, where it is not the guide's title. */
const SUBJECTS: Record<string, string> = { curl: 'your program', otlp: 'the exporter', files: 'the tally CLI' }

/** Organization tokens can only send telemetry. */
const usable = (token: CreatedToken | null, { isTelemetry }: Guide) =>
  token && (isTelemetry || token.kind === 'svc') ? token : null

function Welcome() {
  const { name } = useSettings()
  return (
    <Alert color="teal" variant="light" title={`${name} is set up`}>
      You are signed in as its admin. Next, connect an agent. You can add people, clients and prices later.
    </Alert>
  )
}

const Choice = ({ guide, choose }: { guide: Guide; choose: (key: string) => void }) => (
  <Radio.Group value={guide.key} onChange={choose} aria-label="Agent">
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
      {GUIDES.map(({ key, title, by }) => (
        <Radio.Card key={key} value={key} className={classes.card} aria-label={`${title}, ${by}`}>
          <Group wrap="nowrap" gap="xs" align="flex-start">
            <Radio.Indicator size="xs" mt={3} />
            <div>
              <Text size="sm" fw={600} lh={1.3}>
                {title}
              </Text>
              <Caption>{by}</Caption>
            </div>
          </Group>
        </Radio.Card>
      ))}
    </SimpleGrid>
  </Radio.Group>
)

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

function Lines({ guide, token }: { guide: Guide; token: CreatedToken | null }) {
  // Once per token, so that the commands do not change while they are copied.
  const target = useMemo<Target>(
    () => ({ url: location.origin, token: token?.token ?? 'tally_svc_…', now: new Date() }),
    [token],
  )
  return (
    <Stack gap="sm">
      <Note>
        {guide.lead}
        {!token && ' Create a token first to include it in these commands.'}
      </Note>
      {guide.steps.map(({ instruction, lines }) => (
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
