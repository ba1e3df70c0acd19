/** Replaces the secret of a webhook, and shows the new one once. */
import { Rotation } from '../../parts/rotation.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedWebhook, Webhook } from '../../server/webhooks.ts'
import { SecretOnce } from './secret-once.tsx'

const OVERLAP = {
  label: 'The old secret works',
  choices: { 0: 'Not at all', 1: 'For an hour', 24: 'For a day', 168: 'For a week' },
}

export function RotateSecret({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const rotate = useSend({
    of: webhook,
    send: (hours: number, options): Promise<CreatedWebhook> =>
      answer(api.webhooks({ id: webhook.id })['rotate-secret'].post({ overlap_hours: hours }, options)),
    changes: ['webhooks', 'audit'],
    quiet: true,
  })
  return (
    <Rotation
      title={`Rotate the secret of “${webhook.name}”`}
      about="Creates a new secret. As long as the old one works, too, messages have a signature by each of them, so that you can update receivers one by one."
      overlap={OVERLAP}
      action="Rotate secret"
      rotate={rotate}
      once={({ secret }) => <SecretOnce secret={secret} />}
      close={close}
    />
  )
}
