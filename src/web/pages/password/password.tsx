/** Choosing a password with the one-time link from an admin, after an invitation or a reset. */
import { Anchor, Button, Code, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { AuthLayout } from '../../parts/auth-layout.tsx'
import { Form } from '../../parts/form.tsx'
import { NewPassword } from '../../parts/new-password.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { noteSession } from '../../server/me.ts'

export default function Password() {
  // After the #, so that the browser does not send it before the form is submitted.
  const [linkToken] = useState(() => location.hash.slice(1))
  return linkToken === '' ? <NoLink /> : <PasswordForm linkToken={linkToken} />
}

const NoLink = () => (
  <AuthLayout title="Choose a password" lead="Use the one-time link that an admin gave you.">
    <Text size="sm">
      Open the complete link, including the part after the <Code>#</Code>. An admin can create a new link on the People
      page or with <Code>tally users reset-password</Code>.
    </Text>
    <Text size="sm">
      Already have a password?{' '}
      <Anchor component={Link} href="/" size="sm">
        Sign in
      </Anchor>
    </Text>
  </AuthLayout>
)

function PasswordForm({ linkToken }: { linkToken: string }) {
  const [, navigate] = useLocation()
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (value) => (value === '' ? 'Enter a password.' : null) },
  })
  const sending = useFormSend({
    form,
    send: async ({ password }: typeof form.values) => {
      const me = await answer(api.password.post({ link_token: linkToken, password }))
      noteSession(true)
      return me
    },
    changes: ['me'],
    done: ({ person }) => `You are signed in. Next time, sign in as ${person.email} with this password.`,
    after: () => navigate('/', { replace: true }),
  })
  return (
    <AuthLayout
      title="Choose a password"
      lead="Use it to sign in from now on. All your existing sessions will be signed out."
    >
      <Form sending={sending}>
        <NewPassword autoFocus {...form.getInputProps('password')} />
        <Button type="submit" loading={sending.isSending} fullWidth>
          Set password
        </Button>
      </Form>
    </AuthLayout>
  )
}
