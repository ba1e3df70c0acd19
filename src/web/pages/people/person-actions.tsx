import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Ago } from '../../parts/figures.tsx'
import { answer, api, apiQuery, type Body } from '../../server/api.ts'
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
        {has_password ? 'Create password link' : 'Create invitation link'}
      </Button>
      <Modal
        opened={made !== null}
        onClose={() => setMade(null)}
        title={has_password ? 'Password reset link' : 'Invitation link'}
        closeOnClickOutside={false}
      >
        {made && <LinkOnce made={made} leave={() => setMade(null)} />}
      </Modal>
    </>
  )
}

type Disabled = Body<Awaited<ReturnType<ReturnType<typeof api.users>['disable']['post']>>>

function DisableButton({ person: { id, name } }: { person: Person }) {
  const [isOpen, dialog] = useDisclosure()
  const [relied, setRelied] = useState<Disabled['tokens_in_use']>([])
  return (
    <>
      <Button variant="default" color="red" onClick={dialog.open}>
        Disable…
      </Button>
      <ConfirmChange
        isOpen={isOpen}
        close={dialog.close}
        title={`Disable ${name}?`}
        action="Disable"
        isDangerous
        send={(): Promise<Disabled> => answer(api.users({ id }).disable.post())}
        changes={['users', 'tokens', 'audit']}
        done={() => `${name} is now disabled.`}
        after={({ tokens_in_use }) => setRelied(tokens_in_use)}
      >
        <Text size="sm">
          They are signed out, and their service, read and API tokens stop working immediately. Their entries stay
          theirs. You can enable them again later.
        </Text>
        <TokensLately id={id} />
      </ConfirmChange>
      <Modal opened={relied.length > 0} onClose={() => setRelied([])} title="Tokens in use">
        <Stack>
          <Text size="sm">
            Requests from agents that use these tokens are now rejected. Someone else needs to create new tokens for
            them.
          </Text>
          <TokenList tokens={relied} />
          <Group justify="flex-end">
            <Button onClick={() => setRelied([])}>Close</Button>
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
        <bdi>{name}</bdi>, last used <Ago at={last_used_at} />
      </List.Item>
    ))}
  </List>
)

/** The period in which the server counts a token as in use. */
const LATELY_MS = 30 * 86_400_000

/** Warns which of the person's tokens are in use before they stop working. */
function TokensLately({ id }: { id: string }) {
  const { data } = useQuery(
    apiQuery(['tokens', 'of', id, 'all'], (api) =>
      api.tokens.get({ query: { user: [id], state: ['usable'], kind: ['svc', 'read'], limit: '200' } }),
    ),
  )
  const since = Date.now() - LATELY_MS
  const used = data?.data.filter(({ last_used_at }) => last_used_at !== null && Date.parse(last_used_at) >= since) ?? []
  if (used.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        Used in the last 30 days:
      </Text>
      <TokenList tokens={used} />
    </div>
  )
}

function EnableButton({ person: { id, name } }: { person: Person }) {
  const enable = useSend({
    send: () => answer(api.users({ id }).enable.post()),
    changes: ['users', 'tokens', 'audit'],
    done: () => `${name} can sign in again.`,
  })
  return (
    <Button loading={enable.isPending} onClick={() => enable.mutate()}>
      Enable
    </Button>
  )
}
