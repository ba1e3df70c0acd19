/** What entries count for budgets: as it is noted, and as what budgets match. */
import type { Reader } from '../../database/database.ts'
import type { Subject } from './matching.ts'
import type { ChangeRecord } from './records.ts'
import type { Side } from './spending.ts'
import { listChanges, listLabels, listNames } from './store/periods.ts'

/** The first changes that are noted and not yet added. */
export async function listNotedSides(reader: Reader, limit: number): Promise<Side[]> {
  return (await listChanges(reader, limit)).map(sideOf)
}

export function sideOf({ id: _, sign, ...change }: ChangeRecord): Side {
  return { ...change, sign: sign === 1 ? 1 : -1 }
}

export function changeOf({ agent: _agent, model: _model, labels: _labels, ...change }: Side): Omit<ChangeRecord, 'id'> {
  return change
}

/** The subjects of sides, with the names of keys of which only these are known. */
export async function subjectsOf(reader: Reader, sides: readonly Side[]): Promise<Subject[]> {
  const ids = new Set<number>()
  const labelSets = new Set<number>()
  for (const { agent, model, labels, agentId, modelId, labelSetId } of sides) {
    if (agent === undefined) ids.add(agentId)
    if (model === undefined) ids.add(modelId)
    if (labels === undefined && labelSetId !== null) labelSets.add(labelSetId)
  }
  const names = await listNames(reader, [...ids])
  const labelsOf = await listLabels(reader, [...labelSets])
  return sides.map((side) => ({
    managerId: side.managerId,
    projectId: side.projectId,
    ticketId: side.ticketId,
    agent: side.agent ?? names.get(side.agentId) ?? '',
    model: side.model ?? names.get(side.modelId) ?? '',
    labels: side.labels ?? (side.labelSetId === null ? null : (labelsOf.get(side.labelSetId) ?? null)),
  }))
}
