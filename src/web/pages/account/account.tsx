/** The account page: name, password, deputies, e-mail notifications, appearance, active sessions. */
import { Anchor, Button, Group, NativeSelect, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { dayAndTime } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { WEEKDAYS, type Weekday } from '../../format/weekdays.ts'
import { cellColumn, momentColumn } from '../../parts/columns.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Download } from '../../parts/download.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Form } from '../../parts/form.tsx'
import { NewPassword } from '../../parts/new-password.tsx'
import { Page } from '../../parts/page.tsx'
import { Caption, CardTitle } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { LocaleSelect, localeName } from '../../parts/zone-and-currency.tsx'
import { answer, api, apiUntil } from '../../server/api.ts'
import { signOut, useApproves, useMe, useSettings } from '../../server/me.ts'
import { useChangePreferences, usePreferences } from '../../server/preferences.ts'
import { showIssues, useSend } from '../../server/send.ts'
import { Deputies } from './deputies.tsx'
import { Notifications } from './notifications.tsx'

export default function Account() {
  const { person, actsFor, notifications, hasPassword } = useMe()
  // The rights of a role are not passed on, but people with one may lead projects, too.
  const approves = useApproves()
  return (
    <Page
      title="Your account"
      lead={`${person.email} · ${person.role}. An admin can change your e-mail address and role.`}
    >
      <Stack gap="xl" maw={720}>
        <Part title="Name">
          <NameForm key={person.name} />
        </Part>
        <Part title="Password">{hasPassword ? <PasswordForm /> : <NoPassword />}</Part>
        {(approves || actsFor.length > 0) && (
          <Part title="Deputies">
            <Deputies />
          </Part>
        )}
        {notifications && (
          <Part id="notifications" title="E-mail notifications">
            <Notifications {...notifications} />
          </Part>
        )}
        <Part title="Appearance">
          <Appearance />
        </Part>
        <Part title="Active sessions">
          <Sessions />
        </Part>
        <Part title="Your data">
          <Text size="sm" mb="xs">
            Everything that names you or that you wrote, without secrets. The export is recorded in the audit log.
          </Text>
          <Group gap="xs">
            <Download path="/me/export">Export JSON</Download>
            <Download path="/me/export" query={{ format: 'csv' }}>
              Export CSV files (ZIP)
            </Download>
          </Group>
        </Part>
      </Stack>
    </Page>
  )
}

const Part = ({ id, title, children }: { id?: string; title: string; children: ReactNode }) => (
  <section id={id}>
    <CardTitle mb="xs">{title}</CardTitle>
    {children}
  </section>
)

function NameForm() {
  const { person } = useMe()
  const form = useForm({ initialValues: { name: person.name } })
  const change = useSend({
    send: ({ name }: typeof form.values) => answer(api.me.patch({ name })),
    changes: ['me', 'users', 'audit'],
    done: () => 'Name saved.',
    quiet: true,
  })
  const submit = form.onSubmit((values) =>
    change.mutate(values, { onError: (problem) => void showIssues(form, problem) }),
  )
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-end" gap="xs">
        <TextInput label="Display name" autoComplete="name" w={320} {...form.getInputProps('name')} />
        <Button type="submit" loading={change.isPending} disabled={!form.isDirty()}>
          Save
        </Button>
      </Group>
    </form>
  )
}

const isEmpty = (value: string) => (value === '' ? 'Required.' : null)

/** Of the owner of `tally up`. */
function NoPassword() {
  const { person } = useMe()
  return (
    <Text size="sm">
      You have no password: <code>tally up</code> signs you in. To choose one, create an invitation link for{' '}
      <Anchor component={Link} href={`/people/${person.id}`} inherit>
        yourself
      </Anchor>
      , and open it.
    </Text>
  )
}

function PasswordForm() {
  const { person } = useMe()
  const form = useForm({ initialValues: { current: '', new: '' }, validate: { current: isEmpty, new: isEmpty } })
  const sending = useFormSend({
    form,
    send: (passwords: typeof form.values) => answer(api.me.password.put(passwords)),
    changes: ['me'],
    done: () => 'Password changed. You are signed out of all other sessions.',
    after: () => form.reset(),
  })
  return (
    <Form sending={sending} gap="sm" maw={420}>
      {/* Tells password managers which account this is. */}
      <input type="email" autoComplete="username" value={person.email} readOnly hidden />
      <PasswordInput label="Current password" autoComplete="current-password" {...form.getInputProps('current')} />
      <NewPassword label="New password" {...form.getInputProps('new')} />
      <Caption>Changing your password signs you out of all other sessions.</Caption>
      <Button type="submit" w="fit-content" loading={sending.isSending}>
        Change password
      </Button>
    </Form>
  )
}

const askSessions = async ({ signal }: { signal: AbortSignal }) =>
  (await answer(apiUntil(signal).me.sessions.get())).data
type Session = Awaited<ReturnType<typeof askSessions>>[number]

const COLUMNS: Column<Session>[] = [
  cellColumn(
    'seen',
    'Last active',
    { value: ({ last_seen_at }) => last_seen_at, phone: 'title' },
    ({ current, last_seen_at }) => (current ? 'This browser' : <Ago at={last_seen_at} />),
  ),
  momentColumn('begun', 'Signed in', ({ signed_in_at }) => signed_in_at, { width: '200px' }),
  momentColumn('ends', 'Expires', ({ expires_at }) => expires_at, { width: '200px' }),
]

function Sessions() {
  const { person } = useMe()
  const [isAsking, setAsking] = useState(false)
  const { data, error, refetch } = useQuery({ queryKey: ['me', 'sessions'], queryFn: askSessions })
  if (error) return <Failure error={error} retry={refetch} />
  return (
    <Stack gap="sm">
      {data ? (
        <DataTable
          label="Active sessions"
          name="own-sessions"
          columns={COLUMNS}
          list={data}
          rowKey={({ signed_in_at, last_seen_at }) => `${signed_in_at} ${last_seen_at}`}
          empty={null}
        />
      ) : (
        <Skeleton height={80} />
      )}
      <Caption>Sessions also expire after a week of inactivity.</Caption>
      <Button variant="default" w="fit-content" onClick={() => setAsking(true)}>
        Sign out everywhere…
      </Button>
      <Confirm
        isOpen={isAsking}
        close={() => setAsking(false)}
        title="Sign out everywhere?"
        action="Sign out everywhere"
        isDangerous
        confirm={() => signOut(true)}
      >
        <Text size="sm">
          This ends every session, including this one.{person.role !== 'viewer' && ' Your tokens keep working.'}
        </Text>
      </Confirm>
    </Stack>
  )
}

const EXAMPLE = '2026-11-21T17:53:00Z'

/** The format of numbers and dates, and the first day of weeks in calendars. */
function Appearance() {
  const { time_zone, week_start, locale } = useSettings()
  const preferences = usePreferences()
  const { mutate } = useChangePreferences()
  return (
    <>
      <Group align="flex-end" gap="sm">
        <LocaleSelect
          w={300}
          without={locale === null ? 'As in this browser' : `As in the organization (${localeName(locale)})`}
          value={preferences.locale ?? ''}
          onChange={({ currentTarget }) => mutate({ locale: currentTarget.value || null })}
        />
        <NativeSelect
          label="First day of the week in calendars"
          w={300}
          data={[
            { value: '', label: `As in the organization (${WEEKDAYS[week_start].name})` },
            ...Object.entries(WEEKDAYS).map(([value, { name }]) => ({ value, label: name })),
          ]}
          value={preferences.week_start ?? ''}
          onChange={({ currentTarget }) => mutate({ week_start: (currentTarget.value || null) as Weekday | null })}
        />
      </Group>
      <Caption mt="xs">
        {count(1_234_567)} · {exactMoney(1_234.5)} · {dayAndTime(EXAMPLE, time_zone)}
      </Caption>
    </>
  )
}
