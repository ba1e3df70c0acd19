/** Sessions that cost far more than is usual for their people. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { addressOf } from '../../address.ts'
import { cellColumn, moneyColumn, textColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/figures.tsx'
import { basisOf, type Outliers, type ReportQuery, useOutliers } from './queries.ts'
import { Section } from './section.tsx'
import { outliersInWords } from './words.ts'

type Outlier = Outliers['data'][number]

export function OutlierSessions({ query, basis }: { query: ReportQuery; basis: CostBasis }) {
  const report = useOutliers(query, basis)
  const { data } = report
  return (
    <Section
      title="Unusual sessions"
      found={data && outliersInWords(data)}
      note="Each is compared with the sessions of the same person in the 28 days before: it costs at least $10 more than their median, and more than any of them. A hint where to look, not proof that something is wrong."
      csv={
        data && data.data.length > 0 ? { path: '/reports/outliers', query: { ...query, ...basisOf(basis) } } : undefined
      }
      request={report}
    >
      {data && (
        <DataTable
          label="Unusual sessions"
          columns={columnsOf(data.basis)}
          list={data.data}
          rowKey={({ id }) => id}
          empty={null}
        />
      )}
    </Section>
  )
}

const columnsOf = (basis: CostBasis): Column<Outlier>[] =>
  unsorted([
    cellColumn('summary', 'Session', { minWidth: '220px', phone: 'title' }, ({ id, summary, agent_name }) => (
      <Anchor component={Link} href={addressOf('/entries', { open: id })} size="sm">
        <bdi>{summary ?? agent_name}</bdi>
      </Anchor>
    )),
    textColumn('person', 'Person', ({ agent_manager }) => agent_manager.name, { width: '140px' }),
    textColumn('model', 'Model', ({ model }) => model, { width: '150px' }),
    textColumn('project', 'Project', ({ project }) => project ?? '–', { width: '100px' }),
    cellColumn('at', 'Started', { width: '150px' }, ({ started_at }) => <Moment at={started_at} isShort />),
    moneyColumn('cost', BASIS_TITLES[basis], ({ cost }) => cost, { width: '110px', phone: 'value' }),
    moneyColumn('usual', 'Usual', ({ usual }) => usual, { width: '110px' }),
    cellColumn('times', 'Times usual', { isNumber: true, width: '120px' }, ({ times }) =>
      times === null ? '–' : `${times}×`,
    ),
  ])
