/**
 * Sends the requests of each page before it is rendered: it takes as long to render the page as the server takes to
 * answer.
 */
import { dropFirstAnswers } from '../server/first-answers.ts'
import { inboxQuery } from '../server/inbox.ts'
import { askFirst, knownMe, mayBeSignedIn } from '../server/me.ts'
import { queryClient } from '../server/queries.ts'
import { askAt, preloadAt } from './navigation.ts'

/** Of the page that the application starts with. Until who asks and the script are here, there is nothing to render. */
export async function sendFirstRequests(): Promise<void> {
  const { pathname, search } = location
  const script = mayBeSignedIn() ? preloadAt(pathname) : undefined
  const me = await askFirst()
  if (me) {
    askAt(me, pathname, search)
    // The menu shows on every page how much waits. Last: the page itself is more urgent.
    if (me.person.role !== 'viewer') void queryClient.prefetchQuery(inboxQuery)
  }
  // In a task of its own: a query asks some steps after it begins.
  setTimeout(dropFirstAnswers)
  await script
}

/** The same for all filters of a page, which asks anew by itself. Names are part of what a page is about. */
const pageAt = ({ pathname, search }: Location) => `${pathname}?${new URLSearchParams(search).get('name') ?? ''}`

/** Events of the browser's back and forward, and of links, for which wouter dispatches the last two. */
const NAVIGATIONS = ['popstate', 'pushState', 'replaceState']

/** Sends the requests of every other page that is opened, too: call it before anything renders what the address says. */
export function askOnNavigation(): void {
  let last = pageAt(location)
  const ask = () => {
    const { pathname, search } = location
    const me = knownMe()
    const page = pageAt(location)
    if (page === last || !me) return
    last = page
    // What a page has been asked for that was left before it was rendered: nothing else would abort it.
    void queryClient.cancelQueries({ type: 'inactive' })
    void preloadAt(pathname)
    askAt(me, pathname, search)
  }
  for (const navigation of NAVIGATIONS) addEventListener(navigation, ask)
}
