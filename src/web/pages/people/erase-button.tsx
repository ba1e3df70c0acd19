/** Erasing a person: what would change, a confirmation by their e-mail address, and how far it is. */
import { Alert, Anchor, Button, List, Skeleton, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api, apiQuery, apiUntil, type Body } from '../../server/api.ts'
import type { Person } from './roles.ts'

type Planned = Extract<Body<Awaited<ReturnType<ReturnType<typeof api.users>['erase']['post']>>>, { dry_run: true }>

export function EraseButton({ person }: { person: Person }) {
  const [isOpen, dialog] = useDisclosure()
  return (
    <>
      <Button variant="default" color="red" size="xs" onClick={dialog.open}>
        Erase…
      </Button>
      {isOpen && <EraseDialog person={person} close={dialog.close} />}
    </>
  )
}

function EraseDialog({ person: { id, name, email }, close }: { person: Person; close: () => void }) {
  const [also, setAlso] = useState<string[]>([])
  const [typed, setTyped] = useState('')
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Erase ${name}?`}
      action="Erase"
      isDangerous
      isIncomplete={typed.trim().toLowerCase() !== email}
      send={() => answer(api.users({ id }).erase.post({ confirm: typed.trim(), also }))}
      changes={['users', 'tokens', 'projects', 'clients', 'audit']}
      done={() => `${name} is erased.`}
    >
      <Text size="sm">
        This cannot be undone. The account becomes a pseudonym, their tokens stop working, and their names and addresses
        are replaced in all texts. Entries, costs and sent bills stay what they are. Export their data first, if they
        want it.
      </Text>
      <TagsInput
        label="Synonyms"
        description="Such as a user name in paths or labels, or another address. Press Enter after each."
        placeholder={also.length === 0 ? 'ada.lovelace' : undefined}
        maxTags={20}
        value={also}
        onChange={setAlso}
      />
      <Plan id={id} also={also} add={(word) => setAlso([...also, word])} />
      <TextInput
        label={
          <>
            Type <bdi>{email}</bdi> to confirm
          </>
        }
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </ConfirmChange>
  )
}

function Plan({ id, also, add }: { id: string; also: string[]; add: (word: string) => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['users', id, 'erase', also],
    queryFn: async ({ signal }) => {
      const planned = await answer(apiUntil(signal).users({ id }).erase.post({ also, dry_run: true }))
      return planned as Planned
    },
    gcTime: 0,
  })
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton height={96} />
  const { emails, names, account_names: accountNames } = data.words
  const rows = Object.values(data.replaced).reduce((sum, count) => sum + count, 0)
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Replaced in all texts, in any spelling:
      </Text>
      <List size="sm">
        {[...emails, ...names].map((word) => (
          <List.Item key={word}>
            <bdi>{word}</bdi>
          </List.Item>
        ))}
      </List>
      {accountNames.length > 0 && (
        <Note>
          <bdi>{accountNames.join(', ')}</bdi> means others, too: replaced only in the audit log of the account, unless
          you add it above.
        </Note>
      )}
      {data.near.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Similar texts, which stay unless you add them:
          </Text>
          <List size="sm">
            {data.near.map(({ spelling, why, count }) => (
              <List.Item key={spelling}>
                <bdi>{spelling}</bdi> ({count.toLocaleString('en')}): {why}.{' '}
                <Anchor component="button" type="button" size="sm" onClick={() => add(spelling)}>
                  Add
                </Anchor>
              </List.Item>
            ))}
          </List>
        </>
      )}
      <Text size="sm">
        {rows === 1 ? '1 record changes.' : `${rows.toLocaleString('en')} records change.`}
        {data.kept.map(({ reason, why, rows }) => (
          <span key={reason}>
            {' '}
            {rows.toLocaleString('en')} kept: {why}.
          </span>
        ))}
      </Text>
    </Stack>
  )
}

/** Looks again as long as texts are being replaced. */
const LOOK_MS = 2_000

export function Erased({ person: { id, erased_at } }: { person: Person }) {
  const { data } = useQuery({
    ...apiQuery(['users', id, 'erasure'], (api) => api.users({ id }).erasure.get()),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? LOOK_MS : false),
  })
  return (
    <Alert color="gray" variant="light" title="Erased">
      Since <Moment at={erased_at} />, this is a pseudonym for a person whose data was erased.
      {data?.state === 'running' && ' Their names are still being replaced in texts.'}
      {data?.state === 'done' &&
        !data.compacted &&
        ' Unused space of the database may still contain them: run tally compact on the server at a quiet time.'}
    </Alert>
  )
}
