/** How the manual's search reads a question, and weighs what it finds. */
import type { SearchOptions } from 'minisearch'

/** Words of questions that say nothing about their subject: most sections contain them, and many titles begin so. */
const PHRASE_WORDS = new Set(
  'a about an and are as at be by can could do does for from get has have how i if in is it its me my of on or our should so that the there they this to use we what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** What people call things that the manual calls something else: each of a group finds the first of it, too. */
const SYNONYMS = [
  'bill invoice invoices invoicing receipt',
  'credit refund refunds refunded',
  'void delete deleting remove cancel',
  'unpriced unknown missing zero',
  'cost spend spending costs',
  'budget quota cap',
  'sso saml oidc oauth okta keycloak ldap openid',
  'sso 2fa mfa totp',
  'sign login signin logon',
  'password credentials passwords',
  'back backups dump snapshot',
  'upgrade updating migrate',
  'erase gdpr dsgvo forgotten pseudonymize',
  'personal gdpr privacy ccpa',
  'csv excel spreadsheet xlsx',
  'chat slack discord mattermost teams',
  'webhook callback',
  'smtp email mails notification notifications',
  'person user users member members colleague people',
  'deputy vacation holiday substitute',
  'viewer guest stakeholder customer',
  'client customer customers',
  'share embed public publish',
  'tls https ssl certificate',
  'proxy nginx caddy traefik',
  'container docker kubernetes podman helm',
  'token key apikey secret',
  'audit log history',
  'divide split splitting',
  'move import migrate transfer',
  'prometheus metrics grafana observability',
  'vat tax taxes gst',
  'sheets timesheet timesheets',
  'log logs logging',
].map((words) => words.split(' '))

const synonymsOf = (word: string) => SYNONYMS.flatMap(([main, ...others]) => (others.includes(word) ? main! : []))

/** In shorter words, another letter makes another word. */
const FUZZY_FROM_LETTERS = 5

/** Shorter beginnings are those of too many words. */
const PREFIX_FROM_LETTERS = 3

/** How the design and the references count beside the pages that explain. */
const FURTHER_READING = [
  { part: '/design/', weight: 0.4 },
  { part: '/reference/', weight: 0.6 },
]

export const SEARCH_OPTIONS: SearchOptions = {
  processTerm: (term) => {
    const word = term.toLowerCase()
    return PHRASE_WORDS.has(word) ? null : [word, ...synonymsOf(word)]
  },
  // What contains most words of a question comes before what contains one of them often.
  fuzzy: (term) => (term.length >= FUZZY_FROM_LETTERS ? 0.2 : false),
  prefix: (term) => term.length >= PREFIX_FROM_LETTERS,
  // A title that contains what one looks for counts more than a text that mentions it.
  boost: { title: 4, text: 1, titles: 2 },
  boostDocument: (id) => FURTHER_READING.find(({ part }) => String(id).includes(part))?.weight ?? 1,
}
