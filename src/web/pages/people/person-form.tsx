import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { RoleChoice } from './invite.tsx'
import type { Person } from './roles.ts'

export function PersonForm({ person }: { person: Person }) {
  const { name, email, role } = person
  const form = useForm({ initialValues: { name, email, role } })
  const { submit, refusal, isSending } = useFormSend({
    form,
    of: person,
    send: (values: typeof form.values, options) => answer(api.users({ id: person.id }).patch(values, options)),
    changes: ['users', 'me', 'audit'],
    done: () => 'Changes saved.',
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {refusal !== '' && (
          <Alert color="red" variant="light" role="alert">
            {refusal}
          </Alert>
        )}
        <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
        <TextInput
          label="E-mail address"
          description="Used to sign in."
          type="email"
          autoComplete="off"
          {...form.getInputProps('email')}
        />
        <RoleChoice {...form.getInputProps('role')} />
        <Button type="submit" w="fit-content" loading={isSending} disabled={!form.isDirty()}>
          Save changes
        </Button>
      </Stack>
    </form>
  )
}
