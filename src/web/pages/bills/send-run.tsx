/** Sends the chosen bills of a run one by one, each as it was previewed. */
import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import type { Bill } from './bill-body.ts'
import { type BillRun, keyOf, type Outcome, type RunRow, sumsOf } from './run-body.ts'

interface SendRunProps {
  run: BillRun
  /** The chosen ones, which are ready. */
  rows: readonly RunRow[]
  isDisabled: boolean
  note: (key: string, outcome: Outcome) => void
  done: () => void
}

/** A response that was lost does not send the bill twice: the key is the same when the row is sent again. */
async function sendRow(row: RunRow): Promise<Outcome> {
  const body = { ...row.request, digest: row.digest! }
  try {
    const bill: Bill = await answer(api.bills.post(body, { headers: { 'idempotency-key': row.idempotency_key! } }))
    return { is: 'sent', id: bill.id, number: bill.number }
  } catch (error) {
    const problem = asProblem(error)
    return problem.code === 'preview_changed' ? { is: 'changed' } : { is: 'failed', message: problem.message }
  }
}

export function SendRun({ run, rows, isDisabled, note, done }: SendRunProps) {
  const [isOpen, dialog] = useDisclosure()
  const [isEarly, setEarly] = useState(false)
  const [progress, setProgress] = useState<{ done: number; of: number } | null>(null)
  const send = async () => {
    const outcomes: Outcome[] = []
    for (const row of rows) {
      setProgress({ done: outcomes.length, of: rows.length })
      note(keyOf(row), { is: 'sending' })
      const outcome = await sendRow(row)
      note(keyOf(row), outcome)
      outcomes.push(outcome)
    }
    setProgress(null)
    done()
    const sent = outcomes.filter(({ is }) => is === 'sent').length
    notifications.show({
      message:
        sent === rows.length
          ? `${counted(sent, 'bill')} sent.`
          : `${counted(sent, 'bill')} sent, ${rows.length - sent} not sent. See the rows.`,
      color: sent === rows.length ? 'teal' : 'orange',
    })
    await forget(['bills', 'entries', 'reports', 'audit'])
  }
  const total = sumsOf(rows)
    .map(([currency, sum]) => billedMoney(sum, currency))
    .join(' and ')
  return (
    <>
      <Button
        leftSection={<IconSend size={16} />}
        disabled={isDisabled || rows.length === 0 || progress !== null}
        onClick={dialog.open}
      >
        {progress
          ? `Sending ${progress.done + 1} of ${progress.of}…`
          : rows.length === 0
            ? 'Send bills…'
            : `Send ${counted(rows.length, 'bill')}…`}
      </Button>
      <Confirm
        isOpen={isOpen}
        close={dialog.close}
        title={`Send ${counted(rows.length, 'bill')} for ${total}?`}
        action={progress ? `Sending ${progress.done + 1} of ${progress.of}…` : 'Send bills'}
        isIncomplete={!run.period_is_over && !isEarly}
        confirm={send}
      >
        <Stack gap="xs">
          <Text size="sm">
            If the amount of a bill has changed, it is skipped. Sending assigns numbers, locks the entries, and e-mails
            each client that has an address, if e-mail is configured.
          </Text>
          {!run.period_is_over && (
            <Alert color="orange" variant="light" title={`The month lasts until ${dayInWords(run.period.to)}`}>
              <Checkbox
                label="Send the bills now anyway"
                checked={isEarly}
                onChange={(event) => setEarly(event.currentTarget.checked)}
              />
            </Alert>
          )}
        </Stack>
      </Confirm>
    </>
  )
}
