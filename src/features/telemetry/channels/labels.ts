/**
 * Which attributes of a resource become labels: those that a person set with OTEL_RESOURCE_ATTRIBUTES, such as `team`.
 * Nobody marks them, so everything is left out that SDKs and agents say of themselves, and whatever by its name or its
 * look may be a path, a host, a person, a secret or a prompt: Gemini CLI's resource has the prompt in its command line.
 */
import type { LabelMap } from '../../../database/records.ts'
import { composeName } from '../../../lib/names.ts'
import type { Attributes } from '../signals.ts'

/** As labels of a report. */
const LABELS_LIMIT = 16
const LABEL_NAME = /^[a-z0-9_.-]{1,64}$/

/** A report's label may be longer; what nobody typed as a label mostly is. */
const VALUE_LIMIT = 100
const WORDS_LIMIT = 6

/** What semantic conventions and agents call their own things: the name itself, or anything below it. */
const NAMESPACES = [
  'ai',
  'android',
  'app',
  'aws',
  'azure',
  'browser',
  'claude_code',
  'cloud',
  'cloudfoundry',
  'codex',
  'container',
  'device',
  'enduser',
  'faas',
  'gcp',
  'gemini_cli',
  'gen_ai',
  'heroku',
  'host',
  'installation',
  'ios',
  'k8s',
  'opencode',
  'openshift',
  'os',
  'os_version',
  'otel',
  'process',
  'qwen-code',
  'service',
  'session',
  'tally',
  'telemetry',
  'terminal',
  'user',
  'webengine',
]

/** Words that a name is made of where its value is not ours to keep, such as `working_directory` or `api.key`. */
const PRIVATE_WORDS = new Set(
  'address args arguments argv authorization body command completion content credential credentials cwd dir directory \
email executable file filename filepath folder home host hostname input instructions ip key login machine mail message \
messages node output password path paths prompt prompts pwd query request response secret text token uri url user \
username workdir workspace'.split(' '),
)

/** Placement has its own; the first that is there counts. */
export const PROJECT_NAMES = ['tally.project', 'project'] as const
export const TICKET_NAMES = ['tally.ticket', 'ticket'] as const
const PLACING: readonly string[] = [...PROJECT_NAMES, ...TICKET_NAMES]

/** Where it may come from a person; its value may still say otherwise. */
export function isLabelName(name: string): boolean {
  if (name === 'service.namespace') return true
  const lower = name.toLowerCase()
  if (!LABEL_NAME.test(lower) || PLACING.includes(lower)) return false
  if (NAMESPACES.some((each) => lower === each || lower.startsWith(`${each}.`))) return false
  return !lower.split(/[._-]/).some((word) => PRIVATE_WORDS.has(word))
}

/** Paths of any system, addresses, e-mails, structures, and anything with a control character. */
const PRIVATE_LOOK = /^(?:[/~\\.]|[A-Za-z]:[\\/]|[[{<"'])|:\/\/|\S@\S+\.\S|\p{Cc}/u

function isLabelValue(value: string): boolean {
  if (value === '' || value.length > VALUE_LIMIT || !value.isWellFormed() || PRIVATE_LOOK.test(value)) return false
  return value.split(/\s+/).length <= WORDS_LIMIT
}

/** Null where there are none. `own` are attributes that the agent sets itself where nobody else does. */
export function labelsOf(resource: Attributes, own: Readonly<Record<string, string>> = {}): LabelMap | null {
  const pairs: [string, string][] = []
  for (const [name, given] of resource) {
    const value = composeName(String(given))
    if (isLabelName(name) && isLabelValue(value) && own[name] !== value) pairs.push([name.toLowerCase(), value])
  }
  if (pairs.length === 0) return null
  // In the order of their names, so that of too many it is always the same that stay.
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, LABELS_LIMIT))
}
