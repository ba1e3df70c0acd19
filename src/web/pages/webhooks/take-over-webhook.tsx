import { Alert, Stack, Text } from '@mantine/core'
import { Confirm } from '../../parts/confirm.tsx'
import { Details } from '../../parts/details.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Webhook } from '../../server/webhooks.ts'
import { typesText } from './webhook-values.ts'

/** Makes whoever is signed in the owner of a webhook. Shows where it sends what: an address that somebody else chose. */
export function TakeOverWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const takeOver = useSend({
    of: webhook,
    send: (_: undefined, options): Promise<Webhook> =>
      answer(api.webhooks({ id: webhook.id })['take-over'].post({}, options)),
    changes: ['webhooks', 'audit', 'inbox'],
    done: () => 'Webhook taken over.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title="Take over webhook?"
      action="Take over webhook"
      confirm={() => takeOver.mutateAsync(undefined)}
    >
      <Stack gap="sm">
        <Text size="sm">
          You become its owner: it is sent the events that you may read, as long as you are an admin.
          {webhook.state === 'suspended' &&
            ' Those that waited are sent as well, in order, as far as they are still in the event log.'}
        </Text>
        <Details
          of={[
            ['Address', <bdi key="url">{webhook.url}</bdi>],
            ['Events', typesText(webhook.types)],
          ]}
        />
        <Alert color="orange" variant="light">
          Check that you know who receives events at this address.
        </Alert>
      </Stack>
    </Confirm>
  )
}
