/** What the operations of sheets have in common. */
import type { SheetsService } from '../service.ts'

export interface Needs {
  sheets: SheetsService
}

export const READING = { tag: 'Token sheets', allow: ['read', 'session'], scope: 'sheets:read' } as const
export const CHANGING = { tag: 'Token sheets', allow: ['session'], scope: 'sheets:write' } as const

export const OWNER = 'Only for the owner of the sheet and admins.'

export const params = { id: 'ID of the sheet (sht_…).' }
export const one = { object: 'sht', params } as const
