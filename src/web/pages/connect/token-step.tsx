import { Alert, Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { focusFirstIssue } from '../../parts/first-issue.ts'
import { TokenOnce } from '../../parts/token-once.tsx'
import { useRole } from '../../server/me.ts'
import { showIssues } from '../../server/send.ts'
import { type CreatedToken, type TokenKind, useNewToken } from '../../server/tokens.ts'
import type { Guide } from './guides.ts'

interface TokenStepProps {
  guide: Guide
  token: CreatedToken | null
  made: (token: CreatedToken | null) => void
}

/** Makes a token where it is needed; the lines below then hold it. */
export function TokenStep({ guide, token, made }: TokenStepProps) {
  if (token && (guide.isTelemetry || token.kind === 'svc')) {
    return (
      <Stack gap="xs" align="stretch">
        <TokenOnce secret={token.token} />
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            “{token.name}” is in the lines below.
          </Text>
          <Button size="compact-sm" variant="subtle" onClick={() => made(null)}>
            Make another one
          </Button>
        </Group>
      </Stack>
    )
  }
  // Named after the agent, anew for another one.
  return <TokenForm key={guide.key} guide={guide} made={made} />
}

const SAYS: Record<TokenKind, string> = {
  svc: 'What is reported with a service token is yours. Let each person make their own.',
  org: 'One organization token does for everybody’s telemetry. Entries are yours, or by e-mail address where the settings say so.',
  read: '',
}

function TokenForm({ guide, made }: Pick<TokenStepProps, 'guide' | 'made'>) {
  const mayOrganization = useRole('admin') && guide.isTelemetry
  const [refusal, setRefusal] = useState('')
  const form = useForm({
    initialValues: { name: guide.key, kind: 'svc' as TokenKind },
    validate: { name: (value) => (value.trim() === '' ? 'Is required.' : null) },
  })
  const create = useNewToken(made)
  const kind = mayOrganization ? form.values.kind : 'svc'
  const submit = form.onSubmit(({ name }) => {
    setRefusal('')
    create.mutate(
      { name: name.trim(), kind },
      {
        onError: (problem) => {
          setRefusal(showIssues(form, problem))
          focusFirstIssue()
        },
      },
    )
  }, focusFirstIssue)
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        {refusal !== '' && (
          <Alert color="red" variant="light" role="alert">
            {refusal}
          </Alert>
        )}
        {mayOrganization && (
          <SegmentedControl
            aria-label="Kind of token"
            w="fit-content"
            value={kind}
            onChange={(value) => form.setFieldValue('kind', value as TokenKind)}
            data={[
              { value: 'svc', label: 'Service token' },
              { value: 'org', label: 'Organization token' },
            ]}
          />
        )}
        <Text size="sm" c="dimmed">
          {SAYS[kind]}
        </Text>
        <Group align="flex-end" gap="xs">
          <TextInput label="Name of the token" maxLength={200} w={260} {...form.getInputProps('name')} />
          <Button type="submit" loading={create.isPending}>
            Make a token
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
