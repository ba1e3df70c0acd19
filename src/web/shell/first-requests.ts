/**
 * Sends the requests of the first page before anything is rendered: it takes as long to render the page as the server
 * takes to answer.
 */
import { askFirst } from '../server/me.ts'
import { sectionsFor } from './navigation.ts'

export async function sendFirstRequests(): Promise<void> {
  const me = await askFirst()
  if (!me) return
  const { pathname, search } = location
  sectionsFor(me)
    .find(({ path }) => path === pathname)
    ?.ask?.(me, search)
}
