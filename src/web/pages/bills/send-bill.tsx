import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { useMemo } from 'react'
import { counted } from '../../format/counts.ts'
import { billedMoney } from '../../format/money.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { Problem } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import type { Bill, BillDocument, BillRequest, BillSending } from './bill-body.ts'
import { type BillValues, deliveryOf } from './new-bill-values.ts'

interface SendBillProps {
  values: BillValues
  request: BillRequest
  digest: string
  document: BillDocument
  isDisabled: boolean
  sent: (bill: Bill) => void
  /** The bill is no longer what was seen. */
  again: () => void
}

/** Only over HTTPS browsers make ids themselves. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('')

export function SendBill({ values, request, digest, document, isDisabled, sent, again }: SendBillProps) {
  const [isOpen, dialogue] = useDisclosure()
  const body: BillSending = { ...request, ...deliveryOf(values), digest }
  const text = JSON.stringify(body)
  // The same bill is sent once, also where its answer was lost and the button is pressed again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key for another bill
  const key = useMemo(newKey, [text])
  const send = useSend({
    send: (): Promise<Bill> => answer(api.bills.post(body, { headers: { 'idempotency-key': key } })),
    changes: ['bills', 'entries', 'reports', 'audit'],
    done: ({ number }) => `Bill ${number} is sent.`,
    quiet: true,
  })
  const confirm = async () => {
    try {
      sent(await send.mutateAsync())
    } catch (error) {
      if (error instanceof Problem && error.code === 'preview_changed') again()
      throw error
    }
  }
  return (
    <>
      <Button leftSection={<IconSend size={16} />} onClick={dialogue.open} disabled={isDisabled}>
        Send the bill …
      </Button>
      <Confirm isOpen={isOpen} close={dialogue.close} title="Send this bill?" action="Send the bill" confirm={confirm}>
        <Stack gap="xs">
          <Text size="sm">
            {billedMoney(document.total, document.currency)} to{' '}
            <bdi>{document.recipient?.name ?? document.scope.project?.name ?? 'nobody in particular'}</bdi>, for{' '}
            {counted(document.entries, 'entry', 'entries')}. It takes the next number, and its entries can no longer be
            changed. A bill is never edited: it can be made void, which releases them.
          </Text>
          <Text size="sm">{deliveryInWords(values, document)}</Text>
        </Stack>
      </Confirm>
    </>
  )
}

function deliveryInWords({ deliver, deliver_to }: BillValues, { recipient }: BillDocument): string {
  if (deliver === 'nobody') return 'No e-mail is sent.'
  if (deliver === 'others') return `It goes to ${deliver_to.join(', ') || 'nobody: no address is named'}.`
  if (!recipient?.email) return 'No e-mail is sent: there is no client, or the client has no address.'
  return `It goes to ${recipient.email}, where this Tally sends e-mail.`
}
