/** Reads a range of a table, and folds what it may contain: far more than the main thread has time for. */
import type { SlowTask } from '../../../database/database.ts'
import { findMentions, type Mentions, type MentionsRequest } from './store.ts'

export const MENTIONS_TASK: SlowTask<MentionsRequest, Mentions | undefined> = {
  name: 'mentions-of-person',
  run: findMentions,
}
