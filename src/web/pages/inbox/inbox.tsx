/** Everything that waits for the signed-in person, by kind. What can be decided in a row is decided here. */
import { Anchor, Kbd, Stack } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { Empty } from '../../parts/empty.tsx'
import { pageOfList, queryOfList } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { type Figure, FigureLink } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { ProposedRules } from '../../parts/proposed-rules.tsx'
import { Caption, Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { type InboxItem, useInbox } from '../../server/inbox.ts'
import { useSettings } from '../../server/me.ts'
import { FailedDeliveries } from './deliveries.tsx'
import { EntriesToApprove } from './entries.tsx'
import { UnclosedPeriods } from './periods.tsx'
import { Row, Rows } from './row.tsx'
import { pressedBy, useRowKeys } from './rows.ts'
import { OwnSheets, SheetsToApprove } from './sheets.tsx'
import { UndoProvider, useUndoing } from './undo.ts'

type Kind = InboxItem['kind']

export default function Inbox() {
  const { data, error, refetch } = useInbox()
  const undoing = useUndoing()
  const frame = useRef<HTMLDivElement>(null)
  useRowKeys(frame, undoing.undo)
  return (
    <UndoProvider value={undoing}>
      <Page title="Inbox" lead="Items that need your decision.">
        <div ref={frame}>
          {error && !data && <Failure error={error} retry={refetch} />}
          {!data && !error && <Loading />}
          {data && <Sections items={data.data} />}
        </div>
      </Page>
    </UndoProvider>
  )
}

function Sections({ items }: { items: readonly InboxItem[] }) {
  const byKind = Map.groupBy(items, ({ kind }) => kind)
  const links = items.filter(({ kind }) => LINKS[kind] !== undefined)
  return (
    <Stack gap="xl">
      {items.length === 0 && (
        <Empty title="Nothing is waiting for you">
          Sheets and entries to approve, and what else needs a decision from you, appear here.
        </Empty>
      )}
      {[...byKind].map(([kind, some]) => {
        const section = SECTIONS[kind]
        if (!section) return null
        const waiting = some.reduce((sum, item) => sum + item.count, 0)
        return (
          <Section key={kind} id={kind} title={section.title} waiting={waiting}>
            {section.show(some.map(({ list }) => list))}
          </Section>
        )
      })}
      <ProposedRules hasSome={byKind.has('rule_proposals')} />
      {links.length > 0 && (
        <Section id="lists" title="To review">
          <Rows label="To review">
            {links.map((item) => (
              <ListRow key={item.kind} item={item} />
            ))}
          </Rows>
        </Section>
      )}
      {items.length > 0 && (
        <Caption visibleFrom="sm">
          Shortcuts: <Kbd size="xs">J</Kbd>/<Kbd size="xs">K</Kbd> move, <Kbd size="xs">A</Kbd> approve,{' '}
          <Kbd size="xs">R</Kbd> return or reject, <Kbd size="xs">X</Kbd> select, <Kbd size="xs">U</Kbd> undo,{' '}
          <Kbd size="xs">Enter</Kbd> open
        </Caption>
      )}
    </Stack>
  )
}

interface SectionProps {
  id: string
  title: string
  waiting?: number
  children: ReactNode
}

const Section = ({ id, title, waiting, children }: SectionProps) => (
  <Stack gap="xs" component="section" aria-labelledby={`inbox-${id}`}>
    <SectionTitle id={`inbox-${id}`}>
      {title}
      {waiting !== undefined && <Dimmed fw={400}> {count(waiting)}</Dimmed>}
    </SectionTitle>
    {children}
  </Stack>
)

/** What is shown row by row; `lists` are the paths of the lists of these things. */
const SECTIONS: Partial<Record<Kind, { title: string; show: (lists: string[]) => ReactNode }>> = {
  sheets_to_approve: { title: 'Token sheets to approve', show: () => <SheetsToApprove /> },
  entries_to_approve: { title: 'Entries to approve', show: (lists) => <EntriesToApprove lists={lists} /> },
  returned_sheets: {
    title: 'Your returned token sheets',
    show: ([list]) => <OwnSheets list={list!} label="Your returned token sheets" />,
  },
  overdue_sheets: {
    title: 'Your token sheets to submit',
    show: ([list]) => <OwnSheets list={list!} label="Your token sheets to submit" />,
  },
  unclosed_periods: { title: 'Plan periods to close', show: () => <UnclosedPeriods /> },
  failed_deliveries: { title: 'Failed deliveries', show: () => <FailedDeliveries /> },
}

const parametersOf = (list: string) => new URLSearchParams(list.split('?')[1])

interface ListOf {
  title: string
  detail: string
  /** The page of a list that is not one of entries. */
  page?: (list: string) => string
  /** What is counted, if not entries. */
  counts?: Figure
}

/** What is worked through on another page. */
const LINKS: Partial<Record<Kind, ListOf>> = {
  own_held_entries: {
    title: 'Your held entries',
    detail: 'another person has reported the same session; not counted until released or discarded',
  },
  held_entries: {
    title: 'Held entries',
    detail: 'two people have reported the same session; not counted until released or discarded',
  },
  possible_duplicates: {
    title: 'Possible duplicates',
    detail: 'neither approved nor rejected',
  },
  unattributed_entries: {
    title: 'Unattributed entries',
    detail: 'not assigned to a project or ticket',
    // The page itself adds what every entry on it has in common.
    page: (list) => addressOf('/unattributed', { status: queryOfList(list).status }),
  },
  unpriced_entries: { title: 'Unpriced entries', detail: 'cost unknown: no price for the model' },
  conflicting_tickets: {
    title: 'Conflicting tickets',
    detail: 'reported under different projects',
    page: () => addressOf('/work', { tab: 'tickets', conflicting: true }),
    counts: 'tickets',
  },
  unread_agents: {
    title: 'Agents with unread sessions',
    detail: 'Tally could not read everything that they recorded on your machines; what is missing is not counted',
    page: (list) =>
      addressOf('/tokens', { tab: 'agents', unread: true, user: parametersOf(list).get('user') ?? undefined }),
    counts: 'agents',
  },
  failing_webhooks: {
    title: 'Failing webhooks',
    detail: 'events are not delivered',
    page: () => addressOf('/webhooks', { failing: true }),
    counts: 'webhooks',
  },
}

function ListRow({ item: { kind, count: waiting, cost, list } }: { item: InboxItem }) {
  const { time_zone } = useSettings()
  const { title, detail, page, counts = 'entries' } = LINKS[kind]!
  const href = page ? page(list) : pageOfList(list, time_zone)
  return (
    <Row
      title={title}
      detail={detail}
      numbers={
        <>
          <FigureLink figure={counts} value={waiting} to={href}>
            {count(waiting)}
          </FigureLink>
          {cost !== null && (
            <Caption component="div">
              <FigureLink figure="cost" value={cost} to={href}>
                <Money amount={cost} />
              </FigureLink>
            </Caption>
          )}
        </>
      }
      actions={
        <Anchor component={Link} href={href} size="sm" aria-label={`Open: ${title}`} {...pressedBy('Enter')}>
          Open
        </Anchor>
      }
    />
  )
}
