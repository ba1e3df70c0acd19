/** One plan: its current period, people, terms and periods. */
import { Anchor, Badge, Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { dayInWords } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { RowActions } from '../../parts/more-actions.tsx'
import { Page } from '../../parts/page.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note, SectionTitle } from '../../parts/texts.tsx'
import { answer, api, apiQuery, apiUntil } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { Changes } from '../things/changes.tsx'
import { EndForm } from './end-form.tsx'
import { Periods } from './periods.tsx'
import {
  allowanceInWords,
  coversInWords,
  feeInWords,
  type Plan,
  STATE_COLORS,
  sharingInWords,
  type Terms,
} from './plan.ts'
import { CHANGES, DetailsForm, TermsForm } from './plan-form.tsx'
import { PreviewOf } from './preview.tsx'

export function PlanPage({ id }: { id: string }) {
  const plan = useQuery(apiQuery(['plans', 'one', id], (api) => api.plans({ id }).get()))
  if (plan.error && !plan.data) return <Failure error={plan.error} retry={plan.refetch} />
  return plan.data ? <OnePlan plan={plan.data} /> : <Loading />
}

function OnePlan({ plan }: { plan: Plan }) {
  const { time_zone } = useSettings()
  const { name, state, starts_on, ends_on, current_period } = plan
  const span =
    ends_on !== null && ends_on < starts_on ? 'Never in effect' : spanInWords({ from: starts_on, to: ends_on })
  return (
    <Page
      above={{ href: '/plans', title: 'Plans' }}
      title={
        <Group gap="xs">
          <bdi>{name}</bdi>
          <Badge color={STATE_COLORS[state]}>{state}</Badge>
        </Group>
      }
      lead={`${span} in ${time_zone}`}
      actions={<PlanActions plan={plan} />}
    >
      <Details
        of={[
          ['Product', <bdi key="product">{`${plan.product}, ${plan.vendor}`}</bdi>],
          ['Current period', current_period && `${spanInWords(current_period)}: ${exactMoney(current_period.fee_usd)}`],
          ['Vendor codes', plan.vendor_codes.join(', ')],
          ['Note', plan.note],
        ]}
      />
      <People plan={plan} />
      <Versions plan={plan} />
      <Periods plan={plan} />
      <Changes of={plan.id} />
    </Page>
  )
}

function PlanActions({ plan }: { plan: Plan }) {
  const [open, setOpen] = useState<'edit' | 'terms' | 'end' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Button variant="default" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" onClick={() => setOpen('terms')}>
        Change terms
      </Button>
      <Button variant="default" onClick={() => setOpen('end')}>
        {plan.ends_on === null ? 'End plan' : 'Change end'}
      </Button>
      {open === 'edit' && <DetailsForm plan={plan} close={close} />}
      {open === 'terms' && <TermsForm plan={plan} close={close} />}
      {open === 'end' && <EndForm plan={plan} close={close} />}
    </>
  )
}

const People = ({ plan: { people } }: { plan: Plan }) => (
  <Stack gap="xs">
    <SectionTitle>Used by</SectionTitle>
    {people.length === 0 ? (
      <Note>Everyone in the organization.</Note>
    ) : (
      <PlainTable
        label="People"
        columns={[
          { key: 'name', title: 'Person', cell: ({ name }) => <bdi>{name}</bdi> },
          { key: 'from', title: 'First day', width: '140px', cell: ({ from }) => dayInWords(from) },
          { key: 'to', title: 'Last day', width: '140px', cell: ({ to }) => (to === null ? '–' : dayInWords(to)) },
        ]}
        rows={people}
        rowKey={({ id, from }) => `${id} ${from}`}
      />
    )}
  </Stack>
)

function Versions({ plan }: { plan: Plan }) {
  const [open, setOpen] = useState<{ do: 'correct' | 'remove'; terms: Terms } | null>(null)
  const close = () => setOpen(null)
  return (
    <Stack gap="xs">
      <SectionTitle>Terms</SectionTitle>
      <PlainTable
        label="Terms"
        isStacked
        isHeadHidden
        columns={[
          { key: 'from', title: 'From', width: '130px', cell: ({ from }) => dayInWords(from) },
          { key: 'fee', title: 'Fee', cell: (terms) => <FeeCell terms={terms} /> },
          { key: 'covers', title: 'Covers', cell: (terms) => <CoversCell terms={terms} /> },
          {
            key: 'actions',
            title: '',
            width: '48px',
            cell: (terms) => (
              <RowActions label={`Actions for the terms from ${dayInWords(terms.from)}`}>
                <Menu.Item onClick={() => setOpen({ do: 'correct', terms })}>Correct</Menu.Item>
                {plan.versions.length > 1 && (
                  <Menu.Item onClick={() => setOpen({ do: 'remove', terms })}>Remove</Menu.Item>
                )}
              </RowActions>
            ),
          },
        ]}
        rows={plan.versions}
        rowKey={({ from }) => from}
      />
      {open?.do === 'correct' && <TermsForm plan={plan} from={open.terms.from} close={close} />}
      {open?.do === 'remove' && (
        <ConfirmChange
          isOpen
          close={close}
          title={`Remove the terms from ${dayInWords(open.terms.from)}?`}
          action="Remove"
          of={plan}
          send={(options) =>
            answer(api.plans({ id: plan.id }).versions({ from: open.terms.from }).delete(undefined, options))
          }
          changes={CHANGES}
          done={() => 'Terms removed.'}
        >
          <Text size="sm">The previous terms apply instead, which changes the periods from this day on.</Text>
          <PreviewOf
            name={`${plan.id} ${open.terms.from}`}
            ask={(signal) =>
              answer(
                apiUntil(signal)
                  .plans({ id: plan.id })
                  .versions({ from: open.terms.from })
                  .delete(undefined, { query: { dry_run: 'true' } }),
              )
            }
          />
        </ConfirmChange>
      )}
    </Stack>
  )
}

const FeeCell = ({ terms }: { terms: Terms }) => (
  <>
    {feeInWords(terms)}
    {terms.exchange_rate !== null && (
      <Caption>
        {terms.exchange_rate} {terms.currency} per US dollar
      </Caption>
    )}
    {terms.source_url !== null && (
      <Caption>
        <Anchor href={terms.source_url} target="_blank" rel="noreferrer" inherit>
          Source
        </Anchor>
        {terms.source_day !== null && `, ${dayInWords(terms.source_day)}`}
      </Caption>
    )}
  </>
)

function CoversCell({ terms }: { terms: Terms }) {
  const allowance = allowanceInWords(terms)
  const sharing = sharingInWords(terms)
  return (
    <>
      <bdi>{`Covers ${coversInWords(terms.covers)}`}</bdi>
      {allowance && <Caption>Includes {allowance}</Caption>}
      {sharing && <Caption>{sharing}</Caption>}
    </>
  )
}
