/** Budgets are found by their scope, and looked at only if they count an entry. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BudgetIndex, type Scope, type Subject } from '../../../src/features/spending/matching.ts'
import { runs } from '../../support/tier.ts'

const EVERYTHING: Scope = {
  ...{ clientId: null, projectId: null, ticketId: null, managerId: null },
  ...{ agentName: null, model: null, labelName: null, labelValue: null },
}

const SUBJECT: Subject = {
  ...{ managerId: 1, projectId: 1, ticketId: 1, agent: 'a', model: 'm' },
  labels: { branch: 'main', team: 'a:b' },
}

const clientOf = (projectId: number) => (projectId === 1 ? 7 : null)

/** The rule that the index applies. */
function counts(scope: Scope, { managerId, projectId, ticketId, agent, model, labels }: Subject): boolean {
  const fits = (wanted: unknown, value: unknown) => wanted === null || wanted === value
  return (
    fits(scope.managerId, managerId) &&
    fits(scope.projectId, projectId) &&
    fits(scope.ticketId, ticketId) &&
    fits(scope.agentName, agent) &&
    fits(scope.model, model) &&
    fits(scope.clientId, projectId === null ? undefined : clientOf(projectId)) &&
    (scope.labelName === null || labels?.[scope.labelName] === scope.labelValue)
  )
}

test('an entry counts for the budgets whose whole scope it matches', () => {
  const key = fc.option(fc.integer({ min: 1, max: 2 }), { nil: null })
  const text = fc.constantFrom('a', 'm', 'a:b', '')
  const scopes = fc.record({
    ...{ projectId: key, ticketId: key, managerId: key, clientId: fc.constantFrom(null, 7, 8) },
    ...{ agentName: fc.option(text, { nil: null }), model: fc.option(text, { nil: null }) },
    label: fc.option(fc.tuple(fc.constantFrom('branch', 'team', '__proto__'), text), { nil: null }),
  })
  const subjects = fc.record({
    ...{ managerId: fc.integer({ min: 1, max: 2 }), projectId: key, ticketId: key, agent: text, model: text },
    labels: fc.option(fc.dictionary(fc.constantFrom('branch', 'team', 'a'), text), { nil: null }),
  })
  fc.assert(
    fc.property(fc.array(scopes), subjects, (drawn, subject) => {
      const all = drawn.map(({ label, ...scope }) => ({
        ...{ ...scope, labelName: label?.[0] ?? null, labelValue: label?.[1] ?? null },
      }))
      const found = new BudgetIndex(all, clientOf).matching(subject)
      expect(new Set(found)).toEqual(new Set(all.filter((scope) => counts(scope, subject))))
      expect(found.length).toBe(new Set(found).size)
    }),
    { numRuns: runs(2_000) },
  )
})

test('no other budget is looked at, whatever they have in common', () => {
  let looks = 0
  const watched = (scope: Partial<Scope>) =>
    new Proxy(
      { ...EVERYTHING, ...scope },
      {
        get: (target, name) => {
          looks += 1
          return Reflect.get(target, name)
        },
      },
    )
  const others = Array.from({ length: 500 }, (_, number) => [
    watched({ projectId: 1, labelName: 'branch', labelValue: `feature-${number}` }),
    watched({ projectId: 1, model: `m${number}` }),
    watched({ labelName: 'team', labelValue: `t${number}` }),
    watched({ managerId: number + 2 }),
  ])
  const index = new BudgetIndex([...others.flat(), { ...EVERYTHING, projectId: 1, model: 'm' }], clientOf)
  looks = 0
  expect(index.matching(SUBJECT)).toHaveLength(1)
  expect(looks).toBe(0)
})
