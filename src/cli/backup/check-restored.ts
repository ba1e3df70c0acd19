/** Checks a database that was restored from a backup, in a folder that contains nothing else. */
import { CHECK_DEADLINE_MS, differencesIn } from '../integrity.ts'

/** A sentence for each difference. Throws `WrongDatabase` if it is not a database of Tally, is damaged, or is newer. */
export async function checkRestored(folder: string, file: string): Promise<string[]> {
  const [{ identify }, { refuseNewer }, { openDatabase }, { createServices }, { systemClock }] = await Promise.all([
    import('../../database/backup/copy.ts'),
    import('../../database/schema/migrate.ts'),
    import('../../database/open.ts'),
    import('../../services.ts'),
    import('../../lib/clock.ts'),
  ])
  refuseNewer(identify(file).version, file)
  const db = await openDatabase({ dataDir: folder, clock: systemClock, slowDeadlineMs: CHECK_DEADLINE_MS })
  try {
    return await differencesIn(createServices({ db, clock: systemClock }))
  } finally {
    await db.close()
  }
}
