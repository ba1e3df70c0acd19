/** One attempt: what was sent, what came back, and sending it again. */
import { Alert, Button, Code, Group, Modal, Stack, Title } from '@mantine/core'
import { Details } from '../../parts/details.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Refusal } from '../../parts/form.tsx'
import { Status } from '../../parts/status.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Webhook, WebhookDelivery } from '../../server/webhooks.ts'

interface DeliveryProps {
  webhook: Webhook
  delivery: WebhookDelivery
  /** Shows another attempt instead: that of sending it again. */
  show: (delivery: WebhookDelivery) => void
  close: () => void
}

export function Delivery({ webhook, delivery, show, close }: DeliveryProps) {
  const { event, type, at, delivered, status, latency_ms, error, body, response } = delivery
  const resend = useSend({
    send: (id: string): Promise<WebhookDelivery> =>
      answer(api.webhooks({ id: webhook.id }).deliveries({ event: id }).resend.post()),
    changes: ['webhooks'],
    after: show,
    quiet: true,
  })
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={
        <Group gap="xs" component="span">
          {type}
          <Status of={delivered ? 'delivered' : 'failed'} />
        </Group>
      }
    >
      <Stack>
        {error !== null && (
          <Alert color="red" variant="light">
            {error}
          </Alert>
        )}
        <Refusal text={resend.error?.message} />
        <Details
          of={[
            ['Sent', <Moment key="at" at={at} />],
            ['Event', event],
            ['Status', status],
            ['Time', `${latency_ms} ms`],
          ]}
        />
        <Text title="Body" of={readable(body)} />
        <Text title="Response" of={response || 'Empty'} />
        <Group justify="flex-end" gap="xs">
          {event !== null && (
            <Button variant="default" onClick={() => resend.mutate(event)} loading={resend.isPending}>
              Send again
            </Button>
          )}
          <Button onClick={close}>Close</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const Text = ({ title, of }: { title: string; of: string }) => (
  <div>
    <Title order={3} size="h6" mb={4}>
      {title}
    </Title>
    <Code block mah={260} style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} tabIndex={0}>
      {of}
    </Code>
  </div>
)

/** JSON on several lines; anything else as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
