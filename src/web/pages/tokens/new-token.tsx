import { Alert, Button, Checkbox, Group, Modal, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { DateInput } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { addDays, dayOf } from '../../format/moments.ts'
import { focusFirstIssue } from '../../parts/first-issue.ts'
import { TokenOnce } from '../../parts/token-once.tsx'
import { useFirstDayOfWeek, useRole, useSettings } from '../../server/me.ts'
import { showIssues } from '../../server/send.ts'
import { type CreatedToken, type TokenKind, useNewToken } from '../../server/tokens.ts'
import { EMPTY_TOKEN, requestOf, type TokenValues } from './token-values.ts'

interface NewTokenProps {
  isOpen: boolean
  close: () => void
}

/** Creates a token and shows it once. Then the dialog stays open until it is closed explicitly. */
export function NewToken({ isOpen, close }: NewTokenProps) {
  const [token, setToken] = useState<CreatedToken | null>(null)
  const leave = () => {
    close()
    setToken(null)
  }
  return (
    <Modal
      opened={isOpen}
      onClose={leave}
      title={token ? `Token “${token.name}”` : 'New token'}
      closeOnClickOutside={false}
      closeOnEscape={token === null}
    >
      {token ? (
        <Stack>
          <TokenOnce secret={token.token} />
          <Group justify="flex-end">
            <Button onClick={leave}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <TokenForm made={setToken} leave={leave} />
      )}
    </Modal>
  )
}

const KINDS: { kind: TokenKind; label: string; description: string }[] = [
  { kind: 'svc', label: 'Service token', description: 'Reports entries and telemetry. Its entries belong to you.' },
  { kind: 'read', label: 'Read token', description: 'Reads what your role can see at the time of the request.' },
  {
    kind: 'org',
    label: 'Organization token',
    description: 'Pushes telemetry only. Keeps working if its creator is disabled.',
  },
]

const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'On a date…' },
]

function TokenForm({ made, leave }: { made: (token: CreatedToken) => void; leave: () => void }) {
  const isAdmin = useRole('admin')
  const mayBill = useRole('billing', 'admin')
  const today = dayOf(new Date(), useSettings().time_zone)
  const firstDayOfWeek = useFirstDayOfWeek()
  const [refusal, setRefusal] = useState('')
  const form = useForm<TokenValues>({
    initialValues: EMPTY_TOKEN,
    validate: {
      name: (value) => (value.trim() === '' ? 'Required.' : null),
      expires_at: (value, { expiry }) => (expiry === 'day' && value === null ? 'Required.' : null),
    },
  })
  const create = useNewToken(made)
  const submit = form.onSubmit((values) => {
    setRefusal('')
    create.mutate(requestOf(values, today), {
      onError: (problem) => {
        setRefusal(showIssues(form, problem))
        focusFirstIssue()
      },
    })
  }, focusFirstIssue)
  const { kind, expiry } = form.values
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {refusal !== '' && (
          <Alert color="red" variant="light" role="alert">
            {refusal}
          </Alert>
        )}
        <TextInput
          label="Name"
          description="What the token is for. Shown in lists."
          placeholder="ci"
          maxLength={200}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Radio.Group label="Type" {...form.getInputProps('kind')}>
          <Stack gap="xs" mt="xs">
            {KINDS.filter((offered) => offered.kind !== 'org' || isAdmin).map(({ kind, label, description }) => (
              <Radio key={kind} value={kind} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        {kind === 'svc' && mayBill && (
          <Checkbox
            label="Allow sending bills"
            description="For a job that sends bills at the end of the month."
            {...form.getInputProps('allow_bills', { type: 'checkbox' })}
          />
        )}
        <Group grow align="flex-start">
          <Select label="Expires" data={EXPIRIES} allowDeselect={false} {...form.getInputProps('expiry')} />
          {expiry === 'day' && (
            <DateInput
              label="Date (UTC)"
              minDate={addDays(today, 1)}
              valueFormat="D MMM YYYY"
              firstDayOfWeek={firstDayOfWeek}
              {...form.getInputProps('expires_at')}
            />
          )}
        </Group>
        <Text size="xs" c="dimmed">
          The token works until it expires or is revoked.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={leave}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
