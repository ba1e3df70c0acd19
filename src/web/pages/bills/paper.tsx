/** A bill in its printed form, as the client sees it, with links to the entries of each line. */
import { Anchor, Paper, Stack, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { type TimedLine, workHeading, workText } from '../../../shared/active-time.ts'
import { billBasisText } from '../../../shared/cost-basis.ts'
import { formatsOf } from '../../../shared/locales.ts'
import { projectLabel } from '../../parts/project-label.ts'
import { CardTitle, Note } from '../../parts/texts.tsx'
import type { BillDocument, BillLine } from './bill-body.ts'
import classes from './paper.module.css'

interface BillPaperProps {
  document: BillDocument
  /** Opens the entries of a line. */
  openLine?: (line: BillLine) => void
  isStale?: boolean
  /** Shown above the issuer, such as its logo. */
  picture?: ReactNode
}

export function BillPaper({ document, openLine, isStale, picture }: BillPaperProps) {
  const { kind, number, issuer, recipient, note, footer } = document
  return (
    <Paper withBorder p={{ base: 'md', sm: 'xl' }} className={classes.paper} data-stale={isStale || undefined}>
      <Stack gap="lg">
        <div className={classes.head}>
          <div>
            {picture}
            <Party {...issuer} />
          </div>
          <div>
            <Text fz={22} fw={650} lh={1.2} className={classes.kind}>
              {kind === 'bill' ? 'Bill' : 'Credit note'}
            </Text>
            <Text mb="xs" className={classes.kind}>
              {number ?? 'Number assigned when sent'}
            </Text>
            <Facts document={document} />
          </div>
        </div>
        {recipient && (
          <div>
            <Note>Bill to</Note>
            <Party {...recipient} />
          </div>
        )}
        {note !== null && (
          <Text size="sm" className={classes.lines} dir="auto">
            {note}
          </Text>
        )}
        <Lines document={document} openLine={openLine} />
        {footer !== null && (
          <Text size="sm" className={classes.lines} dir="auto">
            {footer}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

const Party = ({ name, address, tax_id, email }: BillDocument['issuer']) => (
  <div>
    <CardTitle>
      <bdi>{name}</bdi>
    </CardTitle>
    <Text size="sm" className={classes.lines} dir="auto">
      {[address, tax_id && `Tax ID ${tax_id}`, email].filter(Boolean).join('\n')}
    </Text>
  </div>
)

function Facts({ document }: { document: BillDocument }) {
  const { kind, issued_on, due_on, period, purchase_order, scope, corrects, replaces, show_cost, currency } = document
  const { day, days, decimal } = formatsOf(document.locale)
  const facts: [string, string | null | undefined][] = [
    ['Date', day(issued_on)],
    ['Due', kind === 'bill' ? day(due_on) : null],
    ['Period', days(period.from, period.to)],
    ['Purchase order', purchase_order],
    ['Project', scope.project && projectLabel(scope.project)],
    ['Corrects bill', corrects?.number],
    ['Replaces bill', replaces?.number],
    ['Costs on this bill', kind === 'bill' ? billBasisText(document) : null],
    [
      'Exchange rate',
      show_cost && currency !== 'USD' ? `1 USD = ${decimal(`${document.exchange_rate}`)} ${currency}` : null,
    ],
  ]
  return (
    <dl className={classes.facts}>
      {facts.map(
        ([label, text]) =>
          text && (
            <Fragment key={label}>
              <dt>{label}</dt>
              <dd>
                <bdi>{text}</bdi>
              </dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}

function Lines({ document, openLine }: Pick<BillPaperProps, 'document' | 'openLine'>) {
  const { kind, show_active_time, show_cost, currency, sections, extra_lines, minor_digits } = document
  const hasFigures = kind === 'bill'
  const { decimal } = formatsOf(document.locale)
  const span = 2 + (hasFigures ? 2 : 0) + (hasFigures && show_active_time ? 1 : 0) + (hasFigures && show_cost ? 2 : 0)
  return (
    <table className={classes.table} aria-label="Lines of the bill">
      <thead>
        <tr>
          <th scope="col">Description</th>
          {hasFigures && (
            <>
              <th scope="col" className={classes.extra}>
                Sessions
              </th>
              <th scope="col" className={classes.extra}>
                Tokens
              </th>
            </>
          )}
          {hasFigures && show_active_time && (
            <th scope="col" className={`${classes.extra} ${classes.work}`}>
              {workHeading(sections.flatMap(({ lines }) => lines.map(timedLine)))}
            </th>
          )}
          {hasFigures && show_cost && (
            <>
              <th scope="col" className={classes.extra}>
                Cost USD
              </th>
              <th scope="col" className={classes.extra}>
                Markup
              </th>
            </>
          )}
          <th scope="col">Amount {currency}</th>
        </tr>
      </thead>
      <tbody>
        {sections.map(({ title, lines }) => (
          <Fragment key={title ?? ''}>
            {title !== null && (
              <tr className={classes.section}>
                <th colSpan={span}>{title}</th>
              </tr>
            )}
            <Groups lines={lines} document={document} openLine={openLine} span={span} />
          </Fragment>
        ))}
        {sections.length > 0 && extra_lines.length > 0 && (
          <tr className={classes.section}>
            <th colSpan={span}>Other items</th>
          </tr>
        )}
        {extra_lines.map(({ text, amount }, index) => (
          // Extra lines have no id, and two may be identical.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <tr key={index}>
            <td dir="auto">{text}</td>
            {hasFigures && <td className={classes.extra} colSpan={span - 2} />}
            <td>{decimal(`${amount}`, minor_digits)}</td>
          </tr>
        ))}
        {sections.length === 0 && extra_lines.length === 0 && (
          <tr>
            <td colSpan={span}>Nothing to bill.</td>
          </tr>
        )}
      </tbody>
      <Sums document={document} span={span} />
    </table>
  )
}

function Sums({ document, span }: { document: BillDocument; span: number }) {
  const { decimal } = formatsOf(document.locale)
  const { subtotal, tax, total, currency, minor_digits } = document
  return (
    <tfoot>
      {tax && (
        <>
          <tr>
            <td>Subtotal</td>
            <td colSpan={span - 1}>{decimal(`${subtotal}`, minor_digits)}</td>
          </tr>
          <tr>
            <td>
              {tax.name} {decimal(`${tax.percent}`)} %
            </td>
            <td colSpan={span - 1}>{decimal(`${tax.amount}`, minor_digits)}</td>
          </tr>
        </>
      )}
      <tr className={classes.total}>
        <td>Total {currency}</td>
        <td colSpan={span - 1}>{decimal(`${total}`, minor_digits)}</td>
      </tr>
    </tfoot>
  )
}

interface GroupsProps extends Pick<BillPaperProps, 'document' | 'openLine'> {
  lines: readonly BillLine[]
  span: number
}

/** Lines grouped by the first dimension, such as the project, below its name. */
function Groups({ lines, document, openLine, span }: GroupsProps) {
  const [first, ...others] = document.group_by
  const isNested = others.length > 0
  const groups = new Map<string, BillLine[]>()
  for (const line of lines) {
    const key = isNested ? JSON.stringify(line.keys[first!]) : ''
    groups.set(key, [...(groups.get(key) ?? []), line])
  }
  return [...groups].map(([key, members]) => (
    <Fragment key={key}>
      {isNested && (
        <tr className={classes.group}>
          <th colSpan={span} scope="rowgroup" dir="auto">
            {nameOf(members[0]!, first!)}
          </th>
        </tr>
      )}
      {members.map((line) => (
        <Line
          key={line.line}
          line={line}
          label={(isNested ? others : document.group_by).map((name) => nameOf(line, name)).join(' · ')}
          document={document}
          openLine={openLine}
          isNested={isNested}
        />
      ))}
    </Fragment>
  ))
}

interface LineProps extends Pick<BillPaperProps, 'document' | 'openLine'> {
  line: BillLine
  label: string
  isNested: boolean
}

function Line({ line, label, document, openLine, isNested }: LineProps) {
  const { show_active_time, show_cost, minor_digits } = document
  const formats = formatsOf(document.locale)
  const { decimal } = formats
  const text = label || 'Agent usage'
  return (
    <tr className={isNested ? classes.nested : undefined}>
      <td dir="auto">
        {openLine ? (
          <Anchor component="button" type="button" size="sm" ta="start" onClick={() => openLine(line)}>
            {text}
          </Anchor>
        ) : (
          text
        )}
      </td>
      <td className={classes.extra}>{decimal(`${line.sessions}`)}</td>
      <td className={classes.extra}>{decimal(`${line.tokens.total}`)}</td>
      {show_active_time && <td className={`${classes.extra} ${classes.work}`}>{workText(timedLine(line), formats)}</td>}
      {show_cost && (
        <>
          <td className={classes.extra}>{decimal(`${line.cost}`, 2)}</td>
          <td className={classes.extra}>{line.markup === null ? 'various' : `${decimal(`${line.markup}`)} %`}</td>
        </>
      )}
      <td>{decimal(`${line.amount}`, minor_digits)}</td>
    </tr>
  )
}

const timedLine = ({ active_seconds = null, untimed_entries = 0, entries }: BillLine): TimedLine => ({
  activeSeconds: active_seconds,
  entries,
  untimed: untimed_entries,
})

const NOTHING: Record<string, string> = {
  project: 'No project',
  ticket: 'No ticket',
  model: 'No model',
  agent_manager: 'No agent manager',
  agent_name: 'No agent',
}

function nameOf({ keys }: BillLine, dimension: string): string {
  const key = keys[dimension]
  if (typeof key === 'string') return key
  if (!key) return NOTHING[dimension] ?? `No label ${dimension.slice('label:'.length)}`
  return key.key === undefined ? (key.name ?? key.id) : projectLabel({ key: key.key, name: key.name })
}
