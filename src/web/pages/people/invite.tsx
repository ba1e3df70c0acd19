import { Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Form, FormFoot } from '../../parts/form.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { Grants } from './grants.tsx'
import { LinkOnce } from './link-once.tsx'
import { type PasswordLink, type Person, ROLES } from './roles.ts'

export function Invite({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const [made, setMade] = useState<PasswordLink | null>(null)
  const leave = () => {
    close()
    setMade(null)
  }
  return (
    <FormModal
      opened={isOpen}
      onClose={leave}
      title={made ? `${made.user.name} added` : 'Invite person'}
      closeOnEscape={made === null}
      isSaved={made !== null}
    >
      {made ? (
        <LinkOnce made={made} leave={leave}>
          {made.user.role === 'viewer' && <Grants person={made.user} />}
        </LinkOnce>
      ) : (
        <InviteForm invited={setMade} leave={leave} />
      )}
    </FormModal>
  )
}

const isEmpty = (value: string) => (value.trim() === '' ? 'Required.' : null)

function InviteForm({ invited, leave }: { invited: (made: PasswordLink) => void; leave: () => void }) {
  const form = useForm({
    initialValues: { name: '', email: '', role: 'member' as Person['role'] },
    validate: { name: isEmpty, email: isEmpty },
  })
  const sending = useFormSend({
    form,
    send: ({ name, email, role }: typeof form.values): Promise<PasswordLink> =>
      answer(api.users.post({ name: name.trim(), email: email.trim(), role })),
    changes: ['users', 'audit'],
    after: invited,
  })
  return (
    <Form sending={sending}>
      <TextInput label="Name" data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <TextInput
        label="E-mail address"
        description="Used to sign in."
        type="email"
        autoComplete="off"
        {...form.getInputProps('email')}
      />
      <RoleChoice {...form.getInputProps('role')} />
      <FormFoot action="Invite" close={leave} isSending={sending.isSending} />
    </Form>
  )
}

interface RoleChoiceProps {
  value?: Person['role']
  onChange?: (role: string) => void
  error?: React.ReactNode
}

export const RoleChoice = (props: RoleChoiceProps) => (
  <Radio.Group label="Role" {...props}>
    <Stack gap="xs" mt="xs">
      {ROLES.map((role) => (
        <Radio key={role.value} {...role} />
      ))}
    </Stack>
  </Radio.Group>
)
