/** One webhook: its settings and state, and what was sent to it. */
import { Alert, Group, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Status } from '../../parts/status.tsx'
import { CardTitle } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { answer, apiUntil } from '../../server/api.ts'
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
        <Failure error={error} retry={refetch} />
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
          ['Owner', <Owner key="owner" of={webhook.owner} />],
        ]}
      />
      <Stack gap="xs">
        <CardTitle>Deliveries</CardTitle>
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

const SUSPENDED: Record<NonNullable<Webhook['suspended_reason']>, string> = {
  owner_disabled: 'Its owner is disabled.',
  owner_role: 'Its owner is no longer an admin.',
  token_revoked: 'The API token of its owner was revoked.',
  token_expired: 'The API token of its owner has expired.',
  token_scopes: 'The API token of its owner may not read events.',
  api_tokens_off: 'It belongs to an API token, and API tokens are turned off in the settings.',
}

/** With whose rights it is sent events. */
const Owner = ({ of: owner }: { of: Webhook['owner'] }) =>
  owner === null ? (
    'the command line'
  ) : (
    <span>
      <ThingLink kind="person" of={owner.user.id}>
        {owner.user.name}
      </ThingLink>
      {owner.token && (
        <>
          , API token <bdi>{owner.token.name}</bdi>
        </>
      )}
    </span>
  )

function State({ webhook }: { webhook: Webhook }) {
  const { state, disabled_at, disabled_reason, suspended_at, suspended_reason } = webhook
  const { failing_since, next_attempt_at, last_delivery } = webhook
  if (state === 'disabled') {
    return (
      <Alert color="red" variant="light" title="Disabled">
        Since <Moment at={disabled_at} />, it gets no events. {REASONS[disabled_reason ?? 'person']}
      </Alert>
    )
  }
  if (state === 'suspended') {
    return (
      <Alert color="orange" variant="light" title="Suspended">
        Since <Moment at={suspended_at} />, its events wait. {SUSPENDED[suspended_reason!]} Take it over to send them,
        as far as they are still in the event log.
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
