import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Form } from '../../parts/form.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { RoleChoice } from './invite.tsx'
import type { Person } from './roles.ts'

export function PersonForm({ person }: { person: Person }) {
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
