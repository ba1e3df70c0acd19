/** One person: their details, role, tokens and projects. */
import { Alert, Anchor, Button, Grid, Group, Skeleton, Stack, TagsInput, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { agentText, notReadText } from '../../../shared/not-read.ts'
import { addressOf } from '../../address.ts'
import { Download } from '../../parts/download.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago, Moment } from '../../parts/figures.tsx'
import { Form, Refusal } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Status } from '../../parts/status.tsx'
import { Note } from '../../parts/texts.tsx'
import { addressOfThing } from '../../parts/thing-address.ts'
import { useFormSend } from '../../parts/use-form-send.ts'
import { agentStatusKey, askAgentStatus } from '../../server/agent-status.ts'
import { answer, api, apiQuery, apiUntil } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import { Changes } from '../things/changes.tsx'
import { EraseButton, Erased } from './erase-button.tsx'
import { Grants } from './grants.tsx'
import { RoleChoice } from './invite.tsx'
import { PersonActions } from './person-actions.tsx'
import { type Person, stateOf } from './roles.ts'

const ABOVE = { href: '/people', title: 'People' }

export function PersonPage({ id }: { id: string }) {
  const {
    data: person,
    error,
    refetch,
  } = useQuery({
    queryKey: ['users', id],
    queryFn: ({ signal }): Promise<Person> => answer(apiUntil(signal).users({ id }).get()),
  })
  if (error && !person) {
    return (
      <Page title="Person" above={ABOVE}>
        <Failure error={error} retry={refetch} />
      </Page>
    )
  }
  if (!person) {
    return (
      <Page title="Person" above={ABOVE}>
        <Skeleton height={320} />
      </Page>
    )
  }
  const isErased = person.erased_at !== null
  return (
    <Page
      title={
        <Group gap="xs" component="span">
          <bdi>{person.name}</bdi>
          {person.disabled_at !== null && <Status of={stateOf(person)} />}
        </Group>
      }
      above={ABOVE}
      actions={
        <>
          {person.role !== 'viewer' && (
            <Button variant="default" component={Link} href={addressOfThing('person', person.id)}>
              View usage
            </Button>
          )}
          {!isErased && <PersonActions person={person} />}
        </>
      }
    >
      {isErased && <Erased person={person} />}
      {person.disabled_at !== null && !isErased && (
        <Alert color="red" variant="light" title="Disabled">
          Since <Moment at={person.disabled_at} />, they can’t sign in, and their service, read and API tokens are
          rejected. Their entries are kept.
        </Alert>
      )}
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="xl">
            {!isErased && (
              <>
                <PersonForm key={`${person.name} ${person.email} ${person.role}`} person={person} />
                {person.role !== 'viewer' && <FurtherEmails id={person.id} />}
              </>
            )}
            {isErased && <Text size="sm">Their entries, token sheets and bills remain, under the pseudonym.</Text>}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="lg">
            {!isErased && <SignIn person={person} />}
            {person.role === 'viewer' ? (
              !isErased && <Grants person={person} />
            ) : (
              <>
                <Projects id={person.id} />
                <Tokens id={person.id} email={person.email} />
                <Agents id={person.id} email={person.email} />
              </>
            )}
            <PersonalData person={person} />
          </Stack>
        </Grid.Col>
      </Grid>
      <Changes of={person.id} />
    </Page>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <Title order={2} size="h6" mb={4}>
      {title}
    </Title>
    {children}
  </div>
)

const SignIn = ({ person: { last_signed_in_at, has_password, created_at } }: { person: Person }) => (
  <Part title="Sign-in">
    <Text size="sm">
      {has_password ? (
        <>
          Last signed in: <Ago at={last_signed_in_at} />.
        </>
      ) : (
        'No password yet. Create an invitation link and send it to them.'
      )}{' '}
      Added <Moment at={created_at} />.
    </Text>
  </Part>
)

function PersonalData({ person }: { person: Person }) {
  const { id } = person
  const me = useMe()
  return (
    <Part title="Personal data">
      <Text size="sm" mb="xs">
        Everything that names this person or that they wrote, without secrets. The export is recorded in the audit log.
      </Text>
      <Group gap="xs">
        <Download path={`/users/${id}/export`}>Export JSON</Download>
        <Download path={`/users/${id}/export`} query={{ format: 'csv' }}>
          Export CSV files (ZIP)
        </Download>
        {person.erased_at === null && id !== me.person.id && <EraseButton person={person} />}
      </Group>
    </Part>
  )
}

/** More projects than anyone leads. */
const LED = '100'

function Projects({ id }: { id: string }) {
  const { data } = useQuery(
    apiQuery(['projects', 'led', id], (api) => api.projects.get({ query: { lead: [id], limit: LED } })),
  )
  return (
    <Part title="Projects led">
      <Text size="sm" component="div">
        {data?.data.length === 0 && 'None. Set the leads of a project in Work.'}
        {data?.data.map(({ id, key, name }) => (
          <Anchor key={id} component={Link} href={`/work/projects/${id}`} size="sm" display="block">
            <bdi>{projectLabel({ key, name })}</bdi>
          </Anchor>
        ))}
      </Text>
    </Part>
  )
}

/** Enough to see whether something is wrong. */
const AGENTS_SHOWN = '5'

function Agents({ id, email }: { id: string; email: string }) {
  const { data } = useQuery({
    queryKey: agentStatusKey('of', id),
    queryFn: ({ signal }) => askAgentStatus({ user: [id], limit: AGENTS_SHOWN })(undefined, signal),
  })
  return (
    <Part title="Agents">
      {data?.data.length === 0 && <Text size="sm">None have reported from their machines.</Text>}
      {data?.data.map(({ machine, agent_harness, version, not_read, reported_at }) => (
        <div key={`${machine} ${agent_harness}`}>
          <Group justify="space-between">
            <Text size="sm">
              <bdi>{agentText(agent_harness, version)}</bdi>
            </Text>
            <Note>
              reported <Ago at={reported_at} />
            </Note>
          </Group>
          {not_read.map((each) => (
            <Note key={`${each.reason} ${each.name}`}>Not read: {notReadText(each)}</Note>
          ))}
        </div>
      ))}
      {data && data.data.length > 0 && (
        <Button
          component={Link}
          href={addressOf('/tokens', { tab: 'agents', user: email })}
          size="compact-sm"
          variant="subtle"
          ml={-8}
        >
          All agents
        </Button>
      )}
    </Part>
  )
}

function Tokens({ id, email }: { id: string; email: string }) {
  const { data } = useQuery(
    apiQuery(['tokens', 'of', id], (api) => api.tokens.get({ query: { user: [id], state: ['usable'], limit: '5' } })),
  )
  return (
    <Part title="Tokens">
      {data?.data.length === 0 && <Text size="sm">No usable tokens.</Text>}
      {data?.data.map(({ id, name, last_used_at }) => (
        <Group key={id} justify="space-between">
          <Text size="sm">
            <bdi>{name}</bdi>
          </Text>
          <Note>
            last used <Ago at={last_used_at} />
          </Note>
        </Group>
      ))}
      {data && data.data.length > 0 && (
        <Button
          component={Link}
          href={`/tokens?state=any&user=${encodeURIComponent(email)}`}
          size="compact-sm"
          variant="subtle"
          ml={-8}
        >
          All tokens
        </Button>
      )}
    </Part>
  )
}

function PersonForm({ person }: { person: Person }) {
  const { name, email, role } = person
  const form = useForm({ initialValues: { name, email, role } })
  const sending = useFormSend({
    form,
    of: person,
    send: (values: typeof form.values, options) => answer(api.users({ id: person.id }).patch(values, options)),
    changes: ['users', 'me', 'audit'],
    done: () => 'Changes saved.',
  })
  return (
    <Form sending={sending}>
      <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
      <TextInput
        label="E-mail address"
        description="Used to sign in."
        type="email"
        autoComplete="off"
        {...form.getInputProps('email')}
      />
      <RoleChoice {...form.getInputProps('role')} />
      <Button type="submit" w="fit-content" loading={sending.isSending} disabled={!form.isDirty()}>
        Save changes
      </Button>
    </Form>
  )
}

/** More e-mail addresses whose telemetry belongs to the person. */
function FurtherEmails({ id }: { id: string }) {
  const { data } = useQuery(apiQuery(['users', id, 'emails'], (api) => api.users({ id }).emails.get()))
  if (!data) return <Skeleton height={60} />
  return <EmailsForm key={data.emails.join()} id={id} known={data.emails} />
}

function EmailsForm({ id, known }: { id: string; known: string[] }) {
  const [emails, setEmails] = useState(known)
  const save = useSend({
    send: () => answer(api.users({ id }).emails.put({ emails })),
    changes: ['users', 'telemetry', 'audit'],
    done: () => 'E-mail addresses saved.',
    quiet: true,
  })
  return (
    <Stack gap="xs">
      <TagsInput
        label="Additional e-mail addresses"
        description="If telemetry is assigned by e-mail address (see Settings), telemetry with one of these belongs to this person. Press Enter after each."
        splitChars={[',', ' ', ';']}
        acceptValueOnBlur
        value={emails}
        onChange={setEmails}
      />
      <Refusal text={save.error?.message} />
      <Button variant="default" w="fit-content" loading={save.isPending} onClick={() => save.mutate()}>
        Save addresses
      </Button>
    </Stack>
  )
}
