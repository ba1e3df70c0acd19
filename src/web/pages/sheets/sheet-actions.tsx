import { Button, Checkbox, Menu, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Money } from '../../parts/figures.tsx'
import { MoreActions } from '../../parts/more-actions.tsx'
import { periodInWords } from '../../parts/period.ts'
import { answer } from '../../server/api.ts'
import { ImportEntries } from './import-entries.tsx'
import { OverlapList, useOverlaps } from './overlaps.tsx'
import { type Rights, SHEET_CHANGES, type Sheet, sheetOf } from './sheet-body.ts'

type Action = 'submit' | 'approve' | 'return' | 'withdraw' | 'remove' | 'import'

/** The actions on the whole sheet that the person may take. */
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
          Return sheet
        </Button>
      )}
      {rights.withdraws && (
        <Button variant="default" onClick={() => setOpen('withdraw')}>
          Withdraw approval
        </Button>
      )}
      <SheetMenu sheet={sheet} mayEdit={rights.edits} choose={setOpen} />
      {open === 'import' && <ImportEntries id={sheet.id} close={close} />}
      {open === 'submit' && <SubmitSheet sheet={sheet} close={close} />}
      <Decisions sheet={sheet} open={open} close={close} />
    </>
  )
}

interface SheetMenuProps {
  sheet: Sheet
  mayEdit: boolean
  choose: (action: Action) => void
}

const SheetMenu = ({ sheet, mayEdit, choose }: SheetMenuProps) => (
  <MoreActions>
    {mayEdit && <Menu.Item onClick={() => choose('import')}>Import CSV…</Menu.Item>}
    <Menu.Item component="a" href={addressOf('/api/v1/token-entries', { sheet: sheet.id, format: 'csv' })} download>
      Download entries as CSV
    </Menu.Item>
    {mayEdit && (
      <Menu.Item color="red" onClick={() => choose('remove')}>
        Remove sheet
      </Menu.Item>
    )}
  </MoreActions>
)

const nameOf = ({ agent_manager, period }: Sheet) => `${agent_manager.name}’s sheet for ${periodInWords(period)}`

function SubmitSheet({ sheet, close }: { sheet: Sheet; close: () => void }) {
  const [isMeant, setMeant] = useState(false)
  const overlaps = useOverlaps(sheet.id).data
  const hasOverlaps = overlaps !== undefined && overlaps.length > 0
  return (
    <ConfirmChange
      isOpen
      close={close}
      title="Submit this sheet for approval?"
      action="Submit"
      isIncomplete={overlaps === undefined || (hasOverlaps && !isMeant)}
      send={() => answer(sheetOf(sheet.id).submit.post(isMeant ? { confirm_overlaps: true } : {}))}
      changes={SHEET_CHANGES}
      done={() => 'Sheet submitted.'}
    >
      <Text size="sm">
        You submit {counted(sheet.entries, 'entry', 'entries')} (<Money amount={sheet.cost} />
        ). They can’t be changed while they wait for approval.
      </Text>
      {hasOverlaps && (
        <>
          <div>
            <OverlapList overlaps={overlaps} />
          </div>
          <Checkbox
            label="These are not duplicates: agents did not report this usage"
            checked={isMeant}
            onChange={({ currentTarget }) => setMeant(currentTarget.checked)}
          />
        </>
      )}
    </ConfirmChange>
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
  return (
    <>
      <ConfirmChange
        isOpen={open === 'approve'}
        close={close}
        title={`Approve ${nameOf(sheet)}?`}
        action="Approve"
        send={() => answer(sheetOf(sheet.id).approve.post())}
        changes={SHEET_CHANGES}
        done={() => 'Sheet approved with all its entries.'}
      >
        <Text size="sm">
          {counted(sheet.entries, 'entry', 'entries')} (<Money amount={sheet.cost} />) can then be billed.
        </Text>
      </ConfirmChange>
      <ConfirmChange
        isOpen={open === 'return'}
        close={close}
        title={`Return ${nameOf(sheet)}?`}
        action="Return sheet"
        isIncomplete={reason.trim() === ''}
        send={() => answer(sheetOf(sheet.id).return.post({ reason: reason.trim() }))}
        changes={SHEET_CHANGES}
        done={() => `Sheet returned to ${sheet.agent_manager.name}.`}
      >
        <Textarea
          label="Reason"
          description={`${sheet.agent_manager.name} sees the reason and can correct and resubmit the sheet.`}
          autosize
          minRows={3}
          required
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </ConfirmChange>
      <ConfirmChange
        isOpen={open === 'withdraw'}
        close={close}
        title={`Withdraw approval of ${nameOf(sheet)}?`}
        action="Withdraw approval"
        send={() => answer(sheetOf(sheet.id)['withdraw-approval'].post())}
        changes={SHEET_CHANGES}
        done={() => 'Approval withdrawn.'}
      >
        <Text size="sm">
          The sheet waits for approval again. This is not possible if any of its entries is on a bill.
        </Text>
      </ConfirmChange>
      <ConfirmChange
        isOpen={open === 'remove'}
        close={close}
        title="Remove this sheet?"
        action="Remove sheet"
        isDangerous
        send={() => answer(sheetOf(sheet.id).delete())}
        changes={SHEET_CHANGES}
        done={() => 'Sheet removed.'}
        leave={() => navigate('/sheets')}
      >
        <Text size="sm">
          {sheet.entries === 0
            ? 'The sheet is empty.'
            : `Its ${counted(sheet.entries, 'entry is', 'entries are')} permanently removed with it.`}
        </Text>
      </ConfirmChange>
    </>
  )
}
