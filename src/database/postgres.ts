import type { Database } from './database.ts'

export async function openPostgres(_options: { url: string; now: number }): Promise<Database> {
  throw new Error('not yet')
}
