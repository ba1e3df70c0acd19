/** The columns of exported outliers, named as in the JSON. */
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { costHeading, exact } from '../reports/service.ts'
import type { OutlierSession } from './schema.ts'

export const outlierColumns = (basis: CostBasis): CsvColumn<OutlierSession>[] => [
  ...fieldColumns<OutlierSession>('id', 'started_at'),
  { heading: 'agent_manager', cell: (row) => row.agent_manager.name },
  { heading: 'agent_manager_id', cell: (row) => row.agent_manager.id },
  ...fieldColumns<OutlierSession>('agent_name', 'model', 'project', 'summary'),
  { heading: costHeading(basis), cell: (row) => exact(row.cost) },
  { heading: 'usual', cell: (row) => exact(row.usual) },
  { heading: 'times', cell: (row) => exact(row.times) },
  { heading: 'score', cell: (row) => exact(row.score) },
]
