/** Token sheets: entries that people add by hand and submit together for approval. */
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { oneOf, useAddress } from '../../address.ts'
import { useApprovals } from '../../parts/approvals.ts'
import { Page } from '../../parts/page.tsx'
import { SectionTabs } from '../../parts/section-tabs.tsx'
import { useApproves } from '../../server/me.ts'
import { NotFound } from '../../shell/not-found.tsx'
import { NewSheet } from './new-sheet.tsx'
import { Waiting } from './pending-sheets.tsx'
import { SheetPage } from './sheet.tsx'
import { AllSheets, OwnSheets } from './sheet-list.tsx'

export default function Sheets() {
  return (
    <Switch>
      <Route path="/sheets" component={Lists} />
      <Route path="/sheets/:id">{({ id }) => <SheetPage key={id} id={id} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}

/** The tab with the sheets that wait for the person. */
const WAITING = '/sheets?tab=waiting'

const SHOWN = { own: OwnSheets, waiting: Waiting, all: AllSheets }

function Lists() {
  const [, navigate] = useLocation()
  const approves = useApproves()
  const [isOpening, setOpening] = useState(false)
  const [{ tab }, show] = useAddress({ tab: oneOf('own', 'waiting', 'all') })
  const chosen = approves ? tab : 'own'
  const Shown = SHOWN[chosen]
  const sheets = useApprovals(approves).data?.sheets.sheets
  const waiting = sheets === undefined ? undefined : { figure: 'sheets' as const, value: sheets, to: WAITING }
  const own = { value: 'own', title: 'Yours' }
  return (
    <Page
      title="Token sheets"
      lead="Record usage that no agent reported: fill in a sheet for a month or a date range and submit it. Once approved, its entries can be billed."
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => setOpening(true)}>
          New sheet
        </Button>
      }
    >
      {approves ? (
        <SectionTabs
          label="Token sheets"
          tabs={[own, { value: 'waiting', title: 'Needs your approval', waiting }, { value: 'all', title: 'All' }]}
          value={chosen}
          change={(tab) => show({ tab: tab as typeof chosen })}
        >
          <Shown />
        </SectionTabs>
      ) : (
        <Shown />
      )}
      {isOpening && <NewSheet close={() => setOpening(false)} opened={({ id }) => navigate(`/sheets/${id}`)} />}
    </Page>
  )
}
