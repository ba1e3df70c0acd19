import { Alert, Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Doorway } from '../../parts/doorway.tsx'
import { answer, api } from '../../server/api.ts'
import { noteSession } from '../../server/me.ts'
import { showFaults, useSend } from '../../server/send.ts'

/** At whatever address one came to: signed in, that page is shown. */
export default function SignIn() {
  const [refusal, setRefusal] = useState('')
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: {
      email: (value) => (value.trim() === '' ? 'Is required.' : null),
      password: (value) => (value === '' ? 'Is required.' : null),
    },
  })
  const signIn = useSend({
    send: async ({ email, password }: typeof form.values) => {
      await answer(api.session.post({ email: email.trim(), password }))
      noteSession(true)
    },
    changes: ['me'],
    quiet: true,
  })
  const submit = form.onSubmit((values) => {
    setRefusal('')
    signIn.mutate(values, { onError: (problem) => setRefusal(showFaults(form, problem)) })
  })
  return (
    <Doorway title="Sign in to Tally">
      <form onSubmit={submit} noValidate>
        <Stack>
          {refusal !== '' && (
            <Alert color="red" variant="light" role="alert">
              {refusal}
            </Alert>
          )}
          <TextInput
            label="E-mail address"
            type="email"
            autoComplete="username"
            data-autofocus
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
          <Button type="submit" loading={signIn.isPending} fullWidth>
            Sign in
          </Button>
          <Text size="xs" c="dimmed">
            Forgotten, or not set yet? An admin makes a link to choose one, in People or with{' '}
            <code>tally users reset-password</code>. Programs use the <Anchor href="/docs" underline="always">API</Anchor> with a token.
          </Text>
        </Stack>
      </form>
    </Doorway>
  )
}
