import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
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
  /** False if more may be recorded for the period. */
  isPeriodOver: boolean
  document: BillDocument
  isDisabled: boolean
  /** The id of the draft that becomes the bill. */
  draft: string | undefined
  /** Called if the draft was sent or deleted meanwhile. */
  lost: (refused: Problem) => void
  sent: (bill: Bill) => void
  /** Called when the bill no longer matches its preview. */
  again: () => void
}

/** Browsers offer `crypto.randomUUID` over HTTPS only. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('')

export function SendBill(props: SendBillProps) {
  const { values, request, digest, isPeriodOver, document, isDisabled, draft, lost, sent, again } = props
  const [isOpen, dialog] = useDisclosure()
  const [isEarly, setEarly] = useState(false)
  const body: BillSending = { ...request, ...deliveryOf(values), digest, ...(draft !== undefined && { draft }) }
  const text = JSON.stringify(body)
  // A retry after a lost response must not send the bill twice.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key for another bill
  const key = useMemo(newKey, [text])
  const send = useSend({
    send: (): Promise<Bill> => answer(api.bills.post(body, { headers: { 'idempotency-key': key } })),
    changes: ['bills', 'entries', 'reports', 'audit'],
    done: ({ number }) => `Bill ${number} sent.`,
    quiet: true,
  })
  const confirm = async () => {
    try {
      sent(await send.mutateAsync())
    } catch (error) {
      if (error instanceof Problem && error.code === 'preview_changed') again()
      if (error instanceof Problem && error.code === 'draft_gone') lost(error)
      throw error
    }
  }
  return (
    <>
      <Button leftSection={<IconSend size={16} />} onClick={dialog.open} disabled={isDisabled}>
        Send bill…
      </Button>
      <Confirm
        isOpen={isOpen}
        close={dialog.close}
        title="Send this bill?"
        action="Send bill"
        isIncomplete={!isPeriodOver && !isEarly}
        confirm={confirm}
      >
        <Stack gap="xs">
          <Text size="sm">
            {billedMoney(document.total, document.currency)} to{' '}
            <bdi>{document.recipient?.name ?? document.scope.project?.name ?? 'no specific recipient'}</bdi>, for{' '}
            {counted(document.entries, 'entry', 'entries')}. Sending assigns the next bill number and locks these
            entries. A sent bill cannot be edited, but you can void it to release its entries.
          </Text>
          <Text size="sm">{deliveryInWords(values, document)}</Text>
          {!isPeriodOver && (
            <Alert color="orange" variant="light" title={`The period lasts until ${dayInWords(document.period.to)}`}>
              <Stack gap="xs">
                What is recorded for the rest of it needs another bill.
                <Checkbox
                  label="Send the bill now anyway"
                  checked={isEarly}
                  onChange={(event) => setEarly(event.currentTarget.checked)}
                />
              </Stack>
            </Alert>
          )}
        </Stack>
      </Confirm>
    </>
  )
}

function deliveryInWords({ deliver, deliver_to }: BillValues, { recipient }: BillDocument): string {
  if (deliver === 'nobody') return 'No e-mail will be sent.'
  if (deliver === 'others' && deliver_to.length === 0) return 'No e-mail will be sent: no address is entered.'
  if (deliver === 'others') return `It will be e-mailed to ${deliver_to.join(', ')}.`
  if (!recipient?.email) return 'No e-mail will be sent: the bill has no client, or the client has no e-mail address.'
  return `It will be e-mailed to ${recipient.email} if e-mail is configured on this server.`
}
