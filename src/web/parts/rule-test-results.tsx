/** Types of rule tests, and their error. */
import { Alert } from '@mantine/core'
import type { api, Body } from '../server/api.ts'
import { type Problem, sentence } from '../server/problem.ts'

type Test = (typeof api)['placement-rules']['test']

/** The rule to test together with the saved ones, and the one it replaces. */
export type TriedRule = Omit<Parameters<Test['post']>[0], 'sample'>

/** A tested entry. */
export type Tried = Body<Awaited<ReturnType<Test['entries']['post']>>>['data'][number]

export const Refused = ({ problem }: { problem: Problem }) => (
  <Alert color="orange" variant="light" title="This rule cannot be tested yet">
    {problem.issues.length === 0 ? problem.message : problem.issues.map(({ message }) => sentence(message)).join(' ')}
  </Alert>
)
