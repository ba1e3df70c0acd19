/**
 * Sends the requests of the first page before anything is rendered: it takes as long to render the page as the server
 * takes to answer. Until who asks and the script of the page are here, there is nothing to render.
 */
import { askFirst, mayBeSignedIn } from '../server/me.ts'
import { askAt, preloadAt } from './navigation.ts'

export async function sendFirstRequests(): Promise<void> {
  const { pathname, search } = location
  const script = mayBeSignedIn() ? preloadAt(pathname) : undefined
  const me = await askFirst()
  if (me) askAt(me, pathname, search)
  await script
}
