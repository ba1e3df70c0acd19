/** Parameters of a receipt, parsed from text. Pure. */
import { queryReader } from '../../schema/query.ts'

/** The longest value of a label. */
const LABEL_LENGTH = 256

export interface ReceiptSubject {
  repository: string | undefined
  branch: string | undefined
  ticket: string | undefined
  people: boolean
}

/** Without the period and the basis, which are those of reports. */
export const readSubject = queryReader((query): ReceiptSubject => {
  const subject = { repository: query.text('repository'), branch: query.text('branch'), ticket: query.text('ticket') }
  const { repository, branch, ticket } = subject
  const missing = repository === undefined ? 'repository' : 'branch'
  if (
    (repository === undefined || branch === undefined) &&
    (ticket === undefined || (repository ?? branch) !== undefined)
  )
    query.refuse(missing, 'required', 'is required: name a repository and a branch, or a ticket')
  for (const name of ['repository', 'branch'] as const) {
    if ((subject[name]?.length ?? 0) > LABEL_LENGTH)
      query.refuse(name, 'too_long', `must have at most ${LABEL_LENGTH} characters, as the value of a label`)
  }
  return { ...subject, people: query.flag('people') ?? false }
})
