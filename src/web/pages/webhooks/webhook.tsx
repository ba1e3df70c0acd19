/** One webhook: its settings and state, and what was sent to it. */
import { Alert, Group, Skeleton, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Status } from '../../parts/status.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'
import type { Webhook, WebhookDelivery } from '../../server/webhooks.ts'
import { Deliveries } from './deliveries.tsx'
import { Delivery } from './delivery.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { FORMAT_NAMES, typesText } from './webhook-values.ts'

const ABOVE = { href: '/webhooks', title: 'Webhooks' }

export function WebhookPage({ id }: { id: string }) {
  const [shown, setShown] = useState<WebhookDelivery | null>(null)
  const {
    data: webhook,
    error,
    refetch,
  } = useQuery({
    queryKey: ['webhooks', id],
    queryFn: ({ signal }): Promise<Webhook> => answer(apiUntil(signal).webhooks({ id }).get()),
  })
  if (error && !webhook) {
    return (
      <Page title="Webhook" above={ABOVE}>
        <Failure problem={asProblem(error)} retry={refetch} />
      </Page>
    )
  }
  if (!webhook) {
    return (
      <Page title="Webhook" above={ABOVE}>
        <Skeleton height={320} />
      </Page>
    )
  }
  return (
    <Page
      title={
        <Group gap="xs" component="span">
          <bdi>{webhook.name}</bdi>
          <Status of={webhook.state} />
        </Group>
      }
      above={ABOVE}
      // Addresses are longer than a column of the details.
      lead={<bdi style={{ overflowWrap: 'anywhere' }}>{webhook.url}</bdi>}
      actions={<WebhookActions webhook={webhook} tested={setShown} />}
    >
      <State webhook={webhook} />
      <Details
        of={[
          ['Format', FORMAT_NAMES[webhook.format]],
          ['Events', typesText(webhook.types)],
          ['Client', webhook.client && <bdi key="client">{webhook.client.name}</bdi>],
          ['Project', webhook.project && <bdi key="project">{projectLabel(webhook.project)}</bdi>],
          ['Old secret works until', webhook.previous_secret_until && <Moment at={webhook.previous_secret_until} />],
          [
            'Added',
            <span key="added">
              <Moment at={webhook.created_at} /> by <bdi>{webhook.created_by?.name ?? 'the command line'}</bdi>
            </span>,
          ],
        ]}
      />
      <Stack gap="xs">
        <Title order={2} size="h5">
          Deliveries
        </Title>
        <Deliveries id={id} show={setShown} />
      </Stack>
      {shown && <Delivery webhook={webhook} delivery={shown} show={setShown} close={() => setShown(null)} />}
    </Page>
  )
}

const REASONS: Record<NonNullable<Webhook['disabled_reason']>, string> = {
  person: 'Somebody disabled it.',
  failing: 'Every attempt to deliver an event failed for three days.',
  gone: 'Its receiver returned 410, which means that it is gone.',
}

function State({ webhook }: { webhook: Webhook }) {
  const { state, disabled_at, disabled_reason, failing_since, next_attempt_at, last_delivery } = webhook
  if (state === 'disabled') {
    return (
      <Alert color="red" variant="light" title="Disabled">
        Since <Moment at={disabled_at} />, it gets no events. {REASONS[disabled_reason ?? 'person']}
      </Alert>
    )
  }
  if (state === 'failing') {
    return (
      <Alert color="orange" variant="light" title="Failing">
        Since <Moment at={failing_since} />, attempts have failed, and later events wait. The next attempt is due at{' '}
        <Moment at={next_attempt_at} />. {last_delivery?.error}
      </Alert>
    )
  }
  return null
}
