import { Button, Checkbox, Group, Radio, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { rolesOfScope, SCOPE_NAMES, SCOPES } from '../../../shared/token-scopes.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import { DateField } from '../../parts/date-field.tsx'
import { Form, FormFoot } from '../../parts/form.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { SettingOff } from '../../parts/setting-off.tsx'
import { Caption } from '../../parts/texts.tsx'
import { TokenOnce } from '../../parts/token-once.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { useFirstDayOfWeek, useMe, useRole, useSettings } from '../../server/me.ts'
import { type CreatedToken, createToken, type TokenKind } from '../../server/tokens.ts'
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
    <FormModal
      opened={isOpen}
      onClose={leave}
      title={token ? `Token “${token.name}”` : 'New token'}
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
    </FormModal>
  )
}

const KINDS: { kind: TokenKind; label: string; description: string }[] = [
  { kind: 'svc', label: 'Service token', description: 'Reports entries and telemetry. Its entries belong to you.' },
  {
    kind: 'read',
    label: 'Read token',
    description: 'Reads entries, reports, work, prices and bills. Limited to what your role can see.',
  },
  {
    kind: 'org',
    label: 'Organization token',
    description: 'Pushes telemetry only. Keeps working if its creator is disabled.',
  },
  {
    kind: 'api',
    label: 'API token',
    description: 'Has only the scopes you select, within your role. For scripts that manage projects, prices or bills.',
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
  const { time_zone, api_tokens } = useSettings()
  const { role } = useMe().person
  const today = dayOf(new Date(), time_zone)
  const firstDayOfWeek = useFirstDayOfWeek()
  const form = useForm<TokenValues>({
    initialValues: EMPTY_TOKEN,
    validate: {
      name: (value) => (value.trim() === '' ? 'Required.' : null),
      scopes: (value, { kind }) => (kind === 'api' && value.length === 0 ? 'Choose at least one scope.' : null),
      expires_at: (value, { expiry }) => (expiry === 'day' && value === null ? 'Required.' : null),
    },
  })
  const sending = useFormSend({
    form,
    send: (values: TokenValues) => createToken(requestOf(values, today)),
    changes: ['tokens'],
    after: made,
  })
  const { kind, expiry } = form.values
  const choose = (chosen: string) => {
    form.setFieldValue('kind', chosen as TokenKind)
    // API tokens always expire.
    if (chosen === 'api' && expiry === 'never') form.setFieldValue('expiry', '90')
  }
  return (
    <Form sending={sending}>
      <TextInput
        label="Name"
        description="What the token is for. Shown in lists."
        placeholder="ci"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Radio.Group label="Type" {...form.getInputProps('kind')} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {KINDS.filter(({ kind }) => (kind !== 'org' || isAdmin) && (kind !== 'api' || api_tokens)).map(
            ({ kind, label, description }) => (
              <Radio key={kind} value={kind} label={label} description={description} />
            ),
          )}
        </Stack>
      </Radio.Group>
      {!api_tokens && <SettingOff what="API tokens, with which scripts can change data," />}
      {kind === 'svc' && mayBill && (
        <Checkbox
          label="Allow sending bills"
          description="For a job that sends bills at the end of the month."
          {...form.getInputProps('allow_bills', { type: 'checkbox' })}
        />
      )}
      {kind === 'api' && (
        <>
          <Checkbox.Group label="Scopes" description="Write scopes include read." {...form.getInputProps('scopes')}>
            <Stack gap={6} mt="xs">
              {SCOPE_NAMES.filter((scope) => rolesOfScope(scope)?.includes(role) ?? true).map((scope) => (
                <Checkbox key={scope} value={scope} label={scope} description={SCOPES[scope].description} />
              ))}
            </Stack>
          </Checkbox.Group>
          <TagsInput
            label="Networks"
            description="Addresses from which the token works, such as 10.0.0.0/8. Leave empty for any address."
            {...form.getInputProps('networks')}
          />
        </>
      )}
      <Group grow align="flex-start">
        <Select
          label="Expires"
          data={kind === 'api' ? EXPIRIES.slice(1) : EXPIRIES}
          allowDeselect={false}
          {...form.getInputProps('expiry')}
        />
        {expiry === 'day' && (
          <DateField
            label="Date (UTC)"
            minDate={addDays(today, 1)}
            firstDayOfWeek={firstDayOfWeek}
            {...form.getInputProps('expires_at')}
          />
        )}
      </Group>
      <Caption>The token works until it expires or is revoked.</Caption>
      <FormFoot action="Create token" close={leave} isSending={sending.isSending} />
    </Form>
  )
}
