import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { Ago } from '../../parts/figures.tsx'
import { answer, api, type Body } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import { LinkOnce } from './link-once.tsx'
import type { PasswordLink, Person } from './roles.ts'

export function PersonActions({ person }: { person: Person }) {
  const me = useMe()
  return person.disabled_at === null ? (
    <>
      <PasswordLinkButton person={person} />
      {person.id !== me.person.id && <DisableButton person={person} />}
    </>
  ) : (
    <EnableButton person={person} />
  )
}

function PasswordLinkButton({ person: { id, has_password } }: { person: Person }) {
  const [made, setMade] = useState<PasswordLink | null>(null)
  const make = useSend({
    send: (): Promise<PasswordLink> => {
      const links = api.users({ id })
      return answer(has_password ? links['password-link'].post() : links.invitation.post())
    },
    changes: ['audit'],
    after: setMade,
  })
  return (
    <>
      <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
        {has_password ? 'Make a password link' : 'Make an invitation link'}
      </Button>
      <Modal
        opened={made !== null}
        onClose={() => setMade(null)}
        title={has_password ? 'Link to choose a new password' : 'Invitation link'}
        closeOnClickOutside={false}
      >
        {made && <LinkOnce made={made} leave={() => setMade(null)} />}
      </Modal>
    </>
  )
}

type Disabled = Body<Awaited<ReturnType<ReturnType<typeof api.users>['disable']['post']>>>

function DisableButton({ person: { id, name } }: { person: Person }) {
  const [isOpen, dialogue] = useDisclosure()
  const [relied, setRelied] = useState<Disabled['tokens_in_use']>([])
  const disable = useSend({
    send: (): Promise<Disabled> => answer(api.users({ id }).disable.post()),
    changes: ['users', 'tokens', 'audit'],
    done: () => `${name} is disabled.`,
    after: ({ tokens_in_use }) => setRelied(tokens_in_use),
    quiet: true,
  })
  return (
    <>
      <Button variant="default" color="red" onClick={dialogue.open}>
        Disable …
      </Button>
      <Confirm
        isOpen={isOpen}
        close={dialogue.close}
        title={`Disable ${name}?`}
        action="Disable"
        isDangerous
        confirm={() => disable.mutateAsync()}
      >
        <Text size="sm">
          They are signed out, and their service and read tokens are refused at once. Entries stay theirs. It can be
          taken back.
        </Text>
        <TokensLately id={id} />
      </Confirm>
      <Modal opened={relied.length > 0} onClose={() => setRelied([])} title="These tokens were in use">
        <Stack>
          <Text size="sm">Agents that called with them are refused now. Somebody else has to make new ones.</Text>
          <TokenList tokens={relied} />
          <Group justify="flex-end">
            <Button onClick={() => setRelied([])}>Understood</Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

const TokenList = ({ tokens }: { tokens: { id: string; name: string; last_used_at: string | null }[] }) => (
  <List size="sm">
    {tokens.map(({ id, name, last_used_at }) => (
      <List.Item key={id}>
        <bdi>{name}</bdi>, used <Ago at={last_used_at} />
      </List.Item>
    ))}
  </List>
)

/** What the server counts as in use. */
const LATELY_MS = 30 * 86_400_000

/** Who relies on the person's tokens should be known before. */
function TokensLately({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['tokens', 'of', id, 'all'],
    queryFn: () =>
      answer(api.tokens.get({ query: { user: [id], state: ['usable'], kind: ['svc', 'read'], limit: '200' } })),
  })
  const since = Date.now() - LATELY_MS
  const used = data?.data.filter(({ last_used_at }) => last_used_at !== null && Date.parse(last_used_at) >= since) ?? []
  if (used.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        In use in the last 30 days:
      </Text>
      <TokenList tokens={used} />
    </div>
  )
}

function EnableButton({ person: { id, name } }: { person: Person }) {
  const enable = useSend({
    send: () => answer(api.users({ id }).enable.post()),
    changes: ['users', 'tokens', 'audit'],
    done: () => `${name} may sign in again.`,
  })
  return (
    <Button loading={enable.isPending} onClick={() => enable.mutate()}>
      Enable
    </Button>
  )
}
