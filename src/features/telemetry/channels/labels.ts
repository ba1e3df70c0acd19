/**
 * Which attributes of a resource become labels: those that a person set with OTEL_RESOURCE_ATTRIBUTES, such as `team`.
 * Nobody marks them, so everything is left out that SDKs and agents say of themselves, and whatever by its name or its
 * look may be a path, a host, a person, a secret or a prompt: Gemini CLI's resource has the prompt in its command line.
 */
import type { LabelMap } from '../../../database/schema/records.ts'
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
  'address answer args arguments argv auth author authorization bearer body cmd cmdline command comment completion \
computer connection content conversation cookie creds cwd description dir directory dsn email executable file filename \
filepath folder history home host input instruction instructions ip jwt key login mac machine mail message messages node \
note notes output pass passwd path paths phone pw pwd query question reply request response summary text thinking title \
transcript uri url user workdir workspace'.split(' '),
)

/** What makes a name private wherever it stands in it: people write `apikey`, `dbpassword` and `system_prompts`, too. */
const PRIVATE_PARTS =
  /cookie|credential|hostname|password|passphrase|private|prompt|secret|token|username|webhook|apikey/

/** Where the next word of a name begins: `hostName` and `clientIPAddress` are words, too. */
const WORD_BORDER = /[._-]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/

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
  if (PRIVATE_PARTS.test(lower.replace(/[._-]/g, ''))) return false
  return !name.split(WORD_BORDER).some((word) => PRIVATE_WORDS.has(word.toLowerCase()))
}

/** Paths of any system, addresses, e-mails, structures, and anything with a control character. */
const PRIVATE_LOOK = /^(?:[/~\\.]|[A-Za-z]:[\\/]|[[{<"'])|:\/\/|\S@\S+\.\S|\p{Cc}/u

/** Secrets as their vendors mark them, which an attribute of any name may hold, and addresses of machines. */
const SECRET_LOOK =
  /(?<![\w-])(?:sk[-_]|[rp]k_|gh[opsur]_|github_pat_|gl[a-z]*pat-|xox[a-z]-|A[KS]IA[A-Z0-9]{12}|AIza|npm_|hf_|tally_\w+_|eyJ\w+\.|bearer\s)|(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])/i

function isLabelValue(value: string): boolean {
  if (value === '' || value.length > VALUE_LIMIT || !value.isWellFormed()) return false
  if (PRIVATE_LOOK.test(value) || SECRET_LOOK.test(value)) return false
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
