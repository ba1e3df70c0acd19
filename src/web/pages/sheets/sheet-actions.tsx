import { Button, Checkbox, Menu, Text, Textarea } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Money } from '../../parts/figures.tsx'
import { periodInWords } from '../../parts/period.ts'
import { answer } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import { ImportEntries } from './import-entries.tsx'
import { OverlapList, useOverlaps } from './overlaps.tsx'
import { type Rights, SHEET_CHANGES, type Sheet, sheetOf } from './sheet-body.ts'

type Action = 'submit' | 'approve' | 'return' | 'withdraw' | 'remove' | 'import'

/** What can be done with the sheet as a whole, as far as the person may. */
export function SheetActions({ sheet, rights }: { sheet: Sheet; rights: Rights }) {
  const [open, setOpen] = useState<Action | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      {rights.edits && (
        <Button disabled={sheet.entries === 0} onClick={() => setOpen('submit')}>
          Submit
        </Button>
      )}
      {rights.approves && <Button onClick={() => setOpen('approve')}>Approve</Button>}
      {rights.returns && (
        <Button variant="default" onClick={() => setOpen('return')}>
          Return
        </Button>
      )}
      {rights.withdraws && (
        <Button variant="default" onClick={() => setOpen('withdraw')}>
          Withdraw approval
        </Button>
      )}
      <MoreActions sheet={sheet} mayEdit={rights.edits} choose={setOpen} />
      {open === 'import' && <ImportEntries id={sheet.id} close={close} />}
      {open === 'submit' && <SubmitSheet sheet={sheet} close={close} />}
      <Decisions sheet={sheet} open={open} close={close} />
    </>
  )
}

interface MoreActionsProps {
  sheet: Sheet
  mayEdit: boolean
  choose: (action: Action) => void
}

const MoreActions = ({ sheet, mayEdit, choose }: MoreActionsProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button variant="default" px="xs" aria-label="More">
        <IconDots size={16} />
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      {mayEdit && <Menu.Item onClick={() => choose('import')}>Add rows of a CSV file …</Menu.Item>}
      <Menu.Item component="a" href={addressOf('/api/v1/token-entries', { sheet: sheet.id, format: 'csv' })} download>
        Its entries as CSV
      </Menu.Item>
      {mayEdit && (
        <Menu.Item color="red" onClick={() => choose('remove')}>
          Remove the sheet
        </Menu.Item>
      )}
    </Menu.Dropdown>
  </Menu>
)

const nameOf = ({ agent_manager, period }: Sheet) => `${agent_manager.name}, ${periodInWords(period)}`

function SubmitSheet({ sheet, close }: { sheet: Sheet; close: () => void }) {
  const [isMeant, setMeant] = useState(false)
  const overlaps = useOverlaps(sheet.id).data
  const hasOverlaps = overlaps !== undefined && overlaps.length > 0
  const submit = useSend({
    send: () => answer(sheetOf(sheet.id).submit.post(isMeant ? { confirm_overlaps: true } : {})),
    changes: SHEET_CHANGES,
    done: () => 'The sheet is submitted.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title="Submit this sheet for approval?"
      action="Submit"
      isIncomplete={overlaps === undefined || (hasOverlaps && !isMeant)}
      confirm={() => submit.mutateAsync()}
    >
      <Text size="sm">
        {counted(sheet.entries, 'entry', 'entries')} of <Money amount={sheet.cost} /> wait for approval then. They
        cannot be changed meanwhile.
      </Text>
      {hasOverlaps && (
        <>
          <div>
            <OverlapList overlaps={overlaps} />
          </div>
          <Checkbox
            label="They are meant so: the use was not reported as well"
            checked={isMeant}
            onChange={({ currentTarget }) => setMeant(currentTarget.checked)}
          />
        </>
      )}
    </Confirm>
  )
}

interface DecisionsProps {
  sheet: Sheet
  open: Action | null
  close: () => void
}

function Decisions({ sheet, open, close }: DecisionsProps) {
  const [, navigate] = useLocation()
  const [reason, setReason] = useState('')
  const approve = useSend({
    send: () => answer(sheetOf(sheet.id).approve.post()),
    changes: SHEET_CHANGES,
    done: () => 'The sheet is approved, and its entries with it.',
    quiet: true,
  })
  const giveBack = useSend({
    send: () => answer(sheetOf(sheet.id).return.post({ reason: reason.trim() })),
    changes: SHEET_CHANGES,
    done: () => `The sheet is returned to ${sheet.agent_manager.name}.`,
    quiet: true,
  })
  const withdraw = useSend({
    send: () => answer(sheetOf(sheet.id)['withdraw-approval'].post()),
    changes: SHEET_CHANGES,
    done: () => 'The approval is withdrawn.',
    quiet: true,
  })
  const remove = useSend({
    send: () => answer(sheetOf(sheet.id).delete()),
    changes: SHEET_CHANGES,
    done: () => 'The sheet is removed.',
    leave: () => navigate('/sheets'),
    quiet: true,
  })
  return (
    <>
      <Confirm
        isOpen={open === 'approve'}
        close={close}
        title={`Approve the sheet of ${nameOf(sheet)}?`}
        action="Approve"
        confirm={() => approve.mutateAsync()}
      >
        <Text size="sm">
          {counted(sheet.entries, 'entry', 'entries')} of <Money amount={sheet.cost} /> can go on bills then.
        </Text>
      </Confirm>
      <Confirm
        isOpen={open === 'return'}
        close={close}
        title={`Return the sheet of ${nameOf(sheet)}?`}
        action="Return the sheet"
        isIncomplete={reason.trim() === ''}
        confirm={() => giveBack.mutateAsync()}
      >
        <Textarea
          label="Why"
          description={`${sheet.agent_manager.name} reads it, corrects the sheet and submits it again.`}
          autosize
          minRows={3}
          maxLength={1000}
          required
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </Confirm>
      <Confirm
        isOpen={open === 'withdraw'}
        close={close}
        title={`Withdraw the approval of the sheet of ${nameOf(sheet)}?`}
        action="Withdraw approval"
        confirm={() => withdraw.mutateAsync()}
      >
        <Text size="sm">It waits for approval again. Entries that are on a bill are in the way.</Text>
      </Confirm>
      <Confirm
        isOpen={open === 'remove'}
        close={close}
        title="Remove this sheet?"
        action="Remove the sheet"
        isDangerous
        confirm={() => remove.mutateAsync()}
      >
        <Text size="sm">
          {sheet.entries === 0
            ? 'There is nothing on it.'
            : `Its ${counted(sheet.entries, 'entry goes', 'entries go')} with it, for good.`}
        </Text>
      </Confirm>
    </>
  )
}
