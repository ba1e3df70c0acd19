import { expect, test } from 'bun:test'
import type { Party } from '../../../src/access/actor.ts'
import { createProposalTest } from '../../../src/features/entries/places/proposal-test.ts'

type Dependencies = Parameters<typeof createProposalTest>[0]

test('of the tests that a person runs at the same time, each begins after the one before, whose time counts', async () => {
  const running = new Map<number, number>()
  const most = new Map<number, number>()
  const placement = {
    async checkProposal({ person }: Party) {
      const id = person!.id
      const now = (running.get(id) ?? 0) + 1
      running.set(id, now)
      most.set(id, Math.max(most.get(id) ?? 0, now))
      await Bun.sleep(1)
      running.set(id, now - 1)
      throw new Error('refused')
    },
  } as unknown as Dependencies['placement']
  const { testProposal } = createProposalTest({ db: {} as Dependencies['db'], placement })
  const given = {} as Parameters<typeof testProposal>[1]
  const asked = [1, 1, 2, 1, 2].map((id) => testProposal({ person: { id } } as Party, given))
  // A refused test holds up nobody.
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  expect([...most]).toEqual([
    [1, 1],
    [2, 1],
  ])
})
