/** What the person is sent e-mails about. E-mails link here: `/account#notifications`. */
import { Alert, Checkbox, Stack } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { Caption } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'

type Chosen = NonNullable<ReturnType<typeof useMe>['notifications']>['chosen']
type Topic = keyof Chosen

export function Notifications({ chosen, sendsEmail }: { chosen: Chosen; sendsEmail: boolean }) {
  const { person, leads } = useMe()
  const seesEverything = useRole('billing', 'admin')
  const start = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (location.hash === '#notifications') start.current?.scrollIntoView({ block: 'center' })
  }, [])
  const change = useSend({
    send: ({ topic, isWanted }: { topic: Topic; isWanted: boolean }) =>
      answer(api.me.patch({ notifications: { [topic]: isWanted } })),
    changes: ['me', 'users', 'audit'],
    done: (_, { topic, isWanted }) => `${LABELS[topic]} ${isWanted ? 'turned on' : 'turned off'}.`,
  })
  const whose = seesEverything
    ? 'everyone’s usage'
    : leads
      ? 'your usage and that of the projects that you lead'
      : 'your usage'
  const descriptions: Record<Topic, string> = {
    budget_alerts: 'When a share of a budget is spent, or will be, and the budget names you or your role.',
    attention:
      'Every working day, unless there is nothing: entries without a project or a price, and waiting approvals.',
    weekly_summary: `Every week, ${whose}, compared with the week before.`,
    anomalies: `Every day, unless there is nothing: ${seesEverything ? 'anybody’s' : 'your'} usage, if it is far above the usual.`,
  }
  return (
    <Stack gap="sm" ref={start}>
      {!sendsEmail && (
        <Alert color="yellow" variant="light">
          Tally cannot send e-mails yet: no mail server is configured.
          {person.role === 'admin' && ' Set TALLY_SMTP_URL and restart Tally.'}
        </Alert>
      )}
      {(Object.keys(LABELS) as Topic[]).map((topic) => (
        <Checkbox
          key={topic}
          label={LABELS[topic]}
          description={descriptions[topic]}
          checked={chosen[topic]}
          disabled={change.isPending}
          onChange={({ currentTarget }) => change.mutate({ topic, isWanted: currentTarget.checked })}
        />
      ))}
      <Caption>Sent to {person.email}, at most one e-mail an hour.</Caption>
    </Stack>
  )
}

const LABELS: Record<Topic, string> = {
  budget_alerts: 'Budget alerts',
  attention: 'What needs attention',
  weekly_summary: 'Weekly summary',
  anomalies: 'Unusual usage',
}
