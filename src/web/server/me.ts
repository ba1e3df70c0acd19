/**
 * The signed-in person, their organization and role. The server enforces access; this only decides what to show.
 */
import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { setLocale } from '../format/locale.ts'
import { WEEKDAYS } from '../format/weekdays.ts'
import { answer, api, apiUntil, type Body } from './api.ts'
import { seesEverything, usualBasis } from './cost-basis.ts'
import { noteVisitor } from './first-answers.ts'
import { Problem } from './problem.ts'
import { queryClient } from './queries.ts'
import { forgetRecent } from './recent.ts'

export { seesEverything }

/** More projects than anyone leads; the API's page limit. */
const LED_LIMIT = '1000'

const NONE: string[] = []

/**
 * Fetches the data that every page needs: the person, the organization's settings and, for members, the projects they
 * lead, and those whose entries they may approve; for viewers, what is shared with them.
 */
async function askMe({ signal }: { signal: AbortSignal }) {
  if (!mayBeSignedIn()) return null
  try {
    const { person, session, acts_for: actsFor, ...me } = await answer(apiUntil(signal).me.get())
    // Of every session.
    const preferences = me.preferences!
    const { program, has_password: hasPassword = true } = me
    const notifications = me.notifications && { chosen: me.notifications, sendsEmail: me.sends_email === true }
    if (person.role === 'viewer') {
      const shared: Shared = await answer(apiUntil(signal).shared.get())
      const settings = settingsOf(shared)
      setLocale(preferences.locale, settings.locale)
      noteVisitor({ role: person.role, timeZone: settings.time_zone, basis: 'cost' })
      return {
        person,
        session,
        settings,
        shared,
        actsFor,
        notifications,
        preferences,
        program,
        hasPassword,
        ledIds: NONE,
        approvedIds: NONE,
        leads: false,
      }
    }
    const approverIds = [person.id, ...actsFor.map(({ id }) => id)]
    const isMember = person.role === 'member'
    const [settings, ledIds, approvedIds] = await Promise.all([
      answer(apiUntil(signal).settings.get()) as Promise<Settings>,
      isMember ? askProjects({ lead: [person.id] }, signal) : NONE,
      isMember ? askProjects({ approver: approverIds }, signal) : NONE,
    ])
    const leads = ledIds.length > 0
    // Before anything is rendered with another one.
    setLocale(preferences.locale, settings.locale)
    noteVisitor({ role: person.role, timeZone: settings.time_zone, basis: usualBasis({ person, leads, settings }) })
    return {
      ...{ person, session, settings, shared: null, actsFor, notifications, preferences, program, hasPassword },
      ...{ ledIds, approvedIds, leads },
    }
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null
    throw error
  }
}

type Settings = Body<Awaited<ReturnType<typeof api.settings.get>>>
type Shared = Body<Awaited<ReturnType<typeof api.shared.get>>>

/** Viewers can't read the settings. Their pages use these only; nothing else is on for them. */
function settingsOf({ contact, time_zone, week_start, locale, currency }: Shared): Settings {
  return {
    name: contact.name,
    time_zone,
    week_start,
    locale,
    currency,
    public_url: null,
    public_url_option: null,
    unknown_projects: 'hold',
    same_session: 'hold',
    approval_required: false,
    cost_basis: 'cost',
    leads_see_fees: false,
    api_tokens: false,
    share_links: false,
    lead_rules: false,
    telemetry_by_email: false,
    retention_texts: null,
    retention_session_ids: null,
    retention_history: null,
    retention_audit: null,
    retention_events: null,
    sheet_required_fields: [],
    demo: false,
  }
}

async function askProjects(query: { lead?: string[]; approver?: string[] }, signal: AbortSignal): Promise<string[]> {
  const { data } = await answer(apiUntil(signal).projects.get({ query: { ...query, limit: LED_LIMIT } }))
  return data.map(({ id }) => id)
}

/** The server writes into the page whether the request had a session cookie, which scripts can't read. */
const sessionNote = () => document.querySelector<HTMLMetaElement>('meta[name="session"]')!
export const mayBeSignedIn = () => sessionNote().content === 'sent'

/** Whether nobody can sign in yet. */
export const isUnused = () => sessionNote().content === 'unused'

/** Records that a session started or ended. */
export function noteSession(isThere: boolean): void {
  sessionNote().content = isThere ? 'sent' : 'none'
}

/** Null if nobody is signed in. Refetched when settings or projects change, which are part of it. */
const ME = { queryKey: ['me'], queryFn: askMe }

export const useSignedIn = () => useQuery(ME)

/** Asks before anything is rendered, because every page waits for it. Nothing if nobody is signed in, or it fails. */
export async function askFirst(): Promise<Me | null | undefined> {
  await queryClient.prefetchQuery(ME)
  return knownMe()
}

/** Who is signed in, as far as that is known. */
export const knownMe = () => queryClient.getQueryData<Me | null>(ME.queryKey)

export type Me = NonNullable<Awaited<ReturnType<typeof askMe>>>
export type Role = Me['person']['role']

const MeContext = createContext<Me | null>(null)
export const MeProvider = MeContext.Provider

/** Use only in components below the sign-in. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() needs a signed-in person.')
  return me
}

/** Name, zone and currency of the organization. */
export const useSettings = () => useMe().settings

/** The first day of weeks in calendars, where 0 is Sunday. */
export function useFirstDayOfWeek() {
  const { settings, preferences } = useMe()
  return WEEKDAYS[preferences.week_start ?? settings.week_start].number
}

/** Whether the person has one of the roles. */
export function useRole(...roles: Role[]): boolean {
  return roles.includes(useMe().person.role)
}

/** Whether the person may approve and reject: `billing`, `admin`, leads, approvers and deputies within their projects. */
export function useApproves(): boolean {
  const { person, approvedIds } = useMe()
  return seesEverything(person.role) || approvedIds.length > 0
}

/** `before` is the person whose session ended while the page was open, if any. */
export async function signIn(
  credentials: Parameters<typeof api.session.post>[0],
  before?: Me['person'],
): Promise<void> {
  const { person } = await answer(api.session.post(credentials))
  noteSession(true)
  // Refetch what failed without a session.
  if (person.id === before?.id) await queryClient.invalidateQueries({ predicate: isOfPerson })
  else queryClient.removeQueries({ predicate: isOfPerson })
}

export async function signOut(everywhere = false): Promise<void> {
  // What is still asked for would be refused as soon as the session has ended.
  await queryClient.cancelQueries({ predicate: isOfPerson })
  await answer(api.session.delete({}, { query: { everywhere: String(everywhere) } }))
  noteSession(false)
  forgetRecent()
  noteVisitor(undefined)
  // `clear()` would leave components that are mounted on dead queries.
  queryClient.removeQueries({ predicate: isOfPerson })
  queryClient.setQueryData(['me'], null)
}

/**
 * Selects queries with data of the person, which the next person at the same screen must not see. Excludes the query for
 * who is signed in, because every page observes it.
 */
const isOfPerson = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== 'me'
