import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Form } from '../../parts/form.tsx'
import { Note } from '../../parts/texts.tsx'
import { TokenOnce } from '../../parts/token-once.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { useRole } from '../../server/me.ts'
import { type CreatedToken, createToken, type TokenKind } from '../../server/tokens.ts'

interface TokenStepProps {
  /** Of the agent, after which a token is named first. */
  name: string
  /** Then an organization token can be used too. */
  isTelemetry: boolean
  token: CreatedToken | null
  made: (token: CreatedToken | null) => void
}

/** Creates a token, which the commands below then include. */
export function TokenStep({ name, isTelemetry, token, made }: TokenStepProps) {
  if (token && (isTelemetry || token.kind === 'svc')) {
    return (
      <Stack gap="xs" align="stretch">
        <TokenOnce secret={token.token} />
        <Group gap="xs">
          <Note>“{token.name}” is included in the commands below.</Note>
          <Button size="compact-sm" variant="subtle" onClick={() => made(null)}>
            Create another token
          </Button>
        </Group>
      </Stack>
    )
  }
  // Remounted per agent, because the token is named after it.
  return <TokenForm key={name} name={name} isTelemetry={isTelemetry} made={made} />
}

const SAYS: Record<TokenKind, string> = {
  svc: 'Entries reported with a service token belong to you. Each person should create their own.',
  org: 'One organization token can send telemetry for everyone. Entries belong to you, or to the person with the reported e-mail address if that is enabled in the settings.',
  read: '',
  api: '',
}

function TokenForm({ name, isTelemetry, made }: Omit<TokenStepProps, 'token'>) {
  const mayOrganization = useRole('admin') && isTelemetry
  const form = useForm({
    initialValues: { name, kind: 'svc' as TokenKind },
    validate: { name: (value) => (value.trim() === '' ? 'Enter a name.' : null) },
  })
  const kind = mayOrganization ? form.values.kind : 'svc'
  const sending = useFormSend({
    form,
    send: ({ name }: typeof form.values) => createToken({ name: name.trim(), kind }),
    changes: ['tokens'],
    after: made,
  })
  return (
    <Form sending={sending} gap="xs">
      {mayOrganization && (
        <SegmentedControl
          aria-label="Token type"
          w="fit-content"
          value={kind}
          onChange={(value) => form.setFieldValue('kind', value as TokenKind)}
          data={[
            { value: 'svc', label: 'Service token' },
            { value: 'org', label: 'Organization token' },
          ]}
        />
      )}
      <Note>{SAYS[kind]}</Note>
      <Group align="flex-end" gap="xs">
        <TextInput label="Token name" w={260} {...form.getInputProps('name')} />
        <Button type="submit" loading={sending.isSending}>
          Create token
        </Button>
      </Group>
    </Form>
  )
}
