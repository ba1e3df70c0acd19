/** The line that connects an agent, and the button that creates its token. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { CopyLine } from '../../parts/copy-line.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useMe, useRole } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import { type CreatedToken, createToken } from '../../server/tokens.ts'
import { isTelemetry, type Target, type WayGuide } from './guides.ts'

interface ConnectLineProps {
  /** Of the agent, after which a token is named. */
  name: string
  way: WayGuide
  token: CreatedToken | null
  made: (token: CreatedToken | null) => void
}

const KINDS = {
  svc: 'Entries that are reported with a service token belong to you. Each person should create their own.',
  org: 'One organization token can send telemetry for everyone. Entries belong to you, or to the person with the reported e-mail address if that is enabled in the settings.',
}

/** Host names that only work on the same machine. */
const ONLY_HERE = new Set(['localhost', '127.0.0.1', '[::1]'])

const isOnlyHere = ONLY_HERE.has(location.hostname)

export function ConnectLine({ name, way, token: latest, made }: ConnectLineProps) {
  // Organization tokens can only send telemetry.
  const token = latest && (isTelemetry(way) || latest.kind === 'svc') ? latest : null
  const [kind, setKind] = useState<keyof typeof KINDS>('svc')
  const [isNew, setNew] = useState(false)
  const mayOrganization = useRole('admin') && isTelemetry(way)
  const { program } = useMe()
  const { mutate, isPending } = useSend({
    send: () => createToken({ name, kind: mayOrganization ? kind : 'svc' }),
    changes: ['tokens'],
    after: (created) => {
      setNew(true)
      made(created)
    },
  })
  // Once per token, so that the commands do not change while they are copied.
  const target = useMemo<Target>(
    () => ({
      url: location.origin,
      token: token?.token ?? 'tally_svc_…',
      program: (isOnlyHere && program) || 'tally',
      now: new Date(),
    }),
    [token, program],
  )
  const another = () => {
    setNew(false)
    made(null)
  }
  const [first, ...others] = way.steps
  return (
    <Stack gap="md">
      <Note>{way.lead}</Note>
      <Stack gap="xs">
        <Text size="sm">{first!.instruction}</Text>
        <CopyLine key={token?.id} text={first!.lines(target)} copiesAtOnce={isNew} />
        {token ? (
          <Group gap="xs">
            <Note>
              It contains the new token “{token.name}”, which is not shown again. Anyone who has the token can use it.
            </Note>
            <Button size="compact-sm" variant="subtle" onClick={another}>
              Create another token
            </Button>
          </Group>
        ) : (
          <>
            <Group gap="xs">
              <Button onClick={() => mutate()} loading={isPending}>
                Create token and copy
              </Button>
              {mayOrganization && (
                <Segmented
                  aria-label="Token type"
                  value={kind}
                  choose={(kind) => setKind(kind)}
                  titles={{ svc: 'Service token', org: 'Organization token' }}
                />
              )}
            </Group>
            <Caption>{KINDS[mayOrganization ? kind : 'svc']}</Caption>
          </>
        )}
        {way.usesProgram && !isOnlyHere && (
          <Caption>
            Tally must be{' '}
            <Anchor href="/docs/getting-started/install" inherit>
              installed on that machine
            </Anchor>
            . It needs no server of its own.
          </Caption>
        )}
      </Stack>
      {others.map(({ instruction, lines }) => (
        <div key={instruction}>
          <Text size="sm" mb={4}>
            {instruction}
          </Text>
          <CopyLine text={lines(target)} />
        </div>
      ))}
      {isOnlyHere && (
        <Caption>
          {location.host} is only reachable from this machine. For agents on other machines, make the server listen on
          the network (<code>tally serve --host 0.0.0.0</code>) and use an address that they can reach.
        </Caption>
      )}
    </Stack>
  )
}
