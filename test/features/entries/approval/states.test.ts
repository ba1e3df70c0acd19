import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { withStates } from '../../../../scripts/state-machine.ts'
import type { Party } from '../../../../src/access/actor.ts'
import {
  type DecisionSubject,
  ENTRY_TRANSITIONS,
  requireRight,
  SHEET_TRANSITIONS,
  transitionFrom,
} from '../../../../src/features/entries/approval/states.ts'
import { overlapsOf } from '../../../../src/features/entries/sheet-entries/service.ts'

test('docs/design/states.md shows the states as the program has them', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../../../docs/design/states.md')).text()
  expect(text, 'run `bun scripts/state-machine.ts`').toBe(withStates(text))
})

const refusalOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return 'none'
}

describe('a refusal', () => {
  const subject = { name: 'the entry ent_1', ownerId: 1, projectIds: [7] }
  const right = (who: Party['person'], led: number[] = [], about: DecisionSubject = subject) =>
    refusalOf(() =>
      requireRight('approve', ENTRY_TRANSITIONS, about, who, [{ userId: who?.id ?? 0, projectIds: new Set(led) }]),
    )

  test('says in which state the thing is, in which it must be, and what leads there', () => {
    const status = (state: string) =>
      refusalOf(() => transitionFrom(ENTRY_TRANSITIONS, 'approve', state, 'the entry ent_1'))
    expect(status('submitted')).toBe('none')
    expect(status('rejected')).toBe(
      'Cannot approve the entry ent_1: it must be submitted, but is rejected. Reopen it first.',
    )
    expect(status('billed')).toBe(
      'Cannot approve the entry ent_1: it must be submitted, but is billed. Void its bill first.',
    )
    expect(status('approved')).toBe(
      'Cannot approve the entry ent_1: it must be submitted, but is approved. This has already been done.',
    )
    expect(refusalOf(() => transitionFrom(SHEET_TRANSITIONS, 'edit', 'submitted', 'the sheet sht_1'))).toBe(
      'Cannot change the entries of the sheet sht_1: it must be open or returned, but is submitted. Return it first.',
    )
  })

  test('says which role it needs, or whom to ask', () => {
    expect(right({ id: 2, role: 'member' })).toBe(
      'To approve the entry ent_1, you need the role billing or admin, or must be a lead or approver of its project. Your role is member.',
    )
    expect(right({ id: 2, role: 'member' }, [7])).toBe('none')
    expect(right({ id: 1, role: 'member' }, [7])).toBe(
      'You cannot approve the entry ent_1 because it is your own. Ask another lead or approver of its project, or a person with the role billing or admin.',
    )
    expect(right({ id: 1, role: 'billing' })).toContain('it is your own')
    expect(right({ id: 1, role: 'admin' })).toBe('none')
    expect(right(null)).toBe('none')
    expect(
      refusalOf(() =>
        requireRight(
          'submit',
          SHEET_TRANSITIONS,
          { ...subject, name: 'the sheet sht_1' },
          { id: 2, role: 'billing' },
          [],
        ),
      ),
    ).toBe('Only the owner or an admin can submit the sheet sht_1.')
  })

  test('says that a deputy cannot approve for the owner, and returns whose right it is', () => {
    const deputy = { id: 2, role: 'member' } as const
    const decide = (representedId: number, ownIds: number[] = []) =>
      requireRight('approve', ENTRY_TRANSITIONS, subject, deputy, [
        { userId: 2, projectIds: new Set(ownIds) },
        { userId: representedId, projectIds: new Set([7]) },
      ])
    expect(decide(3)).toBe(3)
    expect(decide(3, [7])).toBeUndefined()
    expect(refusalOf(() => decide(1))).toBe(
      'You cannot approve the entry ent_1 as the deputy of its owner. Ask another lead or approver of its project, or a person with the role billing or admin.',
    )
    expect(decide(1, [7])).toBeUndefined()
  })

  test('leads lead all projects of a sheet, and nobody leads work that is on none', () => {
    const sheet = (projectIds: (number | null)[]) =>
      right({ id: 2, role: 'member' }, [7, 8], { ...subject, projectIds })
    expect([sheet([7, 8]), sheet([7])]).toEqual(['none', 'none'])
    for (const projectIds of [[7, 9], [7, null], [null], []]) expect(sheet(projectIds)).toContain('you need the role')
  })
})

describe('overlaps', () => {
  const span = (uid: string, from: number, to: number, canonicalHarnessId = 1) => ({
    uid: `ent_${uid}` as const,
    harness: 'codex',
    canonicalHarnessId,
    startedAt: from,
    endedAt: to,
  })
  const pairs = (own: ReturnType<typeof span>[], reported: ReturnType<typeof span>[]) =>
    overlapsOf(own, reported).map(({ entry, reported: other }) => `${entry.uid} ${other.uid}`)

  test('are pairs that share time, not those that only meet', () => {
    expect(pairs([span('a', 10, 20)], [span('b', 15, 25), span('c', 0, 11), span('d', 12, 13)])).toEqual([
      'ent_a ent_c',
      'ent_a ent_d',
      'ent_a ent_b',
    ])
    expect(pairs([span('a', 10, 20)], [span('b', 20, 25), span('c', 0, 10)])).toEqual([])
  })

  test('are within one harness, and also found where nothing lasts', () => {
    expect(pairs([span('a', 10, 20)], [span('b', 10, 20, 2)])).toEqual([])
    expect(pairs([span('a', 10, 10)], [span('b', 10, 10)])).toEqual(['ent_a ent_b'])
  })
})
