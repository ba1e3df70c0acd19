/** Trusts: which jobs of GitHub Actions and GitLab CI/CD get tokens without a stored secret. For admins. */
import { Anchor, Button, Checkbox, Group, NumberInput, Select, TagsInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { agoColumn, cellColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { type Choice, PersonPicker, ProjectPicker } from '../../parts/pickers.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'
import { useSend } from '../../server/send.ts'
import { addTrust, type NewTrust, type Trust } from '../../server/trusts.ts'

interface TrustsProps {
  isAdding: boolean
  add: () => void
  close: () => void
}

export function Trusts({ isAdding, add, close }: TrustsProps) {
  const [removed, setRemoved] = useState<Trust | null>(null)
  const list = useApiList(['trusts', 'list'], (api, paging) => api.trusts.get({ query: paging }))
  return (
    <>
      <Note maw={720} mb="sm">
        Jobs of these repositories need no stored token: they exchange their ID token for a short-lived token that is
        limited to a project.{' '}
        <Anchor href="/docs/connect/ci#report-without-a-stored-token" inherit>
          Set up the job
        </Anchor>
      </Note>
      <DataTable
        label="CI trusts"
        name="trusts"
        columns={columnsOf(setRemoved)}
        list={list}
        rowKey={({ id }) => id}
        isMuted={({ state }) => state !== 'active'}
        empty={
          <Empty title="No CI trusts" action={<Button onClick={add}>New trust</Button>}>
            With a trust, jobs of GitHub Actions and GitLab CI/CD report without a stored token.
          </Empty>
        }
      />
      {isAdding && <NewTrustForm close={close} />}
      <RemoveTrust trust={removed} close={() => setRemoved(null)} />
    </>
  )
}

const PROVIDERS: Record<Trust['provider'], string> = { github: 'GitHub Actions', gitlab: 'GitLab CI/CD' }

function codeText({ branches, pull_requests, environment }: Trust): string {
  const on = branches.length === 0 ? 'any branch or tag' : branches.join(', ')
  return `${on}${pull_requests ? ', pull requests' : ''}${environment === null ? '' : `, in ${environment}`}`
}

function columnsOf(remove: (trust: Trust) => void): Column<Trust>[] {
  return [
    cellColumn(
      'repository',
      'Repository',
      { value: ({ repository }) => repository, phone: 'title' },
      ({ repository, repository_id, provider }) => (
        <>
          <bdi>{repository}</bdi>
          <Caption fw={400}>
            {PROVIDERS[provider]}, {repository_id}
          </Caption>
        </>
      ),
    ),
    textColumn('for', 'For', codeText),
    textColumn('project', 'Project', ({ project }) => project.key, { width: '120px' }),
    textColumn('user', 'Person', ({ user }) => user.name, { width: '140px', phone: 'hidden' }),
    agoColumn('used', 'Last used', ({ last_used_at }) => last_used_at, { width: '110px' }),
    statusColumn('state', 'State', ({ state }) => state, { width: '90px', phone: 'value' }),
    cellColumn('remove', 'Action', { phone: 'bare', width: '110px', isNumber: true }, (trust) => (
      <Group justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => remove(trust)}
          aria-label={`Remove the trust in ${trust.repository}`}
        >
          Remove…
        </Button>
      </Group>
    )),
  ]
}

function RemoveTrust({ trust, close }: { trust: Trust | null; close: () => void }) {
  const remove = useSend({
    send: (id: string) => answer(api.trusts({ id }).delete()),
    changes: ['trusts', 'audit'],
    done: () => 'Trust removed.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen={trust !== null}
      close={close}
      title={`Remove the trust in “${trust?.repository ?? ''}”?`}
      action="Remove"
      isDangerous
      confirm={() => remove.mutateAsync(trust!.id)}
    >
      <Text size="sm">Its jobs can no longer get tokens, and their current tokens stop working immediately.</Text>
    </Confirm>
  )
}

interface TrustValues {
  provider: Trust['provider']
  issuer: string
  repository: string
  repository_id: string
  branches: string[]
  pull_requests: boolean
  environment: string
  user: Choice | null
  project: Choice | null
  minutes: number
}

const EMPTY: TrustValues = {
  provider: 'github',
  issuer: '',
  repository: '',
  repository_id: '',
  branches: ['main'],
  pull_requests: false,
  environment: '',
  user: null,
  project: null,
  minutes: 15,
}

const requestOf = ({ issuer, environment, user, project, ...others }: TrustValues): NewTrust => ({
  ...others,
  ...(issuer.trim() !== '' && { issuer: issuer.trim() }),
  environment: environment.trim() === '' ? null : environment.trim(),
  user: user!.value,
  project: project!.value,
})

const required = (value: string | Choice | null) =>
  value === null || (typeof value === 'string' && value.trim() === '') ? 'Required.' : null

function NewTrustForm({ close }: { close: () => void }) {
  const form = useForm<TrustValues>({
    initialValues: EMPTY,
    validate: { repository: required, repository_id: required, user: required, project: required },
  })
  const sending = useFormSend({
    form,
    send: (values: TrustValues) => addTrust(requestOf(values)),
    changes: ['trusts', 'audit'],
    done: () => 'Trust added.',
    after: close,
  })
  const picked = (field: 'user' | 'project') => ({
    value: form.values[field],
    change: (choice: Choice | null) => form.setFieldValue(field, choice),
    error: form.errors[field],
    required: true,
  })
  return (
    <FormDialog title="New trust" action="Add trust" close={close} {...sending}>
      <Select label="Provider" data={optionsOf(PROVIDERS)} allowDeselect={false} {...form.getInputProps('provider')} />
      <Group grow align="flex-start">
        <TextInput label="Repository" placeholder="acme/web" data-autofocus {...form.getInputProps('repository')} />
        <TextInput
          label="Repository ID"
          placeholder="123456"
          description="Stays the same when the repository is renamed."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('repository_id')}
        />
      </Group>
      <TagsInput
        label="Branches"
        description="* matches any characters except /, ** any characters. Leave empty for all branches and tags."
        {...form.getInputProps('branches')}
      />
      <Checkbox label="Also pull and merge requests" {...form.getInputProps('pull_requests', { type: 'checkbox' })} />
      <TextInput
        label="Environment"
        description="If set, only jobs that run in this environment get tokens."
        {...form.getInputProps('environment')}
      />
      <ProjectPicker label="Project" description="All entries of the jobs are assigned to it." {...picked('project')} />
      <PersonPicker
        label="Person"
        description="The owner of the entries, with the role member. Add a person for CI."
        {...picked('user')}
      />
      <Group grow align="flex-start">
        <NumberInput label="Valid for (minutes)" min={5} max={60} {...form.getInputProps('minutes')} />
        <TextInput label="Issuer" placeholder="Of a self-hosted GitHub or GitLab" {...form.getInputProps('issuer')} />
      </Group>
    </FormDialog>
  )
}
