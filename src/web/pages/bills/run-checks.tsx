/** What is left to do before the bills of a month are complete, each with the list of exactly its entries. */
import { Anchor, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { counted } from '../../format/counts.ts'
import { pageOfList } from '../../parts/entries/filters.ts'
import { figure } from '../../parts/figure-link.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { billDraftsQuery } from '../../server/bill-drafts.ts'
import { useSettings } from '../../server/me.ts'
import { LeftOutSum } from './left-out-sum.tsx'
import { type BillRun, CHECKS, type RunCheck } from './run-body.ts'

/** Checks that need nothing to be done. */
function isNotice({ check }: RunCheck, { approval_required }: BillRun): boolean {
  return check === 'rejected' || (check === 'not_approved' && !approval_required)
}

export function RunChecks({ run }: { run: BillRun }) {
  const { time_zone } = useSettings()
  const { data: drafts = [] } = useQuery(billDraftsQuery)
  const found = run.checks.filter(({ entries }) => entries > 0)
  const isDone = found.every((check) => isNotice(check, run))
  return (
    <Paper withBorder p="md">
      <CardTitle>Checklist</CardTitle>
      {isDone && (
        <Note mt={4}>
          Ready to bill: every entry of the month is assigned, priced, and approved where approval is required.
        </Note>
      )}
      {drafts.length > 0 && (
        <Text size="sm" mt={4}>
          <Anchor component={Link} href="/bills" inherit>
            <span {...figure('drafts', drafts.length)}>{counted(drafts.length, 'draft')}</span>
          </Anchor>{' '}
          of bills not sent.
        </Text>
      )}
      {found.length > 0 && (
        <PlainTable
          label="Checklist"
          columns={[
            {
              key: 'check',
              title: 'Check',
              cell: (check) => (
                <>
                  {CHECKS[check.check].title}
                  <Caption>
                    {check.check === 'not_approved' && isNotice(check, run)
                      ? 'For information: bills do not require approval.'
                      : CHECKS[check.check].advice}
                  </Caption>
                </>
              ),
            },
            {
              key: 'entries',
              title: 'Entries',
              isNumber: true,
              cell: (check) => (
                <LeftOutSum
                  left={check}
                  href={pageOfList(check.list, time_zone)}
                  isUnpriced={check.check === 'unpriced'}
                />
              ),
            },
          ]}
          rows={found}
          rowKey={({ check }) => check}
          isHeadHidden
          isStacked
        />
      )}
    </Paper>
  )
}
