/** Connects an agent: one line with a new token, and the first entry as it arrives. */
import { Alert, Anchor, Group, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { WAY_NAMES } from '../../../shared/agents.ts'
import { one, useAddress } from '../../address.ts'
import { Page } from '../../parts/page.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import type { CreatedToken } from '../../server/tokens.ts'
import { Arrival } from './arrival.tsx'
import classes from './connect.module.css'
import { ConnectLine } from './connect-line.tsx'
import { FoundSessions } from './found-sessions.tsx'
import { findAgents, GUIDES, type Guide, type WayGuide } from './guides.ts'

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
      {welcome === 'true' && <FoundSessions />}
      <Stack gap="xl" maw={860}>
        <Stack gap="sm">
          <Choice guide={guide} choose={(key) => show({ agent: key, way: undefined }, { replace: true })} />
          <Ways guide={guide} way={way} choose={(key) => show({ way: key }, { replace: true })} />
        </Stack>
        <Stack gap="sm">
          <CardTitle>{`Connect ${SUBJECTS[guide.key] ?? guide.title}`}</CardTitle>
          <ConnectLine key={`${guide.key} ${way.way}`} name={guide.key} way={way} token={token} made={setToken} />
        </Stack>
        <Arrival token={token} waits={way.waits} />
      </Stack>
    </Page>
  )
}

/** What is connected, where it is not the guide's title. */
const SUBJECTS: Record<string, string> = { curl: 'your program', otlp: 'the exporter', files: 'a machine' }

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
          {unread.length === 0 && 'Tally does not read an agent with this name. '}If it can send OpenTelemetry data,
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
