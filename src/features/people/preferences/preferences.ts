/** How people want pages to look. Not in the audit log: nobody else notices, and dragging a column would fill it. */
import type { Database } from '../../../database/database.ts'
import { refusal } from '../../../errors.ts'
import { findPreferences, savePreferences } from '../store/preferences.ts'
import type { Preferences, PreferencesChange } from './schema.ts'

const USUAL: Preferences = { locale: null, week_start: null, density: 'comfortable', tables: {} }

/** The application has fewer than fifty tables, of a few hundred bytes each. */
const SIZE_LIMIT_BYTES = 32_768

export const createPreferences = ({ db }: { db: Database }) => ({
  /** The usual ones for a person who has changed none. */
  async preferencesOf(userId: number): Promise<Preferences> {
    return { ...USUAL, ...(await findPreferences(db.read, userId)) }
  },

  /** Throws `validation_failed` if they become too large. */
  changePreferences: (userId: number, { tables = {}, ...change }: PreferencesChange): Promise<Preferences> =>
    db.write(async (tx) => {
      const before = { ...USUAL, ...(await findPreferences(tx, userId)) }
      const kept = Object.entries({ ...before.tables, ...tables }).filter(([, table]) => table !== null)
      const after = { ...before, ...change, tables: Object.fromEntries(kept) } as Preferences
      if (Buffer.byteLength(JSON.stringify(after)) > SIZE_LIMIT_BYTES) throw tooLarge()
      await savePreferences(tx, userId, after)
      return after
    }),
})

const tooLarge = () =>
  refusal('/tables', 'too_large', `would need more than ${SIZE_LIMIT_BYTES} bytes; reset some tables first`)
