/** Unattributed entries, by every field that rules can match except the summary. */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import type { LabelMap } from '../../database/schema/records.ts'
import { sumUnattributed, type UnattributedSum } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { labelsOf, type Manager, managersOf, namesOf } from './store/unattributed.ts'

/** Entries of one person, agent, harness and set of labels. */
export interface Alike
  extends Pick<UnattributedSum, 'entries' | 'unpricedEntries' | 'tokens' | 'costNanos' | 'firstAt' | 'lastAt' | 'ids'> {
  manager: Manager
  harness: string
  agent: string
  /** Null if they used several. */
  model: string | null
  labels: LabelMap
  /** The key of the most recent entry. */
  exampleKey: number
}

/** Unattributed entries that match and that the viewer sees. */
export async function listAlike(reader: Reader, query: { viewer: Viewer; filter: EntryFilter }): Promise<Alike[]> {
  const sums = await sumUnattributed(reader, query)
  const names = await namesOf(
    reader,
    sums.flatMap(({ harnessId, agentId, modelId }) => [harnessId, agentId, ...(modelId === null ? [] : [modelId])]),
  )
  const managers = await managersOf(
    reader,
    sums.map(({ managerId }) => managerId),
  )
  const labels = await labelsOf(
    reader,
    sums.flatMap(({ labelSetId }) => labelSetId ?? []),
  )
  return sums.map(({ managerId, harnessId, agentId, labelSetId, modelId, ...sum }) => ({
    ...sum,
    manager: managers.get(managerId)!,
    harness: names.get(harnessId)!,
    agent: names.get(agentId)!,
    model: modelId === null ? null : names.get(modelId)!,
    labels: labelSetId === null ? {} : labels.get(labelSetId)!,
    exampleKey: sum.ids.reduce((latest, id) => Math.max(latest, id), 0),
  }))
}
