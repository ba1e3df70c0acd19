/** The calls that decide about a token sheet, and what depends on them. */
import { api } from '../../server/api.ts'

export const CHANGES = ['sheets', 'entries', 'reports', 'audit'] as const

export const sheetOf = (id: string) => api['token-sheets']({ id })
