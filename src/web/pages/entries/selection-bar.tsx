/** The actions for the selected entries, or for all that match the filters. */
import { Button, CloseButton, Divider, Menu, Text } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { count, counted } from '../../format/counts.ts'
import type { Chosen, Entry } from '../../parts/entries/entry.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { ManyDialog, type ManyKind } from '../../parts/entries/many.tsx'
import { SelectionToolbar } from '../../parts/selection-toolbar.tsx'
import { useApproves } from '../../server/me.ts'
import { isTyping } from '../../shell/shortcuts.ts'

interface SelectionBarProps {
  rows: readonly Entry[]
  selected: ReadonlySet<string>
  /** All matching entries; undefined without a filter, because acting on all entries requires one. */
  all: { query: EntryQuery; count: number | undefined; isChosen: boolean; choose: () => void } | undefined
  clear: () => void
}

export function SelectionBar({ rows, selected, all, clear }: SelectionBarProps) {
  const [dialog, setDialog] = useState<{ kind: ManyKind; chosen: Chosen } | null>(null)
  const isAll = all?.isChosen ?? false
  const isShown = isAll || selected.size > 0
  useEscape(isShown && dialog === null, clear)
  const act = (kind: ManyKind) => setDialog({ kind, chosen: isAll ? { query: all!.query } : { ids: [...selected] } })
  return (
    <>
      {isShown && (
        <SelectionToolbar label="Selected entries">
          <Text size="sm" fw={600} role="status">
            {isAll
              ? `All ${all?.count === undefined ? '' : `${count(all.count)} `}matching entries`
              : `${count(selected.size)} selected`}
          </Text>
          {!isAll && all && all.count !== undefined && all.count > selected.size && (
            <Button size="compact-sm" variant="subtle" onClick={all.choose}>
              Select all {counted(all.count, 'matching entry', 'matching entries')}
            </Button>
          )}
          <CloseButton aria-label="Clear selection" onClick={clear} />
          <Divider orientation="vertical" visibleFrom="sm" />
          <Actions act={act} />
        </SelectionToolbar>
      )}
      {dialog && (
        <ManyDialog
          {...dialog}
          rows={rows}
          close={(isDone) => {
            setDialog(null)
            if (isDone) clear()
          }}
        />
      )}
    </>
  )
}

function Actions({ act }: { act: (kind: ManyKind) => void }) {
  const approves = useApproves()
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => act('place')}>
        Assign…
      </Button>
      {approves && (
        <>
          <Button size="compact-sm" variant="default" onClick={() => act('approve')}>
            Approve…
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => act('reject')}>
            Reject…
          </Button>
          <Menu position="top-end">
            <Menu.Target>
              <Button size="compact-sm" variant="default" aria-label="More actions">
                <IconDots size={16} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => act('reopen')}>Reopen…</Menu.Item>
              <Menu.Item onClick={() => act('withdraw_approval')}>Withdraw approval…</Menu.Item>
              <Menu.Item onClick={() => act('release')}>Release…</Menu.Item>
              <Menu.Item onClick={() => act('discard')}>Discard…</Menu.Item>
              <Menu.Item onClick={() => act('void')}>Void…</Menu.Item>
              <Menu.Item onClick={() => act('restore')}>Restore…</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
    </>
  )
}

function useEscape(isActive: boolean, clear: () => void) {
  useEffect(() => {
    if (!isActive) return
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !isTyping(event) && !document.querySelector('[role="dialog"]')) clear()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [isActive, clear])
}
