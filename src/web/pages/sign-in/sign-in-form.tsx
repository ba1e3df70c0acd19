import { Anchor, Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Form } from '../../parts/form.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { type Me, signIn } from '../../server/me.ts'

const FOCUSED = { 'data-autofocus': true, autoFocus: true }

/** Escape would close a dialog below, losing what was typed into it. */
const KEEPS_ESCAPE = { 'data-mantine-stop-propagation': 'true' }

interface SignInFormProps {
  /** Whose session ended in the middle of a page. */
  before?: Me['person']
}

export function SignInForm({ before }: SignInFormProps) {
  const form = useForm({
    initialValues: { email: before?.email ?? '', password: '' },
    validate: {
      email: (value) => (value.trim() === '' ? 'Required.' : null),
      password: (value) => (value === '' ? 'Required.' : null),
    },
  })
  const sending = useFormSend({
    form,
    send: ({ email, password }: typeof form.values) => signIn({ email: email.trim(), password }, before),
    changes: ['me'],
  })
  return (
    <Form sending={sending}>
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="username"
        {...(before ? KEEPS_ESCAPE : FOCUSED)}
        {...form.getInputProps('email')}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        {...(before && { ...KEEPS_ESCAPE, ...FOCUSED })}
        {...form.getInputProps('password')}
      />
      <Button type="submit" loading={sending.isSending} fullWidth>
        Sign in
      </Button>
      <Caption>
        Forgot your password, or never set one? Ask an admin for a link. They create it in People or with{' '}
        <code>tally users reset-password</code>. Programs use the <Anchor href="/docs/api">API</Anchor> with a token.
      </Caption>
    </Form>
  )
}
