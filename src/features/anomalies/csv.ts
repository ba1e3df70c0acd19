/** The columns of exported outliers, named as in the JSON. */
import type { CsvColumn } from '../../lib/csv-column.ts'
import { exact } from '../reports/service.ts'
import type { OutlierSession } from './schema.ts'

export const OUTLIER_COLUMNS: CsvColumn<OutlierSession>[] = [
  { heading: 'id', cell: (row) => row.id },
  { heading: 'started_at', cell: (row) => row.started_at },
  { heading: 'agent_manager', cell: (row) => row.agent_manager.name },
  { heading: 'agent_manager_id', cell: (row) => row.agent_manager.id },
  { heading: 'agent_name', cell: (row) => row.agent_name },
  { heading: 'model', cell: (row) => row.model },
  { heading: 'project', cell: (row) => row.project },
  { heading: 'summary', cell: (row) => row.summary },
  { heading: 'cost', cell: (row) => exact(row.cost) },
  { heading: 'usual', cell: (row) => exact(row.usual) },
  { heading: 'times', cell: (row) => exact(row.times) },
  { heading: 'score', cell: (row) => exact(row.score) },
]
