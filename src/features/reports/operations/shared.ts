/** What the operations of reports share. */
import type { TSchema } from '@sinclair/typebox'
import { CSV_CONTENT } from '../../../http/documentation.ts'
import { type Answer, type AnyAction, result } from '../../../operations/operation.ts'
import type { ReportsService } from '../service.ts'

export interface Needs {
  reports: ReportsService
}

export const REPORTING = {
  tag: 'Reports',
  method: 'GET',
  allow: ['read', 'session'],
  scope: 'entries:read',
  problems: ['database_deadline'],
} as const satisfies Partial<AnyAction>

/** As JSON or as CSV. */
export const reported = (description: string, schema: TSchema, example: unknown): Answer =>
  result(description, schema, example, { also: CSV_CONTENT })
