/** What a person with the role viewer sees, as an admin chooses it. */
import { Button, Checkbox, Group, Radio, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../parts/failure.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Choice, ClientPicker, ProjectPicker } from '../../parts/pickers.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Segmented } from '../../parts/segmented.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiUntil } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Person } from './roles.ts'

const askGrants = async (id: string, signal: AbortSignal) =>
  (await answer(apiUntil(signal).users({ id }).grants.get())).data
type Grant = Awaited<ReturnType<typeof askGrants>>[number]

const MONEY: { value: Grant['money']; label: string; description: string }[] = [
  { value: 'none', label: 'No money', description: 'Tokens and entries only.' },
  { value: 'amounts', label: 'Billed amounts', description: 'What was billed, on bills that you sent.' },
  { value: 'cost', label: 'Cost', description: 'What the usage cost you.' },
]

const nameOf = ({ client, project }: Grant) => (client ? client.name : projectLabel(project!))

const extentOf = ({ client, money, people, bills }: Grant) =>
  [
    client ? 'all projects' : 'project',
    { none: 'tokens only', amounts: 'billed amounts', cost: 'cost' }[money],
    people && 'people',
    bills && 'sent bills',
  ]
    .filter(Boolean)
    .join(' · ')

export function Grants({ person }: { person: Person }) {
  const { id } = person
  const [shared, setShared] = useState<Grant | 'new' | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['users', id, 'grants'],
    queryFn: ({ signal }) => askGrants(id, signal),
  })
  const remove = useSend({
    send: (grant: Grant) =>
      answer(
        api
          .users({ id })
          .grants({ target: (grant.client ?? grant.project)!.id })
          .delete(),
      ),
    changes: ['users', 'audit'],
    done: (_, grant) => `${nameOf(grant)} is no longer shared.`,
  })
  return (
    <section>
      <Title order={2} size="h6" mb={4}>
        Shared with {person.name}
      </Title>
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={60} />}
      {data && (
        <Stack gap="sm">
          {data.length === 0 && (
            <Text size="sm">This viewer can’t see anything yet. Share a client or project with them.</Text>
          )}
          {data.map((grant) => (
            <Group key={(grant.client ?? grant.project)!.id} justify="space-between" wrap="nowrap" gap="xs">
              <div style={{ minWidth: 0 }}>
                <Text size="sm">
                  <bdi>{nameOf(grant)}</bdi>
                </Text>
                <Caption>{extentOf(grant)}</Caption>
              </div>
              <Group gap={4} wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="subtle"
                  aria-label={`Change ${nameOf(grant)}`}
                  onClick={() => setShared(grant)}
                >
                  Change
                </Button>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  aria-label={`Remove ${nameOf(grant)}`}
                  onClick={() => remove.mutate(grant)}
                >
                  Remove
                </Button>
              </Group>
            </Group>
          ))}
          <Button variant="default" w="fit-content" onClick={() => setShared('new')}>
            Share something with {person.name}…
          </Button>
        </Stack>
      )}
      {shared !== null && (
        <ShareDialog person={person} grant={shared === 'new' ? undefined : shared} close={() => setShared(null)} />
      )}
    </section>
  )
}

const choiceOf = (grant: Grant): Choice => ({ value: (grant.client ?? grant.project)!.id, label: nameOf(grant) })

interface Values {
  what: 'client' | 'project'
  target: Choice | null
  money: Grant['money']
  people: boolean
  bills: boolean
}

interface ShareDialogProps {
  person: Person
  /** The one to change; otherwise something else is shared. */
  grant: Grant | undefined
  close: () => void
}

function ShareDialog({ person, grant, close }: ShareDialogProps) {
  const form = useForm<Values>({
    initialValues: grant
      ? { ...grant, what: grant.client ? 'client' : 'project', target: choiceOf(grant) }
      : { what: 'client', target: null, money: 'none', people: false, bills: false },
    validate: { target: (target) => (target === null ? 'Required.' : null) },
  })
  const { what, target, money } = form.values
  const mayShowBills = what === 'client' && money === 'amounts'
  const sending = useFormSend({
    form,
    send: ({ what, target, money, people, bills }: Values) =>
      answer(
        api
          .users({ id: person.id })
          .grants.post({ [what]: target!.value, money, people, bills: bills && mayShowBills }),
      ),
    changes: ['users', 'audit'],
    done: (grant) => `${nameOf(grant)} is shared with ${person.name}.`,
    after: close,
    fields: { client: 'target', project: 'target' },
  })
  const Picker = what === 'client' ? ClientPicker : ProjectPicker
  return (
    <FormDialog
      {...sending}
      title={grant ? `Change what ${person.name} sees` : `Share with ${person.name}`}
      action={grant ? 'Save changes' : 'Share'}
      close={close}
    >
      <Segmented
        aria-label="What to share"
        disabled={grant !== undefined}
        value={what}
        choose={(value) => form.setValues({ what: value, target: null })}
        titles={{ client: 'A client', project: 'A project' }}
      />
      <Picker
        key={what}
        label={what === 'client' ? 'Client' : 'Project'}
        description={what === 'client' ? 'With all of its projects, also later ones.' : undefined}
        required
        disabled={grant !== undefined}
        value={target}
        change={(choice) => form.setFieldValue('target', choice)}
        error={form.errors.target}
      />
      <Radio.Group label="Money" {...form.getInputProps('money')}>
        <Stack gap="xs" mt="xs">
          {MONEY.map((choice) => (
            <Radio key={choice.value} {...choice} />
          ))}
        </Stack>
      </Radio.Group>
      <Checkbox
        label="Show people"
        description="Who used the agents, by name."
        {...form.getInputProps('people', { type: 'checkbox' })}
      />
      {mayShowBills && (
        <Checkbox
          label="Show sent bills"
          description="The bills of the client, as they were sent."
          {...form.getInputProps('bills', { type: 'checkbox' })}
        />
      )}
    </FormDialog>
  )
}
