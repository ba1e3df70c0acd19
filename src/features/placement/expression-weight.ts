/** Estimates how large a regular expression becomes, without compiling it: compiling `((\pL{100}){10})` takes seconds. Pure. */

/** `{3}`, `{3,}` and `{3,5}`. */
const REPETITION = /\{(\d+)(?:,(\d*))?\}/y
/** What follows the parenthesis of a group that has a name, flags, or no capture; flags alone close themselves. */
const GROUP_START = /\?(?:P?<[^>]*>|[A-Za-z-]*(?::|(?=\))))/y
const UNICODE_CLASS = /\\[pP](?:\{[^}]*\}|.)?/suy
const QUOTED = /\\Q(.*?)(?:\\E|$)/suy
const ESCAPED = /\\(?:x\{[^}]*\}|.)?/suy
const CLASS = /\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]?/suy
const CHARACTER = /./suy

/** So many characters of a class such as `[a-f0-9]` take as long to compile as another item. */
const CLASS_CHARACTERS = 16

/** `{2,5}` repeats twice, and three times what may be absent, which has a second instruction. */
function timesOf([, least, most]: RegExpExecArray): number {
  const [needed, possible] = [Number(least), Number(most ?? 0)]
  return Math.max(1, needed + 2 * Math.max(0, possible - needed))
}

/**
 * The number of characters, classes and groups of a condition's expression, each as often as it is repeated; 0 for a
 * glob. Never much less than the number of its instructions.
 * @param unicodeClass the weight of a class such as `\pL`, which has hundreds of ranges
 */
export function weightOf(matches: string, unicodeClass: number): number {
  if (!/^\/.+\/i?$/s.test(matches)) return 0
  const source = matches.slice(1, matches.lastIndexOf('/'))
  /** By open group, the weight before its last item. */
  const sums = [0]
  let last = 0
  let at = 0
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found
  }
  const add = (weight: number) => {
    sums[sums.length - 1]! += last
    last = weight
  }
  while (at < source.length) {
    const repetition = read(REPETITION)
    if (repetition) last *= timesOf(repetition)
    else if (read(UNICODE_CLASS)) add(unicodeClass)
    else {
      const quoted = read(QUOTED)
      const found = quoted ?? read(ESCAPED) ?? read(CLASS) ?? read(CHARACTER)!
      if (quoted) add(quoted[1]!.length)
      else if (found[0] === '(') {
        add(0)
        sums.push(0)
        read(GROUP_START)
      } else if (found[0] === ')' && sums.length > 1) {
        const inner = sums.pop()! + last
        last = inner + 1
      } else if (found[0][0] === '[') {
        const unicode = found[0].match(/\\[pP]/g)?.length ?? 0
        add(1 + Math.floor(found[0].length / CLASS_CHARACTERS) + unicode * unicodeClass)
      } else if (found[0] !== '|') add(1)
    }
  }
  return sums.reduce((sum, weight) => sum + weight, last)
}
