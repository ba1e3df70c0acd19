/**
 * Decides which resource attributes become labels: those that a person set with OTEL_RESOURCE_ATTRIBUTES, such as
 * `team`. Nothing marks these, so everything that SDKs and agents set themselves is excluded, and every attribute that
 * by its name or value may be a path, a host, a person, a secret or a prompt: Gemini CLI's resource contains the prompt
 * in its command line.
 */

import type { LabelMap } from '../../../database/schema/records.ts'
import { hasMoreCharacters } from '../../../lib/characters.ts'
import { composeName } from '../../../lib/names.ts'
import type { Attributes } from '../signals.ts'

/** As for labels of a report. */
const LABELS_LIMIT = 16
const LABEL_NAME = /^[a-z0-9_.-]{1,64}$/

/** A report's label may be longer, but longer attributes are rarely meant as labels. */
const VALUE_LIMIT = 100
const WORDS_LIMIT = 6

/** Namespaces of semantic conventions and agents: the name itself, or anything below it. */
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

/** Words in names of attributes with values that must not be stored, such as `working_directory` or `api.key`. */
const PRIVATE_WORDS = new Set(
  'address answer args arguments argv auth author authorization bearer body cmd cmdline command comment completion \
computer connection content conversation cookie creds cwd description dir directory dsn email executable file filename \
filepath folder history home host input instruction instructions ip jwt key login mac machine mail message messages node \
note notes output pass passwd path paths phone pw pwd query question reply request response summary text thinking title \
transcript uri url user workdir workspace'.split(' '),
)

/** Parts that make a name private in any position: people also write `apikey`, `dbpassword` and `system_prompts`. */
const PRIVATE_PARTS =
  /cookie|credential|hostname|password|passphrase|private|prompt|secret|token|username|webhook|apikey/

/** Word boundaries in a name: `hostName` and `clientIPAddress` are several words. */
const WORD_BORDER = /[._-]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/

/** Used for placement instead of labels; the first that is present counts. */
export const PROJECT_NAMES = ['tally.project', 'project'] as const
export const TICKET_NAMES = ['tally.ticket', 'ticket'] as const
const PLACING: readonly string[] = [...PROJECT_NAMES, ...TICKET_NAMES]

/** Whether the attribute may have been set by a person; its value may still exclude it. */
export function isLabelName(name: string): boolean {
  if (name === 'service.namespace') return true
  const lower = name.toLowerCase()
  if (!LABEL_NAME.test(lower) || PLACING.includes(lower)) return false
  if (NAMESPACES.some((each) => lower === each || lower.startsWith(`${each}.`))) return false
  if (PRIVATE_PARTS.test(lower.replace(/[._-]/g, ''))) return false
  return !name.split(WORD_BORDER).some((word) => PRIVATE_WORDS.has(word.toLowerCase()))
}

/** Paths on any system, URLs, e-mail addresses, structured data, and anything with a control character. */
const PRIVATE_LOOK = /^(?:[/~\\.]|[A-Za-z]:[\\/]|[[{<"'])|:\/\/|\S@\S+\.\S|\p{Cc}/u

/** Secrets with their vendors' prefixes, which any attribute may contain, and IP addresses. */
const SECRET_LOOK =
  /(?<![\w-])(?:sk[-_]|[rp]k_|gh[opsur]_|github_pat_|gl[a-z]*pat-|xox[a-z]-|A[KS]IA[A-Z0-9]{12}|AIza|npm_|hf_|tally_\w+_|eyJ\w+\.|bearer\s)|(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])/i

function isLabelValue(value: string): boolean {
  if (value === '' || hasMoreCharacters(value, VALUE_LIMIT) || !value.isWellFormed()) return false
  if (PRIVATE_LOOK.test(value) || SECRET_LOOK.test(value)) return false
  return value.split(/\s+/).length <= WORDS_LIMIT
}

/** Null if there are none. `own` are attributes that the agent sets itself, with their default values. */
export function labelsOf(resource: Attributes, own: Readonly<Record<string, string>> = {}): LabelMap | null {
  const pairs: [string, string][] = []
  for (const [name, given] of resource) {
    const value = composeName(String(given))
    if (isLabelName(name) && isLabelValue(value) && own[name] !== value) pairs.push([name.toLowerCase(), value])
  }
  if (pairs.length === 0) return null
  // Sorted by name, so that the limit always keeps the same labels.
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, LABELS_LIMIT))
}
