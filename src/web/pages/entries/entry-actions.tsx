/** The actions of one entry, depending on its status and the viewer's rights. */
import { Button, Group, Text } from '@mantine/core'
import { useDidUpdate } from '@mantine/hooks'
import { lazy, Suspense, useRef, useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { CHANGED_BY_ENTRIES, type Entry } from '../../parts/entries/entry.ts'
import { type LaterReports, LaterReportsField } from '../../parts/entries/later-reports.tsx'
import { Reason } from '../../parts/entries/reason.tsx'
import { tellUndo } from '../../parts/undo.tsx'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import classes from './entries.module.css'
import { rightsTo } from './rights.ts'

/** With fields that the list does without. */
const CorrectFigures = lazy(() => import('./correct-figures.tsx'))
const Divide = lazy(() => import('./divide.tsx'))

export function EntryActions({ entry }: { entry: Entry }) {
  const rights = rightsTo(entry, useMe())
  const [dialog, setDialog] = useState<'reject' | 'void' | 'correct' | 'divide' | null>(null)
  const decide = useDecisions(entry.id, rights.release)
  const actions = useRef<HTMLDivElement>(null)
  // The pressed button is gone, so focus would return to the top of the page.
  useDidUpdate(() => {
    if (document.activeElement === document.body) actions.current?.focus()
  }, [entry.status])
  const { place, correct, ...decisions } = rights
  if (!Object.values(decisions).includes(true)) return null
  return (
    <Group gap="xs" ref={actions} tabIndex={-1} className={classes.body}>
      {rights.approve && (
        <Button size="xs" loading={decide.approve.isPending} onClick={() => decide.approve.mutate()}>
          Approve
        </Button>
      )}
      {rights.reject && (
        <Button size="xs" variant="default" onClick={() => setDialog('reject')}>
          Reject…
        </Button>
      )}
      {rights.reopen && (
        <Button size="xs" variant="default" loading={decide.reopen.isPending} onClick={() => decide.reopen.mutate()}>
          Reopen
        </Button>
      )}
      {rights.withdraw && (
        <Button
          size="xs"
          variant="default"
          loading={decide.withdraw.isPending}
          onClick={() => decide.withdraw.mutate()}
        >
          Withdraw approval
        </Button>
      )}
      {rights.release && (
        <Button size="xs" loading={decide.release.isPending} onClick={() => decide.release.mutate()}>
          Release
        </Button>
      )}
      {rights.discard && (
        <Button size="xs" variant="default" loading={decide.discard.isPending} onClick={() => decide.discard.mutate()}>
          Discard
        </Button>
      )}
      {rights.restore && (
        <Button size="xs" variant="default" loading={decide.restore.isPending} onClick={() => decide.restore.mutate()}>
          Restore
        </Button>
      )}
      {rights.correctFigures && (
        <Button size="xs" variant="default" onClick={() => setDialog('correct')}>
          Correct usage…
        </Button>
      )}
      {rights.divide && (
        <Button size="xs" variant="default" onClick={() => setDialog('divide')}>
          Divide…
        </Button>
      )}
      {rights.undivide && (
        <Button
          size="xs"
          variant="default"
          loading={decide.undivide.isPending}
          onClick={() => decide.undivide.mutate()}
        >
          Undo division
        </Button>
      )}
      {rights.void && (
        <Button size="xs" variant="default" onClick={() => setDialog('void')}>
          Void…
        </Button>
      )}
      <Reject
        entry={entry}
        isOpen={dialog === 'reject'}
        close={() => setDialog(null)}
        reject={decide.reject.mutateAsync}
      />
      {dialog === 'correct' && (
        <Suspense>
          <CorrectFigures entry={entry} close={() => setDialog(null)} />
        </Suspense>
      )}
      {dialog === 'divide' && (
        <Suspense>
          <Divide entry={entry} close={() => setDialog(null)} />
        </Suspense>
      )}
      <Void entry={entry} isOpen={dialog === 'void'} close={() => setDialog(null)} send={decide.void.mutateAsync} />
    </Group>
  )
}

function useDecisions(id: string, mayRelease: boolean) {
  const entry = api['token-entries']({ id })
  const changes = CHANGED_BY_ENTRIES
  const withdraw = useSend({
    send: () => answer(entry['withdraw-approval'].post()),
    changes,
    done: () => 'Approval withdrawn.',
  })
  const reopen = useSend({ send: () => answer(entry.reopen.post()), changes, done: () => 'Entry reopened.' })
  const release = useSend({
    send: () => answer(entry.release.post()),
    changes,
    done: () => 'Session released. Its entries are counted.',
  })
  const restore = useSend({
    send: () => answer(entry.restore.post()),
    changes,
    done: () => 'Entry restored. It is counted again.',
  })
  const undivide = useSend({
    send: () => answer(entry.undivide.post()),
    changes,
    done: () => 'Division undone. The entry has the usage of all its parts again.',
  })
  return {
    withdraw,
    undivide,
    reopen,
    release,
    restore,
    void: useSend({
      send: (body: Voiding) => answer(entry.void.post(body)),
      changes,
      after: () => tellUndo('Entry voided.', 'Restore', () => restore.mutate()),
      quiet: true,
    }),
    discard: useSend({
      send: () => answer(entry.discard.post()),
      changes,
      // Whoever may only discard their own entries cannot take it back.
      ...(mayRelease
        ? { after: () => tellUndo('Session discarded.', 'Release', () => release.mutate()) }
        : { done: () => 'Session discarded. Its entries are not counted.' }),
    }),
    approve: useSend({
      send: () => answer(entry.approve.post()),
      changes,
      after: () => tellUndo('Entry approved.', 'Withdraw approval', () => withdraw.mutate()),
    }),
    reject: useSend({
      send: (reason: string) => answer(entry.reject.post({ reason })),
      changes,
      after: () => tellUndo('Entry rejected.', 'Reopen', () => reopen.mutate()),
      quiet: true,
    }),
  }
}

interface Voiding {
  reason: string
  later_reports: LaterReports
}

interface RejectProps {
  entry: Entry
  isOpen: boolean
  close: () => void
  reject: (reason: string) => Promise<unknown>
}

function Reject({ entry, isOpen, close, reject }: RejectProps) {
  const [reason, setReason] = useState('')
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title="Reject entry"
      action="Reject entry"
      isDangerous
      isIncomplete={reason.trim() === ''}
      confirm={async () => {
        await reject(reason.trim())
        setReason('')
      }}
    >
      <Text size="sm">
        A rejected entry is not billed, and stays rejected if its session continues.{' '}
        <bdi>{entry.agent_manager.name}</bdi> can see the reason.
      </Text>
      <Reason value={reason} change={setReason} />
    </Confirm>
  )
}

interface VoidProps {
  entry: Entry
  isOpen: boolean
  close: () => void
  send: (body: Voiding) => Promise<unknown>
}

function Void({ entry, isOpen, close, send }: VoidProps) {
  const [reason, setReason] = useState('')
  const [laterReports, setLaterReports] = useState<LaterReports>('new_part')
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title="Void entry"
      action="Void entry"
      isDangerous
      isIncomplete={reason.trim() === ''}
      confirm={async () => {
        await send({ reason: reason.trim(), later_reports: laterReports })
        setReason('')
      }}
    >
      <Text size="sm">
        A voided entry is kept, but not counted in reports, budgets and bills. <bdi>{entry.agent_manager.name}</bdi> can
        see the reason.
      </Text>
      <Reason value={reason} change={setReason} />
      {entry.session_id !== null && <LaterReportsField value={laterReports} change={setLaterReports} />}
    </Confirm>
  )
}
