import { note } from './terminal/print.ts'

/**
 * Keeps others out of a database that was just created: its folder may have been made by somebody else before, such as
 * with a `mkdir` that lets everyone read it.
 */
export async function keepPrivate(dataDir: string): Promise<void> {
  const { protect } = await import('../database/permissions.ts')
  const { exposed } = protect({ dataDir, backups: dataDir })
  if (exposed.length > 0) {
    note(
      `Other users of this machine can read ${exposed.join(', ')}, which Tally does not change: it belongs to another user, or contains other files. Use a folder of its own with mode 0700.`,
    )
  }
}
