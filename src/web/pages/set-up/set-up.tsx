/** First-run setup: the visitor with the one-time link names the organization and becomes its first admin. */
import { Alert, Anchor, Button, Code, Fieldset, List, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { browserLocale } from '../../format/locale.ts'
import { AuthLayout } from '../../parts/auth-layout.tsx'
import { focusFirstIssue } from '../../parts/first-issue.ts'
import { NewPassword } from '../../parts/new-password.tsx'
import { PublicUrlInput } from '../../parts/public-url-input.tsx'
import { sharedOrigin } from '../../parts/shared-origin.ts'
import { CurrencySelect, LocaleSelect, TimeZoneInput } from '../../parts/zone-and-currency.tsx'
import { answer, api } from '../../server/api.ts'
import { isUnused, noteSession } from '../../server/me.ts'
import type { Problem } from '../../server/problem.ts'
import { showIssues, useSend } from '../../server/send.ts'

export default function SetUp() {
  // In the URL fragment, which the browser does not send until the form is submitted.
  const [linkToken] = useState(() => location.hash.slice(1))
  // Of when the page was loaded: setting up changes it.
  const [isOpen] = useState(isUnused)
  if (!isOpen) return <SetUpDone />
  return linkToken === '' ? <NoLink /> : <SetUpForm linkToken={linkToken} />
}

/** For visitors with a setup link that was used. */
const SetUpDone = () => (
  <AuthLayout
    title="Tally is already set up"
    lead="The setup link works once and was used, or the first person was added on the command line."
    width={460}
  >
    <Text size="sm">
      If you have an account, <SignInLink>sign in</SignInLink>. Otherwise, ask an admin to invite you in People, or with{' '}
      <Code>tally users add</Code>.
    </Text>
  </AuthLayout>
)

/** For visitors without the setup link. */
const NoLink = () => (
  <AuthLayout
    title="Set up Tally"
    lead="Nobody has an account yet. To create the first one, you need the one-time setup link that Tally printed when it started."
    width={460}
  >
    <List size="sm" spacing="xs">
      <List.Item>
        Find the link in the terminal or log of the server and open all of it, including the part after <Code>#</Code>.
      </List.Item>
      <List.Item>
        Lost the link, or is it older than a day? Restart the server: it prints a new one until Tally is set up.
      </List.Item>
      <List.Item>
        Or create the first admin on the server’s machine:{' '}
        <Code>tally users add --email you@example.com --name You --role admin</Code>.{' '}
        <Code>tally users invite you@example.com</Code> then prints a link to choose a password.
      </List.Item>
    </List>
    <Text size="sm">
      Already set up? <SignInLink>Sign in</SignInLink>
    </Text>
  </AuthLayout>
)

/** Loads the page again, which then knows that there are people. */
const SignInLink = ({ children }: { children: string }) => (
  <Anchor href="/" size="sm">
    {children}
  </Anchor>
)

const isEmpty = (value: string) => (value.trim() === '' ? 'Required.' : null)

function useSetUpForm() {
  return useForm({
    initialValues: {
      organization: {
        name: '',
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        locale: browserLocale() ?? '',
        currency: 'USD' as string | null,
        public_url: sharedOrigin(),
      },
      admin: { name: '', email: '', password: '' },
    },
    validate: {
      organization: { name: isEmpty, time_zone: isEmpty, currency: (value) => isEmpty(value ?? '') },
      admin: { name: isEmpty, email: isEmpty, password: (value) => (value === '' ? 'Required.' : null) },
    },
  })
}

type SetUpValues = ReturnType<typeof useSetUpForm>['values']

const requestOf = (linkToken: string, { organization, admin }: SetUpValues) => ({
  link_token: linkToken,
  organization: {
    name: organization.name.trim(),
    time_zone: organization.time_zone.trim(),
    ...(organization.locale !== '' && { locale: organization.locale }),
    currency: organization.currency ?? '',
    // Not null without one: an admin of the command line may have set it.
    ...(organization.public_url.trim() !== '' && { public_url: organization.public_url.trim() }),
  },
  // The password is not trimmed: leading and trailing spaces may be intended.
  admin: { ...admin, name: admin.name.trim(), email: admin.email.trim() },
})

function SetUpForm({ linkToken }: { linkToken: string }) {
  const [, navigate] = useLocation()
  const [refusal, setRefusal] = useState<{ text: string; code: string } | null>(null)
  const form = useSetUpForm()
  const setUp = useSend({
    send: async (values: SetUpValues) => {
      await answer(api.setup.post(requestOf(linkToken, values)))
      noteSession(true)
    },
    changes: ['me'],
    // The link is used up: replace it in the browser's history.
    after: () => navigate('/connect?welcome=true', { replace: true }),
    quiet: true,
  })
  const refuse = (problem: Problem) => {
    const text = showIssues(form, problem)
    setRefusal(text === '' ? null : { text, code: problem.code })
    focusFirstIssue()
  }
  const submit = form.onSubmit((values) => {
    setRefusal(null)
    setUp.mutate(values, { onError: refuse })
  }, focusFirstIssue)
  return (
    <AuthLayout title="Set up Tally" lead="Name your organization and create its first admin." width={480}>
      <form onSubmit={submit} noValidate>
        <Stack>
          {refusal && (
            <Alert color="red" variant="light" role="alert">
              {refusal.text} {refusal.code === 'already_set_up' && <SignInLink>Sign in</SignInLink>}
            </Alert>
          )}
          <Fieldset legend="Organization">
            <Stack gap="sm">
              <TextInput
                label="Name"
                description="Shown on bills."
                autoComplete="organization"
                autoFocus
                {...form.getInputProps('organization.name')}
              />
              <TimeZoneInput
                label="Time zone"
                description="Defines when days and months begin, in reports and on bills. Type a city to search."
                {...form.getInputProps('organization.time_zone')}
              />
              <LocaleSelect
                description="How bills, e-mails and pages write them. Everyone can choose another for pages."
                without="Not set"
                {...form.getInputProps('organization.locale')}
              />
              <CurrencySelect
                label="Bill currency"
                description="The default for bills; you can change it for each one. Costs are stored in US dollars."
                {...form.getInputProps('organization.currency')}
              />
              <PublicUrlInput
                description="Optional. The address at which people and agents reach Tally. Links in invitations and e-mails begin with it. You can set it later in Settings."
                {...form.getInputProps('organization.public_url')}
              />
            </Stack>
          </Fieldset>
          <Fieldset legend="Your admin account">
            <Stack gap="sm">
              <TextInput label="Name" autoComplete="name" {...form.getInputProps('admin.name')} />
              <TextInput
                label="E-mail address"
                description="You use it to sign in."
                type="email"
                autoComplete="username"
                {...form.getInputProps('admin.email')}
              />
              <NewPassword {...form.getInputProps('admin.password')} />
            </Stack>
          </Fieldset>
          <Button type="submit" loading={setUp.isPending} fullWidth>
            Set up Tally
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  )
}
