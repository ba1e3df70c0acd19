/** Links that show a report or a bill without an account: what they show, their use, and revoking them. */
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import {
  agoColumn,
  cellColumn,
  exactCountColumn,
  momentColumn,
  statusColumn,
  textColumn,
} from '../../parts/columns.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Page } from '../../parts/page.tsx'
import { PERIODS } from '../../parts/period.ts'
import { SettingOff } from '../../parts/setting-off.tsx'
import { Caption } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'
import { useRole, useSettings } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import type { ShareLink } from '../../server/share-links.ts'

export default function ShareLinks() {
  const isAdmin = useRole('admin')
  const { share_links } = useSettings()
  const [revoked, setRevoked] = useState<ShareLink | null>(null)
  const list = useApiList(['share-links', 'list'], (api, paging) => api['share-links'].get({ query: paging }))
  return (
    <Page
      title="Share links"
      lead="Anyone with a link sees one report or bill without an account, limited to its creator’s access."
    >
      {!share_links && <SettingOff what="Share links, also existing ones," />}
      <DataTable
        label="Share links"
        name="share-links"
        columns={columnsOf(isAdmin, setRevoked)}
        list={list}
        rowKey={({ id }) => id}
        isMuted={({ state }) => state !== 'active'}
        empty={<Empty title="No share links">“Share…” on the page Reports, or on a bill, creates one.</Empty>}
      />
      <RevokeShareLink link={revoked} close={() => setRevoked(null)} />
    </Page>
  )
}

function RevokeShareLink({ link, close }: { link: ShareLink | null; close: () => void }) {
  const revoke = useSend({
    send: (id: string) => answer(api['share-links']({ id }).revoke.post()),
    changes: ['share-links', 'audit'],
    done: () => 'Share link revoked.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen={link !== null}
      close={close}
      title="Revoke share link?"
      action="Revoke"
      isDangerous
      confirm={() => revoke.mutateAsync(link!.id)}
    >
      <Text size="sm">Anyone with the link loses access. You can’t undo this.</Text>
    </Confirm>
  )
}

function columnsOf(isAdmin: boolean, revoke: (link: ShareLink) => void): Column<ShareLink>[] {
  return [
    cellColumn('shows', 'Shows', { value: subjectOf, phone: 'title' }, (link) => (
      <>
        {subjectOf(link)}
        <Caption fw={400}>
          <bdi>{link.note ?? ''}</bdi>
        </Caption>
      </>
    )),
    cellColumn('money', 'Amounts', { value: ({ money }) => money, width: '130px' }, ({ money }) => MONEY[money]),
    ...(isAdmin
      ? [textColumn('person', 'Created by', ({ created_by }: ShareLink) => created_by.name, { width: '150px' })]
      : []),
    exactCountColumn('uses', 'Opened', ({ uses }) => uses, { width: '90px' }),
    agoColumn('used', 'Last opened', ({ last_used_at }) => last_used_at, { width: '130px' }),
    momentColumn('expires', 'Expires', ({ expires_at }) => expires_at, { width: '165px' }),
    statusColumn('state', 'State', ({ state }) => state, { width: '90px', phone: 'value' }),
    cellColumn(
      'revoke',
      'Action',
      { phone: 'bare', width: '110px', isNumber: true },
      (link) =>
        link.revoked_at === null && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => revoke(link)}
            aria-label={`Revoke link to ${subjectOf(link)}`}
          >
            Revoke…
          </Button>
        ),
    ),
  ]
}

const MONEY: Record<ShareLink['money'], string> = {
  amounts: 'Bill',
  billed: 'Billed amounts',
  cost: 'Cost',
  none: 'None',
}

function subjectOf({ bill, report, title }: ShareLink): string {
  if (bill) return `Bill ${bill.number}`
  const moving = report?.period?.replace('_', '-')
  const period =
    moving !== undefined && Object.hasOwn(PERIODS, moving)
      ? PERIODS[moving as keyof typeof PERIODS].title
      : `${report?.starting_at} to before ${report?.ending_at}`
  return `${title ?? 'Usage'}, ${period}`
}
