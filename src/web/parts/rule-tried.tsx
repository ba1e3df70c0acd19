/** What is tried before it is saved, and what comes of it. */
import { Alert } from '@mantine/core'
import type { api, Body } from '../server/api.ts'
import { type Problem, sentence } from '../server/problem.ts'

type Test = (typeof api)['placement-rules']['test']

/** The rule that is tried among the saved ones, and the one in whose place. */
export type TriedRule = Omit<Parameters<Test['post']>[0], 'sample'>

/** An entry that it was tried on. */
export type Tried = Body<Awaited<ReturnType<Test['entries']['post']>>>['data'][number]

export const Refused = ({ problem }: { problem: Problem }) => (
  <Alert color="orange" variant="light" title="It cannot be tried yet">
    {problem.issues.length === 0 ? problem.message : problem.issues.map(({ message }) => sentence(message)).join(' ')}
  </Alert>
)
